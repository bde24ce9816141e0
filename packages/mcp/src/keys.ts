/** The keys that call over HTTP. Each has a session, a memory and limits of its own, and is checked with the service once. */
import { createHash } from "node:crypto";
import type { Client } from "@coffer/sdk";
import { createRedaction, sessionOver, toFailure, type Redaction, type Session } from "@coffer/tasks";
import { createMemory, type Memory } from "./memory.ts";

/** What one process does for one key at a time, and in a minute. */
export interface KeyLimits {
  readonly atOnce: number;
  readonly perMinute: number;
}

export const KEY_LIMITS: KeyLimits = { atOnce: 16, perMinute: 600 };

/** A key that the service accepted. */
export interface KeyHolder {
  /** The id that the service has for the key. */
  readonly keyId: string;
  readonly session: Session;
  readonly memory: Memory;
  readonly redaction: Redaction;
  /** Seconds to wait; null: the call may begin, and `leave` ends it. */
  enter(): number | null;
  leave(): void;
  /** Connections that are open. */
  connections: number;
}

export type FoundKey =
  | { readonly kind: "holder"; readonly holder: KeyHolder }
  | { readonly kind: "refused" }
  | { readonly kind: "unreachable" };

export interface Keys {
  find(key: string): Promise<FoundKey>;
}

export interface KeysOptions {
  /** A client that acts with the key. */
  readonly clientFor: (key: string) => Client;
  readonly limits?: KeyLimits;
  readonly now?: () => number;
}

/** After this a key is checked again: it may have ended meanwhile. */
const TRUST_MS = 5 * 60_000;
/** A key that was refused is not asked about again at once. */
const REFUSE_MS = 30_000;
const MOST_KEYS = 1_000;
const MINUTE_MS = 60_000;

interface Entry {
  until: number;
  found: Promise<FoundKey>;
}

export function createKeys({ clientFor, limits = KEY_LIMITS, now = Date.now }: KeysOptions): Keys {
  const entries = new Map<string, Entry>();
  const check = async (key: string, before: Promise<FoundKey> | undefined, forget: () => void): Promise<FoundKey> => {
    const client = clientFor(key);
    try {
      const { credential } = await client.account.get({ totalMs: 10_000 });
      const old = await before;
      // Its memory and its connections go on.
      if (old?.kind === "holder") return old;
      const keyId = credential.id ?? credential.kind;
      return { kind: "holder", holder: makeHolder(key, keyId, client, { limits, now, forget }) };
    } catch (thrown) {
      return { kind: toFailure(thrown).code === "signed_out" ? "refused" : "unreachable" };
    }
  };
  const begin = (key: string, old: Entry | undefined): Entry => {
    const forget = (): void => {
      entry.until = 0;
    };
    const entry: Entry = { until: now() + TRUST_MS, found: Promise.resolve({ kind: "refused" }) };
    entry.found = check(key, old?.found, forget).then((found) => {
      entry.until = now() + (found.kind === "holder" ? TRUST_MS : found.kind === "refused" ? REFUSE_MS : 0);
      return found;
    });
    return entry;
  };
  return {
    find: async (key) => {
      const name = createHash("sha256").update(key).digest("base64");
      const known = entries.get(name);
      const isFresh = known !== undefined && now() < known.until;
      const entry = isFresh ? known : begin(key, known);
      // The newest use is last.
      entries.delete(name);
      entries.set(name, entry);
      const [oldest] = entries.keys();
      if (entries.size > MOST_KEYS && oldest !== undefined) entries.delete(oldest);
      return await entry.found;
    },
  };
}

interface HolderOptions {
  readonly limits: KeyLimits;
  readonly now: () => number;
  readonly forget: () => void;
}

function makeHolder(key: string, keyId: string, client: Client, { limits, now, forget }: HolderOptions): KeyHolder {
  const redaction = createRedaction();
  redaction.register(key);
  let active = 0;
  let began = now();
  let count = 0;
  return {
    ...{ keyId, memory: createMemory(), redaction, connections: 0 },
    // The service ended the key: the next request asks anew.
    session: { ...sessionOver(client), forget },
    enter: () => {
      if (now() - began >= MINUTE_MS) {
        began = now();
        count = 0;
      }
      if (count >= limits.perMinute) return Math.ceil((began + MINUTE_MS - now()) / 1_000);
      if (active >= limits.atOnce) return 1;
      count += 1;
      active += 1;
      return null;
    },
    leave: () => {
      active -= 1;
    },
  };
}

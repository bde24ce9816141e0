/** The keys that call over HTTP. Each has a session, a memory and limits of its own, and is checked with the service once. */
import { createHash } from "node:crypto";
import { keyRefusalOf } from "@coffer/contract";
import type { Client } from "@coffer/sdk";
import { createRedaction, sessionOver, toFailure, type Redaction, type Session } from "@coffer/tasks";
import { createMemory, type Memory } from "./credential-state.ts";

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
  /** Connections of the 2025 revisions that are open. */
  connections: number;
  /** Requests whose answers are not read to their end yet, listening ones included. */
  requests: number;
}

export type FoundKey =
  | { readonly kind: "holder"; readonly holder: KeyHolder }
  /** `sentence`: why, in words that the service did not choose. */
  | { readonly kind: "refused"; readonly sentence: string }
  | { readonly kind: "unreachable" }
  /** As many others are in use as this process serves. */
  | { readonly kind: "full" };

export interface Keys {
  find(key: string): Promise<FoundKey>;
}

export interface KeysOptions {
  /** A client that acts with the key. */
  readonly clientFor: (key: string) => Client;
  readonly limits?: KeyLimits;
  /** Holders that are kept at once. Default: 10,000. */
  readonly mostHolders?: number;
  readonly now?: () => number;
}

/** After this a key is checked again: it may have ended meanwhile. */
const TRUST_MS = 5 * 60_000;
/** A key that was refused is not asked about again at once. */
const REFUSE_MS = 30_000;
/** Refused keys that are remembered. Anybody can make keys up, so these push out one another alone. */
const MOST_REFUSED = 1_000;
const MOST_HOLDERS = 10_000;
/** A holder that nothing used for so long may go. Tokens and connections last no longer. */
const IDLE_MS = 30 * 60_000;
const MINUTE_MS = 60_000;

/** A key that the service accepted at least once. Its holder stays the same while the service is away, or refuses it. */
interface Known {
  readonly client: Client;
  readonly holder: KeyHolder;
  usedAt: number;
  /** Until then the service is not asked. */
  trustedUntil: number;
}

export function createKeys(options: KeysOptions): Keys {
  const { clientFor, limits = KEY_LIMITS, mostHolders = MOST_HOLDERS, now = Date.now } = options;
  /** By digest of the key, the newest use last. */
  const known = new Map<string, Known>();
  /** Why the service refused a key, and until when it is not asked about it again. */
  const refused = new Map<string, { readonly until: number; readonly sentence: string }>();
  const asking = new Map<string, Promise<FoundKey>>();

  const noteRefused = (name: string, sentence: string): FoundKey => {
    refused.delete(name);
    refused.set(name, { until: now() + REFUSE_MS, sentence });
    const [oldest] = refused.keys();
    if (refused.size > MOST_REFUSED && oldest !== undefined) refused.delete(oldest);
    return { kind: "refused", sentence };
  };
  const use = (name: string, entry: Known): FoundKey => {
    entry.usedAt = now();
    known.delete(name);
    known.set(name, entry);
    return { kind: "holder", holder: entry.holder };
  };
  /** Whether there is room for one more holder: the one that was idle for longest makes it. */
  const makeRoom = (): boolean => {
    if (known.size < mostHolders) return true;
    const [idle] = [...known].find(([, entry]) => now() - entry.usedAt > IDLE_MS && isAtRest(entry.holder)) ?? [];
    return idle !== undefined && known.delete(idle);
  };
  const ask = async (name: string, key: string): Promise<FoundKey> => {
    const client = known.get(name)?.client ?? clientFor(key);
    let keyId: string;
    try {
      const { credential } = await client.account.get({ totalMs: 10_000 });
      keyId = credential.id ?? credential.kind;
    } catch (thrown) {
      const { code, message } = toFailure(thrown);
      if (code !== "signed_out") return { kind: "unreachable" };
      return noteRefused(name, keyRefusalOf(message) === null ? "The service does not accept this key" : message);
    }
    let entry = known.get(name);
    if (entry === undefined) {
      if (!makeRoom()) return { kind: "full" };
      const forget = (): void => {
        const ended = known.get(name);
        if (ended !== undefined) ended.trustedUntil = 0;
      };
      entry = { client, holder: makeHolder(key, keyId, client, { limits, now, forget }), usedAt: 0, trustedUntil: 0 };
    }
    entry.trustedUntil = now() + TRUST_MS;
    return use(name, entry);
  };
  return {
    find: async (key) => {
      const name = createHash("sha256").update(key).digest("base64");
      const entry = known.get(name);
      if (entry !== undefined && now() < entry.trustedUntil) return use(name, entry);
      const refusal = refused.get(name);
      if (refusal !== undefined && now() < refusal.until) return { kind: "refused", sentence: refusal.sentence };
      let asked = asking.get(name);
      if (asked === undefined) {
        asked = ask(name, key).finally(() => asking.delete(name));
        asking.set(name, asked);
      }
      return await asked;
    },
  };
}

function isAtRest({ connections, requests, memory: { activity, transfers } }: KeyHolder): boolean {
  return connections === 0 && requests === 0 && activity.calls === 0 && !transfers.isBusy();
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
    // What was shown to this key before is not known here: another process may have served it, or this one before it was idle.
    keyId,
    memory: createMemory({ isTainted: true }),
    redaction,
    connections: 0,
    requests: 0,
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

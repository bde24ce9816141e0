/** The keys that call over HTTP. Each has a service link, a state and limits of its own, and is checked with the service once. */
import { createHash } from "node:crypto";
import { keyRefusalOf } from "@coffer/contract";
import type { Client } from "@coffer/sdk";
import { createRedaction, serviceLinkOver, toFailure, type Redaction, type ServiceLink } from "@coffer/tasks";
import { CredentialState } from "./credential-state.ts";

/** What one process does for one key at a time, and in a minute. */
export interface KeyLimits {
  readonly atOnce: number;
  readonly perMinute: number;
}

export const KEY_LIMITS: KeyLimits = { atOnce: 16, perMinute: 600 };

export type KeyLookup =
  | { readonly kind: "holder"; readonly holder: KeyHolder }
  /** `sentence`: why, in words that the service did not choose. */
  | { readonly kind: "refused"; readonly sentence: string }
  | { readonly kind: "unreachable" }
  /** As many others are in use as this process serves. */
  | { readonly kind: "full" };

export interface KeyHoldersOptions {
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

interface HolderOptions {
  /** The id that the service has for the key. */
  readonly keyId: string;
  readonly client: Client;
  readonly limits: KeyLimits;
  readonly now: () => number;
  /** The service ended the key: the next request asks anew. */
  readonly onRefused: () => void;
}

/** A key that the service accepted. */
export class KeyHolder {
  readonly keyId: string;
  readonly serviceLink: ServiceLink;
  /** What was shown to this key before is not known here: another process may have served it, or this one before it was idle. */
  readonly credentialState = new CredentialState({ isTainted: true });
  readonly redaction: Redaction = createRedaction();
  /** Connections of the 2025 revisions that are open. */
  connections = 0;
  /** Requests whose responses are not read to their end yet, listening ones included. */
  requests = 0;
  readonly #limits: KeyLimits;
  readonly #now: () => number;
  /** Calls under way. */
  #active = 0;
  /** When the minute began in which {@link #calls} are counted. */
  #minuteStart: number;
  #calls = 0;

  constructor(key: string, { keyId, client, limits, now, onRefused }: HolderOptions) {
    this.keyId = keyId;
    this.serviceLink = { ...serviceLinkOver(client), reset: onRefused };
    this.redaction.register(key);
    this.#limits = limits;
    this.#now = now;
    this.#minuteStart = now();
  }

  /** Seconds to wait; null: the call may begin, and {@link release} ends it. */
  acquire(): number | null {
    if (this.#now() - this.#minuteStart >= MINUTE_MS) {
      this.#minuteStart = this.#now();
      this.#calls = 0;
    }
    if (this.#calls >= this.#limits.perMinute) return Math.ceil((this.#minuteStart + MINUTE_MS - this.#now()) / 1_000);
    if (this.#active >= this.#limits.atOnce) return 1;
    this.#calls += 1;
    this.#active += 1;
    return null;
  }

  release(): void {
    this.#active -= 1;
  }

  /** Whether nothing uses it. */
  isIdle(): boolean {
    const { activity, transfers } = this.credentialState;
    return this.connections === 0 && this.requests === 0 && activity.calls === 0 && !transfers.isBusy();
  }
}

/** A key that the service accepted at least once. Its holder stays the same while the service is away, or refuses it. */
interface CachedKey {
  readonly client: Client;
  readonly holder: KeyHolder;
  usedAt: number;
  /** Until then the service is not asked. */
  trustedUntil: number;
}

export class KeyHolders {
  readonly #clientFor: (key: string) => Client;
  readonly #limits: KeyLimits;
  readonly #mostHolders: number;
  readonly #now: () => number;
  /** By digest of the key, the newest use last. */
  readonly #accepted = new Map<string, CachedKey>();
  /** Why the service refused a key, and until when it is not asked about it again. By digest, too. */
  readonly #refused = new Map<string, { readonly until: number; readonly sentence: string }>();
  /** Questions to the service that are under way: one for each key. */
  readonly #checks = new Map<string, Promise<KeyLookup>>();

  constructor({ clientFor, limits = KEY_LIMITS, mostHolders = MOST_HOLDERS, now = Date.now }: KeyHoldersOptions) {
    this.#clientFor = clientFor;
    this.#limits = limits;
    this.#mostHolders = mostHolders;
    this.#now = now;
  }

  async find(key: string): Promise<KeyLookup> {
    const digest = createHash("sha256").update(key).digest("base64");
    const cached = this.#accepted.get(digest);
    if (cached !== undefined && this.#now() < cached.trustedUntil) return this.#use(digest, cached);
    const refusal = this.#refused.get(digest);
    if (refusal !== undefined && this.#now() < refusal.until) return { kind: "refused", sentence: refusal.sentence };
    let check = this.#checks.get(digest);
    if (check === undefined) {
      check = this.#check(digest, key).finally(() => this.#checks.delete(digest));
      this.#checks.set(digest, check);
    }
    return await check;
  }

  async #check(digest: string, key: string): Promise<KeyLookup> {
    const client = this.#accepted.get(digest)?.client ?? this.#clientFor(key);
    let keyId: string;
    try {
      const { credential } = await client.account.get({ totalMs: 10_000 });
      keyId = credential.id ?? credential.kind;
    } catch (thrown) {
      const { code, message } = toFailure(thrown);
      if (code !== "signed_out") return { kind: "unreachable" };
      return this.#refuse(digest, keyRefusalOf(message) === null ? "The service does not accept this key" : message);
    }
    let cached = this.#accepted.get(digest);
    if (cached === undefined) {
      if (!this.#makeRoom()) return { kind: "full" };
      const onRefused = (): void => {
        const ended = this.#accepted.get(digest);
        if (ended !== undefined) ended.trustedUntil = 0;
      };
      const options = { keyId, client, limits: this.#limits, now: this.#now, onRefused };
      cached = { client, holder: new KeyHolder(key, options), usedAt: 0, trustedUntil: 0 };
    }
    cached.trustedUntil = this.#now() + TRUST_MS;
    return this.#use(digest, cached);
  }

  #use(digest: string, cached: CachedKey): KeyLookup {
    cached.usedAt = this.#now();
    this.#accepted.delete(digest);
    this.#accepted.set(digest, cached);
    return { kind: "holder", holder: cached.holder };
  }

  #refuse(digest: string, sentence: string): KeyLookup {
    this.#refused.delete(digest);
    this.#refused.set(digest, { until: this.#now() + REFUSE_MS, sentence });
    const [oldest] = this.#refused.keys();
    if (this.#refused.size > MOST_REFUSED && oldest !== undefined) this.#refused.delete(oldest);
    return { kind: "refused", sentence };
  }

  /** Whether there is room for one more holder: the one that was idle for longest makes it. */
  #makeRoom(): boolean {
    if (this.#accepted.size < this.#mostHolders) return true;
    const isFree = ({ holder, usedAt }: CachedKey): boolean => this.#now() - usedAt > IDLE_MS && holder.isIdle();
    const [idle] = [...this.#accepted].find(([, cached]) => isFree(cached)) ?? [];
    return idle !== undefined && this.#accepted.delete(idle);
  }
}

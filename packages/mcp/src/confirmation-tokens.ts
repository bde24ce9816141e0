/**
 * Tokens that let a model repeat a call after a person agreed. A token holds for one tool, the same arguments and the same
 * state of what is acted on, once, for ten minutes.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const LIFE_MS = 600_000;
const NONCE_BYTES = 9;
/** Used tokens that are remembered: more than anybody confirms in ten minutes. */
const MOST_USED = 10_000;

/** What a confirmation is for. Everything in it can be written as JSON. */
export interface Binding {
  readonly tool: string;
  readonly args: unknown;
  /** Ids and versions of what is acted on: when they change, the person saw something else. */
  readonly state: unknown;
}

export class ConfirmationTokens {
  readonly #now: () => number;
  /** Made at first use: a start needs none. */
  #key: Buffer | undefined;
  /** Heads of the tokens that were redeemed, the oldest first. */
  readonly #used = new Set<string>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  issue(binding: Binding): string {
    const head = `${(this.#now() + LIFE_MS).toString(36)}.${randomBytes(NONCE_BYTES).toString("base64url")}`;
    return `${head}.${this.#sign(head, binding)}`;
  }

  /** True once for a token that was issued for this very binding. */
  redeem(token: string, binding: Binding): boolean {
    const [, head, end, mac] = /^(([0-9a-z]{1,12})\.[\w-]{12})\.([\w-]{43})$/.exec(token) ?? [];
    if (head === undefined || end === undefined || mac === undefined) return false;
    if (!timingSafeEqual(Buffer.from(mac), Buffer.from(this.#sign(head, binding)))) return false;
    if (this.#used.has(head) || this.#now() > Number.parseInt(end, 36)) return false;
    this.#used.add(head);
    const [oldest] = this.#used;
    if (this.#used.size > MOST_USED && oldest !== undefined) this.#used.delete(oldest);
    return true;
  }

  #sign(head: string, binding: Binding): string {
    return createHmac("sha256", (this.#key ??= randomBytes(32)))
      .update(`${head}\n${canonical(binding)}`)
      .digest("base64url");
  }
}

/** The same text for the same value, whatever the order of its members. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

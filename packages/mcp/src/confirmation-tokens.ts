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

export interface Confirmations {
  issue(binding: Binding): string;
  /** True once for a token that was issued for this very binding. */
  redeem(token: string, binding: Binding): boolean;
}

export function createConfirmations(now: () => number = Date.now): Confirmations {
  // Made at first use: a start needs none.
  let key: Buffer | undefined;
  const used = new Set<string>();
  const sign = (head: string, binding: Binding): string =>
    createHmac("sha256", (key ??= randomBytes(32)))
      .update(`${head}\n${canonical(binding)}`)
      .digest("base64url");
  return {
    issue: (binding) => {
      const head = `${(now() + LIFE_MS).toString(36)}.${randomBytes(NONCE_BYTES).toString("base64url")}`;
      return `${head}.${sign(head, binding)}`;
    },
    redeem: (token, binding) => {
      const [, head, end, mac] = /^(([0-9a-z]{1,12})\.[\w-]{12})\.([\w-]{43})$/.exec(token) ?? [];
      if (head === undefined || end === undefined || mac === undefined) return false;
      if (!timingSafeEqual(Buffer.from(mac), Buffer.from(sign(head, binding)))) return false;
      if (used.has(head) || now() > Number.parseInt(end, 36)) return false;
      used.add(head);
      const [oldest] = used;
      if (used.size > MOST_USED && oldest !== undefined) used.delete(oldest);
      return true;
    },
  };
}

/** The same text for the same value, whatever the order of its members. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

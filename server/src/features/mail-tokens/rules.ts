/** Mailed tokens: their form, how long they are valid, and who gets which. */
import { hash } from "node:crypto";
import type { Random } from "../../ports/random.ts";
import type { AccountRow } from "../../ports/tables.ts";

/** What a mail and its token are for. */
export type MailPurpose = "verify" | "reset";

/** What a mail without a token says: nobody asked for it. */
export type MailNotice = "webhook-disabled";

const HOUR = 3_600_000;

/** Milliseconds from the sending; over at the last one (decisions §3). */
export const MAIL_TOKEN_LIFE: Readonly<Record<MailPurpose, number>> = { verify: 24 * HOUR, reset: HOUR };

/** 256 bits are not to be guessed: one round of SHA-256 keeps them (ASVS 5.0 6.5.2: from 112 bits on). */
const TOKEN_BYTES = 32;

/** A fresh token. `text` leaves the server once, in the mail; the hash is kept. */
export interface MintedMailToken {
  /** Base64url, 43 characters. */
  readonly text: string;
  /** SHA-256 in hex. */
  readonly hash: string;
}

export function mintMailToken(random: Pick<Random, "bytes">): MintedMailToken {
  const text = Buffer.from(random.bytes(TOKEN_BYTES)).toString("base64url");
  return { text, hash: hashMailToken(text) };
}

/** SHA-256 of a token's text in hex. */
export function hashMailToken(text: string): string {
  return hash("sha256", text, "hex");
}

/**
 * The mail that an account gets when somebody asks for one. "provider": it signs in at the identity provider and has
 * no password. A reset must not add one: the mailbox's owner need not be the person who signs in there. null: there is
 * nothing to send.
 */
export function chooseMail(
  purpose: MailPurpose,
  account: Pick<AccountRow, "email_verified" | "password_hash" | "idp_id">,
): MailPurpose | "provider" | null {
  if (purpose === "verify") return account.email_verified === 1 ? null : "verify";
  return account.password_hash === null && account.idp_id !== null ? "provider" : "reset";
}

/**
 * Which passwords are allowed: length, and a blocklist of common, expected or leaked ones. There are no composition
 * rules (NIST SP 800-63B-4 §3.1.1.2; OWASP ASVS 5.0 6.2.4, 6.2.5, 6.2.9, 6.2.11).
 */
import { PASSWORD_LENGTH } from "@coffer/contract";
import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common";
import { ServiceError } from "../../service-error.ts";
import { COMMON_PHRASES } from "./common-phrases.ts";

/** What belongs to the person and is therefore expected. */
export interface PasswordContext {
  readonly email: string;
  readonly name?: string | null;
}

/** Decimal logarithm of the guesses that a cracker with word lists needs; zxcvbn calls 10 and more "very unguessable". */
const ENOUGH = 10;
/** zxcvbn takes longer than linear time, so a long password is judged by its parts; one strong part is enough. */
const PART = 48;
/** What must be there besides the words of the context. */
const BESIDES_CONTEXT = 8;
const SERVICE_WORDS = ["coffer"];

/**
 * Throws `weak_password`, with the reason (NIST SP 800-63B-4 §3.1.1.2 wants it said) and without the password. Time is
 * bounded for every text: a few dozen milliseconds for 256 hostile characters.
 */
export function requireStrongPassword(password: string, context: PasswordContext): void {
  const text = password.normalize("NFKC");
  const { length } = Array.from(text);
  if (length < PASSWORD_LENGTH.minimum || length > PASSWORD_LENGTH.maximum) {
    refuse(`Use ${PASSWORD_LENGTH.minimum} to ${PASSWORD_LENGTH.maximum} characters`);
  }
  const bare = squeeze(text);
  if (besidesWords(bare, contextWords(context)) < BESIDES_CONTEXT) {
    refuse("It says little more than the e-mail, the name or the service");
  }
  if (COMMON_PHRASES.has(bare)) refuse("It is a phrase that many people use");
  const unit = repeatedUnit(bare);
  const repeats = unit.length < bare.length;
  if ((repeats && guessesOf(unit) < ENOUGH) || guessesOf(repeatedUnit(text)) < ENOUGH) {
    refuse("It is made of common passwords, repetitions or sequences");
  }
}

function refuse(reason: string): never {
  throw new ServiceError(
    "weak_password",
    `The password is too easy to guess. ${reason}: choose a few unrelated words instead`,
  );
}

/** Letters and digits alone, in lower case: separators and capitals are the first that is varied. */
function squeeze(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** The shortest text that the whole repeats (the last time perhaps not to its end); the text itself when it does not. */
function repeatedUnit(text: string): string {
  // The failure function of Knuth, Morris and Pratt: linear, whatever the text.
  const borders = new Array<number>(text.length).fill(0);
  let border = 0;
  for (let at = 1; at < text.length; at += 1) {
    while (border > 0 && text[at] !== text[border]) border = borders[border - 1] ?? 0;
    if (text[at] === text[border]) border += 1;
    borders[at] = border;
  }
  const period = text.length - border;
  return period * 2 <= text.length ? text.slice(0, period) : text;
}

function contextWords({ email, name }: PasswordContext): string[] {
  const words = [...SERVICE_WORDS, ...`${email} ${name ?? ""}`.split(/[^\p{L}\p{N}]+/u).map(squeeze)];
  // Longer ones first: a short one may be a part of them.
  return words.filter((word) => word.length >= 3).sort((a, b) => b.length - a.length);
}

/** How many letters and digits are left without the words; Infinity when none of them occurs. */
function besidesWords(bare: string, words: readonly string[]): number {
  const rest = words.reduce((text, word) => text.replaceAll(word, ""), bare);
  if (rest === bare) return Infinity;
  // Years and counting are what people put behind a name.
  return rest.replace(/(19|20)\d\d|0?123456789|1234+/g, "").length;
}

let estimator: ZxcvbnFactory | null = null;

function guessesOf(text: string): number {
  // Made on first use: ranking the dictionary takes tens of milliseconds.
  estimator ??= new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: PART, l33tMaxSubstitutions: 8 });
  let most = 0;
  for (let at = 0; at < text.length && most < ENOUGH; at += PART) {
    most = Math.max(most, estimator.check(text.slice(at, at + PART)).guessesLog10);
  }
  return most;
}

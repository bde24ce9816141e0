/**
 * How names are compared in a search. Service, fake and clients use these functions, so that a word
 * finds the same names everywhere.
 */
import type { Author } from "./values.ts";

/** Most characters of a search text. */
export const MAX_SEARCH_TEXT = 256;
/** Most words of a search text. */
export const MAX_SEARCH_WORDS = 16;

/** ASCII: there is nothing to decompose. */
const PLAIN = /^[\x20-\x7e]*$/;
const MARKS = /\p{M}+/gu;
/** Letters, numbers and symbols such as emoji. All else parts words. */
const WORDS = /[\p{L}\p{N}\p{So}]+/gu;
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f]|[\ud800-\udfff]/u;
/** Words that are too short to be looked for inside of others: there, one letter would find nearly everything. */
const SHORT = /^[a-z0-9]{1,2}$/;

/**
 * The text without case and accents. Compatibility forms are decomposed (NFKD), marks are removed, and letters become
 * lower case: `Résumé`, `ＲＥＳＵＭＥ` and `resume` are one, and so are `Straße` and `strasse`. A folded text stays as it is.
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  // Lower case first: the upper case of `ẞ` is itself.
  const plain = decomposed(decomposed(text).toLowerCase().toUpperCase()).toLowerCase();
  // The lower case of a sigma depends on what follows it.
  return decomposed(plain).replaceAll("ς", "σ");
}

function decomposed(text: string): string {
  return text.normalize("NFKD").replace(MARKS, "");
}

/** The words of a name or of a search text, folded, each once. */
export function searchWords(text: string): string[] {
  return [...new Set(foldText(text).match(WORDS) ?? [])];
}

/** Whether a word is found only where a word of the name begins. That is one or two letters of `a-z` and digits. */
export function isShortWord(word: string): boolean {
  return SHORT.test(word);
}

/** Why a text cannot be searched for; null when it can. */
export function searchProblem(text: string): string | null {
  if (text.length > MAX_SEARCH_TEXT) return `must have at most ${String(MAX_SEARCH_TEXT)} characters`;
  if (UNPRINTABLE.test(text)) return "must not contain control characters or halves of surrogate pairs";
  const { length } = searchWords(text);
  if (length === 0) return "must have a letter, a digit or a symbol: other characters only part words";
  return length > MAX_SEARCH_WORDS ? `must have at most ${String(MAX_SEARCH_WORDS)} words` : null;
}

/** How well a name fits, best first. */
export const SEARCH_RANKS = ["word", "prefix", "infix"] as const;

/**
 * The place in {@link SEARCH_RANKS}; null when the name does not fit. Every wanted word must be found, and the one that fits worst
 * decides. `words` and `queryWords` are results of {@link searchWords}.
 */
export function rankName(words: readonly string[], queryWords: readonly string[]): 0 | 1 | 2 | null {
  let rank: 0 | 1 | 2 = 0;
  for (const word of queryWords) {
    if (words.includes(word)) continue;
    if (words.some((each) => each.startsWith(word))) rank = rank === 2 ? 2 : 1;
    else if (!isShortWord(word) && words.some((each) => each.includes(word))) rank = 2;
    else return null;
  }
  return rank;
}

/** Whether a content type is the wanted one. `typeOrFirstHalf` may be a first half such as `image/`. Case and parameters do not matter. */
export function isOfType(contentType: string, typeOrFirstHalf: string): boolean {
  const type = bareType(contentType);
  return typeOrFirstHalf.endsWith("/")
    ? type.startsWith(typeOrFirstHalf.toLowerCase())
    : type === typeOrFirstHalf.toLowerCase();
}

/** A content type without its parameters, in lower case. */
export function bareType(contentType: string): string {
  return (contentType.split(";")[0] ?? "").trim().toLowerCase();
}

/** Whether the author has the id or the address. */
export function isAuthor(author: Pick<Author, "id" | "chainAddress"> | null, by: string): boolean {
  return author !== null && (author.id === by || author.chainAddress === by);
}

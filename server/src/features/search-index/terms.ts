/**
 * What a file is found by: terms of its name, place, type, age and author. Each begins with the number of the file's account, so that
 * the terms of one account are apart from all others'.
 */
import { bareType, isShortWord, searchWords, type Author, type SharedFile } from "@coffer/contract";
import type { FileRow } from "../../ports/tables.ts";

export type IndexedFile = Pick<
  FileRow,
  | "id"
  | "account_id"
  | "vault_id"
  | "folder_id"
  | "name"
  | "content_type"
  | "shared_json"
  | "created_at"
  | "created_by"
  | "updated_by"
>;

/** Longer words are found by these many characters, and then looked at. */
const LONGEST_PREFIX = 16;
const GRAMS = [3, 5] as const;
/** Days of a term that stands for many. */
const MANY_DAYS = 32;
const DAY = 86_400_000;

/** Most entries of an account, ever. Newer ones have lower numbers, so that the index answers the newest first. */
const ENTRIES = 2 ** 31;
/** Files of one term that bounds how much one query goes through. */
const BLOCK = 2 ** 17;
export const FIRST_ENTRY = ENTRIES - 1;

export function searchIdOf(account: number, entry: number): number {
  return account * ENTRIES + entry;
}

export function entryOf(searchId: number): number {
  return searchId % ENTRIES;
}

export function accountOf(searchId: number): number {
  return Math.floor(searchId / ENTRIES);
}

/** The last id that the block of an id can have. */
export function endOfBlock(searchId: number): number {
  return (Math.floor(searchId / BLOCK) + 1) * BLOCK - 1;
}

/** Whether the service can read the name: in a public vault, or one with plain names. */
export function isSearchable({ name, shared_json }: Pick<FileRow, "name" | "shared_json">): boolean {
  return shared_json === null || (JSON.parse(shared_json) as SharedFile).nameIndex !== name;
}

/** All terms of a file, each once. */
export function termsOf(file: IndexedFile, searchId: number): string[] {
  const terms = termsIn(accountOf(searchId));
  const authors = [file.created_by, file.updated_by].flatMap((text) =>
    text === null ? [] : [JSON.parse(text) as Author],
  );
  const type = bareType(file.content_type);
  const day = dayOf(file.created_at);
  const found = [
    ...[terms.all, terms.block(searchId), terms.vault(file.vault_id)],
    ...(file.folder_id === null ? [] : [terms.folder(file.folder_id)]),
    ...[terms.type(type), terms.type(`${type.split("/")[0] ?? ""}/`)],
    ...[terms.day(day), terms.days(Math.floor(day / MANY_DAYS))],
    ...authors
      .flatMap(({ id, chainAddress }) => [id, chainAddress])
      .flatMap((by) => (by === null ? [] : [terms.author(by)])),
  ];
  for (const word of searchWords(file.name)) addWord(found, terms, word);
  return [...new Set(found)];
}

function addWord(found: string[], terms: ReturnType<typeof termsIn>, word: string): void {
  found.push(terms.word(word));
  // A slice of code units is one of characters where there are no pairs of surrogates.
  const characters = SURROGATE.test(word) ? Array.from(word) : null;
  const { length } = characters ?? word;
  const part = (from: number, to: number) => characters?.slice(from, to).join("") ?? word.slice(from, to);
  for (let end = Math.min(LONGEST_PREFIX, length); end > 0; end -= 1) found.push(terms.prefix(part(0, end)));
  for (const size of gramSizes(word))
    for (let at = 0; at + size <= length; at += 1) found.push(terms.gram(part(at, at + size)));
}

const SURROGATE = /[\ud800-\udfff]/;

/** Other scripts have words of one or two characters, which are looked for inside of others, too. */
function gramSizes(word: string): readonly number[] {
  return /^[a-z0-9]*$/.test(word) ? GRAMS : [1, 2, ...GRAMS];
}

/** The terms that a file of the rank must have for a word: all of them. */
export function wantedTerms(account: number, word: string, rank: 0 | 1 | 2): string[] {
  const terms = termsIn(account);
  if (rank === 0) return [terms.word(word)];
  const characters = Array.from(word);
  if (rank === 1 || isShortWord(word)) return [terms.prefix(characters.slice(0, LONGEST_PREFIX).join(""))];
  const { length } = characters;
  const size = length >= 5 ? 5 : Math.min(3, length);
  const last = length - size;
  const starts = Array.from({ length: Math.ceil(last / 3) }, (_, index) => index * 3);
  return [...starts, last].map((at) => terms.gram(characters.slice(at, at + size).join("")));
}

/** Whether a term of rank 0 or 1 says all about the word, without a look at the file. */
export function isExact(word: string): boolean {
  return Array.from(word).length <= LONGEST_PREFIX;
}

/** Terms of which a file has one, if it was made in the time; null: it is too long for that. Both are milliseconds. */
export function termsOfTime(account: number, since: number, until: number): string[] | null {
  const [first, end] = [dayOf(since), dayOf(until - 1) + 1];
  if (end - first > 10 * 366) return null;
  const terms = termsIn(account);
  const found: string[] = [];
  for (let day = first; day < end;) {
    const isWhole = day % MANY_DAYS === 0 && day + MANY_DAYS <= end;
    found.push(isWhole ? terms.days(day / MANY_DAYS) : terms.day(day));
    day += isWhole ? MANY_DAYS : 1;
  }
  return found;
}

function dayOf(time: number): number {
  return Math.floor(time / DAY);
}

/** A term is the account's number, a letter for its kind, and letters, digits and symbols. */
export function termsIn(account: number) {
  const term = (kind: string) => {
    const start = `${String(account)}${kind}`;
    return (value: string | number) => `${start}${String(value)}`;
  };
  const hex = (kind: string) => (value: string) => term(kind)(value.replace(/^0x/, "").replaceAll("-", ""));
  const block = term("k");
  return {
    all: term("a")(""),
    author: hex("b"),
    day: term("d"),
    days: term("e"),
    folder: hex("f"),
    gram: term("g"),
    block: (searchId: number) => block(Math.floor(entryOf(searchId) / BLOCK)),
    prefix: term("p"),
    type: (type: string) => term("t")(Buffer.from(type).toString("hex")),
    vault: hex("v"),
    word: term("w"),
  };
}

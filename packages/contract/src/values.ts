/** The words that several groups share: ids, times, names, digests, pages. */
import * as z from "zod/mini";
import { object, type Named, type Parsed } from "./object.ts";
import { isAssigned, UNICODE_VERSION } from "./assigned-code-points.ts";

/** RFC 9562 UUID, lower case. */
export const uuid = z
  .string()
  .check(
    z.regex(
      /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      "expected a UUID in lower case",
    ),
  );

/** How ids begin that a list is to hold, with or without their dashes. */
export const idPrefix = z.optional(
  z.string().check(z.regex(/^[0-9a-f]{8}[0-9a-f-]{0,28}$/, "expected 8 or more hex digits in lower case")),
);

/** RFC 3339 UTC with milliseconds: `2026-11-20T17:00:00.000Z`. */
export const timestamp = z.string().check(
  z.regex(
    /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])(:[0-5]\d){2}\.\d{3}Z$/,
    "expected a time in UTC like 2026-11-20T17:00:00.000Z",
  ),
  // Each month has 28 days. Others need a look-up, which costs ten times as much: a 30th of February would be a day
  // of March.
  z.refine(
    (text) => !/(29|3.)T/.test(text) || new Date(text).toJSON() === text,
    "expected a time in UTC like 2026-11-20T17:00:00.000Z",
  ),
);

/** Sui address: `0x` and 64 lower-case hex digits. */
export const chainAddress = z.string().check(z.regex(/^0x[0-9a-f]{64}$/, "expected 0x and 64 lower-case hex digits"));

/** An actor: the UUID of its key or session, or its chain address. */
export const keyOrAddress = z
  .string()
  .check(
    z.regex(
      /^([0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0x[0-9a-f]{64})$/,
      "expected the UUID of a key or session, or a chain address, in lower case",
    ),
  );

/** SHA-256 as 64 lower-case hex digits. */
export const sha256Hex = z.string().check(z.regex(/^[0-9a-f]{64}$/, "expected 64 lower-case hex digits"));

export const MAX_NAME_BYTES = 255;

/** A control character (C0, DEL, C1), or a lone surrogate (which UTF-8 cannot carry). */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f]|[\ud800-\udfff]/u;

/** Why a text cannot be the name that a file, folder or vault has; null when it can. */
export function nameProblem(text: string): string | null {
  if (text.length === 0) return "must not be empty";
  if (text === "." || text === "..") return "must not be . or ..";
  if (UNPRINTABLE.test(text) || /[/\\]/.test(text)) return "must not contain control characters, / or \\";
  if (text !== text.trim()) return "must not begin or end with white space";
  if (new TextEncoder().encode(text.normalize("NFC")).length > MAX_NAME_BYTES)
    return "must be at most 255 bytes of UTF-8";
  return null;
}

/** The same for a name that somebody chooses now: runtimes must agree about its NFC (file-format §9). */
export function newNameProblem(text: string): string | null {
  const problem = nameProblem(text);
  if (problem !== null || isAssigned(text)) return problem;
  return `must not contain characters that are not in Unicode ${UNICODE_VERSION}`;
}

/** A new name of a file, folder or vault: at most 255 bytes of UTF-8 in NFC; the parsed value is normalised. */
export const itemName = z.string().check(
  // First, since the NFC of a character that is not in that version is each runtime's own.
  z.check((context) => {
    const problem = newNameProblem(context.value);
    if (problem !== null) context.issues.push({ code: "custom", message: problem, input: context.value });
  }),
  z.overwrite((text) => text.normalize("NFC")),
);

/** At most `most` bytes in base64 with padding (RFC 4648 §4). */
export function base64Bytes(most: number) {
  return z.string().check(
    z.maxLength(Math.ceil(most / 3) * 4),
    // Each statement passes here, on both sides: a whole group of four to a step costs four times as much.
    z.regex(/^[A-Za-z0-9+/]*={0,2}$/, "expected base64 with padding"),
    z.refine((text) => text.length % 4 === 0, "expected base64 with padding"),
  );
}

/**
 * An e-mail address, in lower case: two spellings of one address are one account. The check for ASCII comes first: the
 * lower case of U+212A (Kelvin sign) is the letter k, which would make it somebody else's address.
 */
export const email = z.string().check(z.maxLength(254), z.email(), z.toLowerCase());

/** A label for a person (key name, account name): 1 to 200 characters, none of them a control character. */
export const label = z.string().check(
  z.trim(),
  z.minLength(1),
  z.maxLength(200),
  z.refine((text) => !UNPRINTABLE.test(text), "must not contain control characters"),
);

/** RFC 9110 §8.3.1 media type, at most 255 characters. */
export const mediaType = z
  .string()
  .check(
    z.maxLength(255),
    z.regex(
      /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;\s*[\w!#$&^.+-]+=("[^"\\\r\n]*"|[\w!#$&^.+-]+))*$/,
      "expected a media type like text/plain",
    ),
  );

/** RFC 9110 §13.1.1 entity tags in quotes, in a list or alone, or `*`. */
export const condition = z.string().check(z.maxLength(2048));

/** Raised by every rename, move, trash and restore; If-Match of a rename or move compares it in quotes: `"3"`. */
export const revision = z.int();

/** An integer that travels as text in a query or a header. */
export function integerText(minimum: number, maximum: number) {
  return z.codec(
    z.string().check(z.regex(/^\d{1,16}$/, "expected a whole number")),
    z.int().check(z.gte(minimum), z.lte(maximum)),
    {
      decode: (text) => Number(text),
      encode: (value) => String(value),
    },
  );
}

/** A boolean that travels as `true` or `false`. */
export const booleanText = z.codec(z.enum(["true", "false"]), z.boolean(), {
  decode: (text) => text === "true",
  encode: (value) => (value ? "true" : "false"),
});

/** The words of each {@link openEnum}, for the OpenAPI document. */
export const KNOWN_VALUES = new WeakMap<z.core.$ZodType, readonly string[]>();

/** A value that the service may extend: listed words are typed, others pass. */
export function openEnum<const Word extends string>(words: readonly [Word, ...Word[]]): Named<OpenEnum<Word>> {
  const schema = z.string();
  KNOWN_VALUES.set(schema, words);
  return schema;
}

/** One of these words. A later version of the service may add others. */
export type OpenEnum<Word extends string> = Word | (string & Record<never, never>);

export const MAX_PAGE = 1000;
export const DEFAULT_PAGE = 100;

/** Paging of every list: keyset on (createdAt, id), newest first; `cursor` is opaque. */
export const pageQuery = {
  /** Most rows of one page: 1 to 1,000. Default: 100. */
  limit: z.optional(integerText(1, MAX_PAGE)),
  /** The `nextCursor` of the page before. Default: the first page. */
  cursor: z.optional(z.string().check(z.minLength(1), z.maxLength(512))),
};

/** Which page of a list, and how long it is. */
export interface PageQuery extends Parsed<z.ZodMiniObject<typeof pageQuery>> {}

/** What every page of a list ends with. */
export const nextPage = {
  /** Pass it as `cursor` to get the next page. null: this is the last page. */
  nextCursor: z.nullable(z.string()),
};

/** What names a credential, without its rights. */
export const namedCredential = {
  /** Kind of the credential: `api-key`, `session` or `development`. */
  kind: openEnum(["api-key", "session", "development"]),
  /** UUID of the API key or of the session. null: the development rule. */
  id: z.nullable(uuid),
  /** Name of the API key. null: the credential has none. */
  name: z.nullable(z.string()),
  /** Sui address of the credential: `0x` and 64 lower-case hex digits. null: it has none. */
  chainAddress: z.nullable(chainAddress),
};

const authorSchema = object(namedCredential);

/** The caller that made or changed something. */
export interface Author extends Parsed<typeof authorSchema> {}

/** The caller that made something, with its credential as it was then. null: nobody noted it. */
export const author: Named<Author | null> = z.nullable(authorSchema);

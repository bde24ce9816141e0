/** What is wrong with an input, in the same words everywhere: the field, and what is allowed there. */
import type * as z from "zod/mini";

type Issue = z.core.$ZodIssue;

/** The longest name of an unknown field that a message repeats, and how many of them. */
const LONGEST_NAME = 64;
const MOST_NAMES = 5;
/** More allowed words than this are not listed. */
const MOST_WORDS = 40;

/**
 * `section.field: what is allowed`, at most ten; never a value. An unknown field is named: `body.colour: unknown field`.
 * `section`: "" for none.
 */
export function describeIssues(issues: readonly Issue[], section: string): string[] {
  return issues.flatMap((issue) => describeIssue(issue, section)).slice(0, 10);
}

function describeIssue(issue: Issue, section: string): string[] {
  const field = [section, ...issue.path.map(String)].filter((part) => part !== "");
  if (issue.code === "unrecognized_keys")
    return issue.keys.slice(0, MOST_NAMES).map((name) => `${[...field, safeName(name)].join(".")}: unknown field`);
  const forms = issue.code === "invalid_union" ? sameField(issue.errors) : null;
  if (forms !== null) field.push(...forms.path.map(String));
  return [`${field.join(".") || "input"}: ${forms === null ? allowed(issue) : either(forms.firsts)}`];
}

/** For a union: the first issue of each form, if all of them are at one field. That field distinguishes the forms. */
function sameField(errors: readonly (readonly Issue[])[]): { path: PropertyKey[]; firsts: Issue[] } | null {
  const firsts = errors.flatMap(([first]) => first ?? []);
  const [{ path } = { path: [] }] = firsts;
  return firsts.length > 0 && firsts.every((each) => each.path.join() === path.join()) ? { path, firsts } : null;
}

function either(issues: readonly Issue[]): string {
  const words = issues.flatMap((issue) => (issue.code === "invalid_value" ? issue.values.map(String) : []));
  if (issues.every(({ code }) => code === "invalid_value")) return oneOf(words);
  return [...new Set(issues.map(allowed))].join(", or ");
}

/**
 * What is allowed at the issue's place: `at most 1,000`. It uses only messages of a schema's own: others depend on the
 * process's locale.
 */
function allowed(issue: Issue): string {
  switch (issue.code) {
    case "too_big":
      return `${issue.inclusive === false ? "less than" : "at most"} ${amount(issue.maximum, issue.origin)}`;
    case "too_small":
      return `${issue.inclusive === false ? "more than" : "at least"} ${amount(issue.minimum, issue.origin)}`;
    case "invalid_type":
      return `expected ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return oneOf(issue.values.map(String));
    case "invalid_format":
      return FORMATS[issue.format] ?? ownWords(issue);
    case "not_multiple_of":
      return `expected a multiple of ${count(issue.divisor)}`;
    case "invalid_union":
      return "options" in issue && Array.isArray(issue.options)
        ? oneOf(issue.options.map(String))
        : "none of the allowed forms";
    default:
      return ownWords(issue);
  }
}

function ownWords({ message }: Issue): string {
  return message.startsWith("Invalid ") ? "not in the form that is expected" : message;
}

const KINDS: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  null: "null",
};

const FORMATS: Readonly<Record<string, string>> = {
  email: "expected an e-mail address: name@example.com",
  url: "expected an absolute address: https://example.com/path",
};

const UNITS: Readonly<Record<string, readonly [one: string, more: string]>> = {
  string: ["character", "characters"],
  array: ["item", "items"],
  record: ["field", "fields"],
  object: ["field", "fields"],
};

function amount(limit: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  return unit === undefined ? count(limit) : `${count(limit)} ${Number(limit) === 1 ? unit[0] : unit[1]}`;
}

/** `1,000` in every locale. */
function count(value: number | bigint): string {
  return value.toLocaleString("en-US");
}

function oneOf(words: readonly string[]): string {
  if (words.length > MOST_WORDS) return `expected one of ${count(words.length)} words`;
  return words.length === 1 ? `expected ${words.join("")}` : `expected one of ${words.join(", ")}`;
}

/** A message repeats a name from outside only if it is a word: anything else could be a text of its own. */
function safeName(name: string): string {
  return name.length <= LONGEST_NAME && /^[\w.-]+$/.test(name) ? name : "(a name of other characters)";
}

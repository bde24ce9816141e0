/** The comments and the sentences of TypeScript source as the prose pin reads them: each one a page of its own. */
import ts from "typescript";

const { SyntaxKind: Kind } = ts;

/** After one of these a slash divides; after anything else it begins a regular expression. */
const ENDS_VALUE: ReadonlySet<ts.SyntaxKind> = new Set([
  Kind.Identifier,
  Kind.PrivateIdentifier,
  Kind.NumericLiteral,
  Kind.BigIntLiteral,
  Kind.StringLiteral,
  Kind.NoSubstitutionTemplateLiteral,
  Kind.TemplateTail,
  Kind.CloseParenToken,
  Kind.CloseBracketToken,
  Kind.CloseBraceToken,
  Kind.ThisKeyword,
]);

const WHOLE: ReadonlySet<ts.SyntaxKind> = new Set([Kind.StringLiteral, Kind.NoSubstitutionTemplateLiteral]);
const TRIVIA: ReadonlySet<ts.SyntaxKind> = new Set([
  Kind.WhitespaceTrivia,
  Kind.NewLineTrivia,
  Kind.SingleLineCommentTrivia,
  Kind.MultiLineCommentTrivia,
]);

interface Token {
  readonly kind: ts.SyntaxKind;
  readonly start: number;
  readonly end: number;
  /** As the source writes it. */
  readonly raw: string;
  /** Of a string or a part of a template, the characters that it means. */
  readonly value: string;
}

/** What the comments of `source` say, without their marks. Line comments under each other are one; each TSDoc tag begins a paragraph. */
export function commentsOf(source: string): readonly string[] {
  const found: { text: string; end: number }[] = [];
  for (const { end, kind, raw, start } of tokensOf(source)) {
    if (kind === Kind.MultiLineCommentTrivia) found.push({ text: blockText(raw), end: -1 });
    if (kind !== Kind.SingleLineCommentTrivia) continue;
    const text = raw.replace(/^\/\/+ ?/, "");
    const last = found.at(-1);
    if (last !== undefined && /^\n[^\S\n]*$/.test(source.slice(last.end, start)))
      found.splice(-1, 1, { text: `${last.text}\n${text}`, end });
    else found.push({ text, end });
  }
  return found.map(({ text }) => text);
}

/** The sentences in strings and templates of `source`: messages, next steps, help. What is added with `+` is one; a value in a template is a word. */
export function sayingsOf(source: string): readonly string[] {
  const found: string[] = [];
  const open: string[] = [];
  let follows = false;
  for (const { kind, value } of tokensOf(source)) {
    if (TRIVIA.has(kind)) continue;
    const begun = follows ? (found.at(-1) ?? "") : "";
    if (WHOLE.has(kind) || kind === Kind.TemplateHead) {
      if (follows) found.pop();
      (kind === Kind.TemplateHead ? open : found).push(begun + value);
    } else if (kind === Kind.TemplateMiddle) open.push(`${open.pop() ?? ""}value${value}`);
    else if (kind === Kind.TemplateTail) found.push(`${open.pop() ?? ""}value${value}`);
    follows = kind === Kind.PlusToken;
  }
  return found.filter(isProse);
}

/** Three words of letters in a row, and not the punctuation of a program, a style or a query. */
function isProse(text: string): boolean {
  const marks = text.match(/[{};]/g)?.length ?? 0;
  return /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i.test(text) && marks <= 4 && !text.includes("CREATE TABLE");
}

function blockText(raw: string): string {
  return raw
    .replace(/^\/\*+ ?/, "")
    .replace(/ ?\*+\/$/, "")
    .replaceAll(/^[^\S\n]*\* ?/gm, "")
    .replaceAll(/\{@link ([^}]*)\}/g, "`$1`")
    .replaceAll(/^@(\w+) ?/gm, "\n");
}

function* tokensOf(source: string): Generator<Token, void> {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, source);
  const templates: number[] = [];
  let depth = 0;
  let before: ts.SyntaxKind = Kind.Unknown;
  for (let kind = scanner.scan(); kind !== Kind.EndOfFileToken; kind = scanner.scan()) {
    if (kind === Kind.SlashToken && !ENDS_VALUE.has(before)) kind = scanner.reScanSlashToken();
    if (kind === Kind.CloseBraceToken && templates.at(-1) === depth) {
      kind = scanner.reScanTemplateToken(false);
      if (kind === Kind.TemplateTail) templates.pop();
    } else if (kind === Kind.TemplateHead) templates.push(depth);
    else if (kind === Kind.OpenBraceToken) depth += 1;
    else if (kind === Kind.CloseBraceToken) depth -= 1;
    const [start, end] = [scanner.getTokenStart(), scanner.getTokenEnd()];
    yield { kind, start, end, raw: scanner.getTokenText(), value: scanner.getTokenValue() };
    if (!TRIVIA.has(kind)) before = kind;
  }
}

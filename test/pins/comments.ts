/** The comments of TypeScript source as the prose pin reads them: each one a page of its own. */
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

/** What the comments of `source` say, without their marks. Line comments under each other are one; each TSDoc tag begins a paragraph. */
export function commentsOf(source: string): readonly string[] {
  const found: { text: string; end: number }[] = [];
  for (const { end, isLine, start, text } of comments(source)) {
    const last = found.at(-1);
    if (isLine && last !== undefined && /^\n[^\S\n]*$/.test(source.slice(last.end, start)))
      found.splice(-1, 1, { text: `${last.text}\n${text}`, end });
    else found.push({ text, end: isLine ? end : -1 });
  }
  return found.map(({ text }) => text);
}

interface Comment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly isLine: boolean;
}

function* comments(source: string): Generator<Comment, void> {
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
    if (kind === Kind.SingleLineCommentTrivia || kind === Kind.MultiLineCommentTrivia) yield commentAt(scanner, kind);
    else if (kind !== Kind.WhitespaceTrivia && kind !== Kind.NewLineTrivia) before = kind;
  }
}

function commentAt(scanner: ts.Scanner, kind: ts.SyntaxKind): Comment {
  const isLine = kind === Kind.SingleLineCommentTrivia;
  const text = scanner
    .getTokenText()
    .replace(isLine ? /^\/\/+ ?/ : /^\/\*+ ?/, "")
    .replace(/ ?\*+\/$/, "")
    .replaceAll(/^[^\S\n]*\* ?/gm, "")
    .replaceAll(/\{@link ([^}]*)\}/g, "`$1`")
    .replaceAll(/^@(\w+) ?/gm, "\n");
  return { text, isLine, start: scanner.getTokenStart(), end: scanner.getTokenEnd() };
}

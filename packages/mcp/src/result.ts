/**
 * Turns what a tool found into the two halves of an MCP result: `structuredContent` for programs and text for models.
 * Each half carries all facts, because hosts drop one or the other. Imports no MCP library.
 */
import { TaskFailure, Untrusted, untrusted } from "@coffer/tasks";
import { TextFence } from "./text-fence.ts";

/** A value in a result. Text from outside must be wrapped as {@link Untrusted}. */
export type Fact = string | number | boolean | null | Untrusted | readonly Fact[] | { readonly [name: string]: Fact };

/** Rows under common column names: a list costs a model far less than objects that repeat their keys. */
export interface Table {
  /** The member of `structuredContent` that holds the rows. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Fact[])[];
  /** The cursor of the page that begins after so many of the rows. It takes the place of `nextCursor` where rows are cut off. */
  readonly cursorAfter?: (rows: number) => string;
}

/** The answer of a tool that succeeded. */
export interface Outcome {
  /** One sentence, trusted text only. */
  readonly summary: string;
  /** Null values are left out. */
  readonly facts: Readonly<Record<string, Fact>>;
  readonly table?: Table;
}

export interface ShapedResult {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: true;
}

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** Characters that each half has at most. Hosts cut off or refuse what is longer. */
export const MOST_CHARACTERS = 40_000;

/**
 * An answer that is too long ends at a row, and its cursor goes on there.
 * @throws TaskFailure `unexpected_answer` for one that is too long without rows.
 */
export function shapeOutcome(outcome: Outcome): ShapedResult {
  const { table } = outcome;
  for (let rows = table?.rows.length ?? 0; ; rows = Math.floor(rows * 0.9)) {
    const shaped = shapeRows(outcome, rows);
    if (isShort(shaped)) return shaped;
    if (rows === 0) throw new TaskFailure("unexpected_answer", { message: "The answer is too long to be shown" });
  }
}

function isShort({ content, structuredContent }: ShapedResult): boolean {
  const text = content.reduce((sum, each) => sum + each.text.length, 0);
  return text <= MOST_CHARACTERS && JSON.stringify(structuredContent).length <= MOST_CHARACTERS;
}

function shapeRows(outcome: Outcome, most: number): ShapedResult {
  const { table } = outcome;
  const rows = table?.rows.slice(0, most) ?? [];
  const facts = table === undefined || rows.length === table.rows.length ? outcome.facts : cutFacts(outcome, most);
  const fence = new TextFence(untrustedTexts([facts, rows]));
  const structured = plainObject(facts, fence);
  const lines = [outcome.summary, ...factLines(structured)];
  if (table !== undefined) {
    structured["columns"] = [...table.columns];
    structured[table.name] = rows.map((row) => row.map((cell) => plain(cell, fence)));
    const bare = rows.map((row) => row.map((cell) => plain(cell, BARE)));
    const text = tableLines(table.columns, bare);
    lines.push(...(untrustedTexts(rows).length === 0 ? text : fence.around(text)));
  }
  return finish(lines, structured, fence);
}

function cutFacts({ facts, table }: Outcome, rows: number): Outcome["facts"] {
  const hidden = (table?.rows.length ?? 0) - rows;
  const cursor = table?.cursorAfter?.(rows);
  return {
    ...facts,
    cut: `${String(hidden)} rows left out, the answer would be too long`,
    ...(cursor === undefined ? {} : { nextCursor: cursor }),
  };
}

export function shapeFailure(failure: TaskFailure): ShapedResult {
  const { code, message, nextStep, retryable, requestId, detail, candidates, preview, confirm } = failure;
  const fence = new TextFence(
    [
      ...(requestId === null ? [] : [untrusted(requestId)]),
      ...(detail === null ? [] : [detail]),
      ...candidates.map(({ name }) => name),
    ].map((text) => text.visible()),
  );
  // The service chose it.
  const request = requestId === null ? null : fence.wrap(untrusted(requestId));
  const detailText = detail === null ? null : fence.wrap(detail);
  const choice = candidates.map(({ id, name }) => [id, fence.wrap(name)]);
  const error = {
    code,
    message,
    nextStep,
    retryable,
    ...(detailText === null ? {} : { detail: detailText }),
    ...(request === null ? {} : { requestId: request }),
    ...(choice.length === 0 ? {} : { candidates: choice }),
    ...(preview === null ? {} : { preview }),
    ...(confirm === null ? {} : { confirm }),
  };
  const lines = [`Failed (${code}): ${message}.`];
  if (detailText !== null) lines.push(`detail: ${detailText}`);
  lines.push(`Next step: ${nextStep}`, `retryable: ${String(retryable)}`);
  if (request !== null) lines.push(`requestId: ${request}`);
  if (preview !== null) lines.push(`preview: ${preview}`);
  if (confirm !== null) lines.push(`confirm: ${confirm}`);
  if (choice.length > 0) lines.push("candidates:", ...tableLines(["id", "name"], choice));
  return { ...finish(lines, { error }, fence), isError: true };
}

function finish(lines: string[], structured: Record<string, Json>, fence: TextFence): ShapedResult {
  if (fence.isUsed) {
    structured["fence"] = fence.notice();
    lines.push(fence.notice());
  }
  return { content: [{ type: "text", text: lines.join("\n") }], structuredContent: structured };
}

/** For lines that have one fence around them all. */
const BARE: Pick<TextFence, "wrap"> = { wrap: (value) => value.visible() };

function plain(fact: Fact, fence: Pick<TextFence, "wrap">): Json {
  if (fact instanceof Untrusted) return fence.wrap(fact);
  if (isList(fact)) return fact.map((item) => plain(item, fence));
  if (typeof fact === "object" && fact !== null) return plainObject(fact, fence);
  return fact;
}

function plainObject(facts: Readonly<Record<string, Fact>>, fence: Pick<TextFence, "wrap">): Record<string, Json> {
  const present = Object.entries(facts).filter(([, fact]) => fact !== null);
  return Object.fromEntries(present.map(([name, fact]) => [name, plain(fact, fence)]));
}

function isList(fact: Fact): fact is readonly Fact[] {
  return Array.isArray(fact);
}

function untrustedTexts(fact: Fact): string[] {
  if (fact instanceof Untrusted) return [fact.visible()];
  if (typeof fact === "object" && fact !== null) return Object.values<Fact>(fact).flatMap(untrustedTexts);
  return [];
}

function factLines(facts: Record<string, Json>, prefix = ""): string[] {
  return Object.entries(facts).flatMap(([name, value]) => {
    if (Array.isArray(value)) return [`${prefix}${name}: ${value.map(cellText).join(", ")}`];
    if (typeof value === "object" && value !== null) return factLines(value, `${prefix}${name}.`);
    return [`${prefix}${name}: ${String(value)}`];
  });
}

function tableLines(columns: readonly string[], rows: Json[][]): string[] {
  if (rows.length === 0) return [];
  return [columns.join("\t"), ...rows.map((row) => row.map(cellText).join("\t"))];
}

function cellText(value: Json): string {
  if (value === null) return "-";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * Turns what a tool found into the two halves of an MCP result: `structuredContent` for programs and text for models.
 * Each half carries all facts, because hosts drop one or the other. Imports no MCP library.
 */
import { type TaskFailure, Untrusted } from "@coffer/tasks";
import { openFence, type Fence } from "./fence.ts";

/** A value in a result. Text from outside must be wrapped as {@link Untrusted}. */
export type Fact = string | number | boolean | null | Untrusted | readonly Fact[] | { readonly [name: string]: Fact };

/** Rows under common column names: a list costs a model far less than objects that repeat their keys. */
export interface Table {
  /** The member of `structuredContent` that holds the rows. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Fact[])[];
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

export function shapeOutcome(outcome: Outcome): ShapedResult {
  const table = outcome.table;
  const fence = openFence(untrustedTexts([outcome.facts, table?.rows ?? []]));
  const structured = plainObject(outcome.facts, fence);
  const lines = [outcome.summary, ...factLines(structured)];
  if (table !== undefined) {
    const rows = table.rows.map((row) => row.map((cell) => plain(cell, fence)));
    structured["columns"] = [...table.columns];
    structured[table.name] = rows;
    lines.push(...tableLines(table.columns, rows));
  }
  return finish(lines, structured, fence);
}

export function shapeFailure(failure: TaskFailure): ShapedResult {
  const detail = failure.detail;
  const fence = openFence(detail === null ? [] : [detail.visible()]);
  const said = detail === null ? null : fence.wrap(detail);
  const { code, message, nextStep, retryable, requestId } = failure;
  const error = {
    code,
    message,
    nextStep,
    retryable,
    ...(said === null ? {} : { detail: said }),
    ...(requestId === null ? {} : { requestId }),
  };
  const lines = [`Failed (${code}): ${message}.`];
  if (said !== null) lines.push(`detail: ${said}`);
  lines.push(`Next step: ${nextStep}`, `retryable: ${String(retryable)}`);
  if (requestId !== null) lines.push(`requestId: ${requestId}`);
  return { ...finish(lines, { error }, fence), isError: true };
}

function finish(lines: string[], structured: Record<string, Json>, fence: Fence): ShapedResult {
  if (fence.used()) {
    structured["untrusted"] = fence.notice();
    lines.push(fence.notice());
  }
  return { content: [{ type: "text", text: lines.join("\n") }], structuredContent: structured };
}

function plain(fact: Fact, fence: Fence): Json {
  if (fact instanceof Untrusted) return fence.wrap(fact);
  if (isList(fact)) return fact.map((item) => plain(item, fence));
  if (typeof fact === "object" && fact !== null) return plainObject(fact, fence);
  return fact;
}

function plainObject(facts: Readonly<Record<string, Fact>>, fence: Fence): Record<string, Json> {
  const kept = Object.entries(facts).filter(([, fact]) => fact !== null);
  return Object.fromEntries(kept.map(([name, fact]) => [name, plain(fact, fence)]));
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

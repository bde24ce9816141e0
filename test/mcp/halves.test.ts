/** Each half of each answer is enough alone: hosts drop one or the other. */
import { TOOLS } from "@coffer/mcp";
import type { ToolAnswer } from "@coffer/devstack";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serviceOfFile } from "../kit/service-here.ts";
import { openToolsHere, type ToolsHere } from "../kit/tools-here.ts";
import { openEveryCall, type EveryCall } from "./every-call.ts";

const newAccount = serviceOfFile();
let scene: EveryCall;
let tools: ToolsHere;

beforeAll(async () => {
  scene = await openEveryCall(newAccount);
  const { folder } = scene;
  tools = await openToolsHere({ client: scene.service.client, folders: [folder], launch: { confirm: "token" } });
});

afterAll(async () => {
  await tools[Symbol.asyncDispose]();
});

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Marks are round the whole table of the text, and round each cell of the other half. */
const bare = (text: string): string => text.replaceAll(/<\/?[\w-]{8}>/g, "");

/** Values of the structured half, with the name of the fact that each belongs to. */
function factsIn(value: Json, name = ""): (readonly [string, string])[] {
  if (typeof value !== "object" || value === null) return [[name, bare(String(value))]];
  return Object.entries(value).flatMap(([key, each]) => factsIn(each, Array.isArray(value) ? name : key));
}

/** A program that has the text alone finds every value. */
function requireTextEnough({ facts, text }: ToolAnswer): void {
  const plain = bare(text);
  const { columns: _columns, ...rest } = facts;
  for (const [name, value] of factsIn(rest as Json)) {
    if (value === "null") continue;
    expect(plain, name).toContain(value);
  }
}

/** A model that has the structured half alone finds every line. */
function requireFactsEnough({ facts, text, isError }: ToolAnswer): void {
  const known = bare(JSON.stringify(facts)).replaceAll("\\\\", "\\").replaceAll('\\"', '"');
  const lines = bare(text)
    .split("\n")
    .filter((line) => line !== "");
  // The first line is a summary of the others, or the code and the message of a failure.
  const [, ...told] = lines;
  for (const line of told) {
    // The columns of candidates are an id and a name.
    if (line === "id\tname") continue;
    const cells = line.includes("\t") ? line.split("\t") : [line.replace(/^[\w. ]+: /, "")];
    for (const cell of cells.flatMap((each) => each.split(", ")))
      if (cell !== "-" && cell !== "candidates:") expect(known, line).toContain(cell.replace(/^\["?|"?\]$/g, ""));
  }
  if (!isError) return;
  const { code, message, nextStep, retryable } = facts["error"] as Record<string, unknown>;
  expect(lines[0]).toBe(`Failed (${String(code)}): ${bare(String(message))}.`);
  expect(String(nextStep).length).toBeGreaterThan(10);
  expect(typeof retryable).toBe("boolean");
}

describe.each(TOOLS)("$name", ({ name }) => {
  it("has all in each half, of what succeeds and of what fails", async () => {
    const [good = {}, ...bad] = scene.calls[name] ?? [];
    const first = await tools.call(name, good);
    // Nothing is under way, and nobody agreed yet.
    const isRefused = ["transfer_get", "transfer_cancel", "access_grant", "access_revoke", "webhook_delete"].includes(
      name,
    );
    expect([name, first.isError, first.code]).toEqual([name, isRefused, isRefused ? first.code : null]);
    const answers = [first, ...(await Promise.all(bad.map((args) => tools.call(name, args))))];
    const confirm = (first.facts["error"] as { confirm?: string } | undefined)?.confirm;
    if (confirm !== undefined) answers.push(await tools.call(name, { ...good, confirm }));
    expect(answers.some(({ isError }) => isError)).toBe(true);
    for (const answer of answers) {
      requireTextEnough(answer);
      requireFactsEnough(answer);
    }
  });
});

it("the two checks see what is missing", async () => {
  const answer = await tools.call("file_list", { vaultId: scene.vaultId });
  expect(() => requireTextEnough({ ...answer, text: answer.text.replaceAll("local.txt", "") })).toThrow();
  expect(() => requireTextEnough({ ...answer, text: answer.text.replaceAll(/[0-9a-f]{8}/g, "") })).toThrow();
  const { files: _files, ...facts } = answer.facts;
  expect(() => requireFactsEnough({ ...answer, facts })).toThrow();
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { readLine } from "./message-lines.ts";

const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

interface Answer {
  readonly id: string | number | null;
  readonly result?: object;
  readonly error?: { readonly code: number; readonly message: string };
}

const line = (more: object): string => JSON.stringify({ jsonrpc: "2.0", ...more });
const initialize = (protocolVersion: string): string =>
  line({
    id: "i",
    method: "initialize",
    params: { protocolVersion, capabilities: { roots: null }, clientInfo: { name: "x", version: "1" } },
  });

/** Sends the lines to a process, one after the other, and reads as many answers. */
async function exchange(lines: readonly string[], answers: number): Promise<Answer[]> {
  const child = spawn(process.execPath, [MAIN], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: process.env["PATH"], HOME: makeDirectory() },
  });
  const ended = once(child, "exit");
  child.stdin.write(lines.map((each) => `${each}\n`).join(""));
  const read: Answer[] = [];
  for await (const text of createInterface(child.stdout)) {
    read.push(JSON.parse(text) as Answer);
    if (read.length === answers) break;
  }
  child.stdin.end();
  await ended;
  return read;
}

const SENTENCE = /^[A-Za-z][^{}[\]]+$/;

/** A line, the id of its answer, and the code of the error; 0: it is a result. */
const LINES: readonly (readonly [name: string, sent: string, id: string | number | null, code: number])[] = [
  ["broken JSON", "{broken", null, -32700],
  ["no jsonrpc", '{"id":"a","method":"ping"}', "a", -32600],
  ["another jsonrpc", '{"jsonrpc":"1.0","id":"b","method":"ping"}', "b", -32600],
  ["no method", line({ id: "c" }), "c", -32600],
  ["an id that is null", line({ id: null, method: "ping" }), null, -32600],
  ["an id that is no whole number", line({ id: 1.5, method: "ping" }), 1.5, -32600],
  ["no object", "5", null, -32600],
  ["an empty batch", "[]", null, -32600],
  ["params that are a list", line({ id: "d", method: "tools/list", params: [1] }), "d", -32602],
  ["a wrong progress token", line({ id: "e", method: "ping", params: { _meta: { progressToken: {} } } }), "e", -32602],
  ["params that lack what the method takes", line({ id: "f", method: "tools/call", params: null }), "f", -32602],
  ["a name that is no text", line({ id: "g", method: "tools/call", params: { name: 5 } }), "g", -32602],
  ["a cursor that is no text", line({ id: "h", method: "tools/list", params: { cursor: 5 } }), "h", -32602],
  ["a byte order mark before the line", `\uFEFF${line({ id: "j", method: "ping" })}`, "j", 0],
  ["params that are null", line({ id: "k", method: "ping", params: null }), "k", 0],
  ["_meta that is null", line({ id: "l", method: "ping", params: { _meta: null } }), "l", 0],
  ["a cursor that is null", line({ id: "m", method: "tools/list", params: { cursor: null } }), "m", 0],
  [
    "arguments that are null",
    line({ id: "n", method: "tools/call", params: { name: "x", arguments: null } }),
    "n",
    -32602,
  ],
  ["a member that no message has", line({ id: "o", method: "ping", extra: 1 }), "o", 0],
];

describe("lines that are not well formed are answered [issue 48]", () => {
  it.each(["2025-03-26", "2025-11-25"])("by the process, in a sentence, with their id (%s)", async (revision) => {
    const sent = [`\uFEFF${initialize(revision)}`, ...LINES.map(([, text]) => text)];
    const answers = await exchange(sent, sent.length);
    const codes = answers.map(({ id, error }) => [id, error?.code ?? 0]);
    const expected = [["i", 0], ...LINES.map(([, , id, code]) => [id, code])];
    expect(codes.map(String).toSorted()).toEqual(expected.map(String).toSorted());
    for (const { error } of answers) if (error !== undefined) expect(error.message).toMatch(SENTENCE);
  });

  it("a batch is taken where its revision has them, and refused with each id elsewhere", async () => {
    const batch = JSON.stringify([
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } },
      { id: 2, method: "ping" },
    ]);
    const codesOf = async (revision: string) =>
      (await exchange([initialize(revision), batch], 3))
        .filter(({ id }) => id !== "i")
        .map(({ id, error }) => [id, error?.code ?? 0])
        .toSorted();
    expect(await codesOf("2025-03-26")).toEqual([
      [1, 0],
      [2, -32600],
    ]);
    expect(await codesOf("2025-06-18")).toEqual([
      [1, -32600],
      [2, -32600],
    ]);
  });

  it("a line that is too long is refused, and the next one is taken", async () => {
    const long = `"${"x".repeat(10 * 1024 * 1024)}"`;
    const answers = await exchange([long, initialize("2025-11-25")], 2);
    expect(answers.map(({ id, error }) => [id, error?.code ?? 0])).toEqual([
      [null, -32600],
      ["i", 0],
    ]);
  });

  it("nulls of a tool's own arguments stay, and answers of the client without an id get none", () => {
    const [read] = readLine(
      line({ id: 1, method: "tools/call", params: { name: "x", arguments: { a: null } } }),
      false,
    );
    expect(read).toMatchObject({ message: { params: { arguments: { a: null } } } });
    expect(readLine('{"id":1,"result":{}}', false)).toEqual([{ kind: "dropped" }]);
  });
});

import { expect, it } from "vitest";
import { findInLines, linesOf, parseLines, type Line } from "./text-lines.ts";

function streamOf(...pieces: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces)
        controller.enqueue(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
      controller.close();
    },
  });
}

async function all(lines: AsyncIterable<Line>): Promise<Line[]> {
  const collected: Line[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}

it("numbers lines, with the place of each in the file", async () => {
  expect(await all(linesOf(streamOf("é", "n\r\ntwo", "\n\nfour")))).toEqual([
    { number: 1, text: "én", offset: 0, bytes: 5 },
    { number: 2, text: "two", offset: 5, bytes: 4 },
    { number: 3, text: "", offset: 9, bytes: 1 },
    { number: 4, text: "four", offset: 10, bytes: 4 },
  ]);
  expect(await all(linesOf(streamOf("one\n")))).toHaveLength(1);
  expect(await all(linesOf(streamOf()))).toEqual([]);
});

it("takes a character that comes in two pieces, and leaves out a last line that was cut", async () => {
  const [first, second] = [Uint8Array.of(0xc3), Uint8Array.of(0xa9, 0x0a)];
  expect(await all(linesOf(streamOf(first, second)))).toMatchObject([{ text: "é", bytes: 3 }]);
  expect(await all(linesOf(streamOf("whole\ncut", first), false))).toMatchObject([{ text: "whole" }]);
  await expect(all(linesOf(streamOf("whole\ncut", first)))).rejects.toMatchObject({ code: "not_text" });
});

it("refuses what is no text, and a line that memory would have to hold", async () => {
  for (const bytes of [Uint8Array.of(0xff), Uint8Array.of(0x61, 0)])
    await expect(all(linesOf(streamOf(bytes)))).rejects.toMatchObject({ code: "not_text" });
  const long = streamOf("short\n", ...Array.from({ length: 11 }, () => "x".repeat(100_000)));
  await expect(all(linesOf(long))).rejects.toThrow("Line 2 has more than 1000000 characters");
});

it.each([
  ["100-150", { first: 100, last: 150 }],
  ["7", { first: 7, last: 7 }],
  ["7-", { first: 7, last: Infinity }],
  [" 1 - 2 ", { first: 1, last: 2 }],
])("reads the range %j", (text, range) => {
  expect(parseLines(text)).toEqual(range);
});

it.each(["", "0-3", "3-1", "-4", "a", "1-2-3"])("refuses the range %j", (text) => {
  expect(() => parseLines(text)).toThrow("lines is a range from 1 on");
});

const TEXT = ["a", "b", "Needle one", "c", "d", "e", "f", "g", "needle two", "needle three", "h"].join("\n");
const EVERY = { first: 1, last: Infinity };

it("finds lines in any case, with the two before and after each, and marks groups", async () => {
  expect(await findInLines(linesOf(streamOf(TEXT)), EVERY, "needle", () => true)).toEqual({
    matches: 3,
    text: "1- a\n2- b\n3: Needle one\n4- c\n5- d\n--\n7- f\n8- g\n9: needle two\n10: needle three\n11- h\n",
    nextLine: null,
  });
  expect(await findInLines(linesOf(streamOf(TEXT)), { first: 4, last: 9 }, "needle", () => true)).toMatchObject({
    matches: 1,
  });
  expect(await findInLines(linesOf(streamOf(TEXT)), EVERY, "nothing", () => true)).toEqual({
    matches: 0,
    text: "",
    nextLine: null,
  });
});

it("stops before there is too much, and goes on at that line", async () => {
  const first = await findInLines(linesOf(streamOf(TEXT)), EVERY, "needle", (shown) => shown.length < 40);
  expect(first).toMatchObject({ matches: 1, nextLine: 9 });
  const rest = { first: first.nextLine ?? 0, last: Infinity };
  expect(await findInLines(linesOf(streamOf(TEXT)), rest, "needle", () => true)).toMatchObject({ matches: 2 });
});

it("shows of a long line what is around the word", async () => {
  const { text } = await findInLines(
    linesOf(streamOf(`${"x".repeat(2_000)}needle${"y".repeat(2_000)}`)),
    EVERY,
    "needle",
    () => true,
  );
  expect(text).toMatch(/^1: …x+needley+…\n$/);
  expect(text.length).toBeLessThan(520);
});

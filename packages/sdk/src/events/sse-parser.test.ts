import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseParser, type SseBlock } from "./sse-parser.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 20_000 : 1_000;
const block = (more: Partial<SseBlock>): SseBlock => ({ event: "message", data: null, id: null, retry: null, ...more });

function parse(...pieces: string[]): SseBlock[] {
  const take = createSseParser();
  return pieces.flatMap(take);
}

describe("server-sent events", () => {
  it.each<[what: string, text: string, blocks: SseBlock[]]>([
    [
      "the first example of WHATWG HTML §9.2.6",
      "data: YHOO\ndata: +2\ndata: 10\n\n",
      [block({ data: "YHOO\n+2\n10" })],
    ],
    [
      "its second: a comment, an id, one taken back, a space that stays",
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n",
      [block({ data: "first event", id: "1" }), block({ data: "second event", id: "" })],
    ],
    [
      "its third: data that is empty, or is one line feed; the last block has no end",
      "data\n\ndata\ndata\n\ndata:",
      [block({ data: "" }), block({ data: "\n" })],
    ],
    [
      "its fourth: one optional space",
      "data:test\n\ndata: test\n\n",
      [block({ data: "test" }), block({ data: "test" })],
    ],
    ["every line end", "data: a\r\ndata: b\rdata: c\n\r\r\n", [block({ data: "a\nb\nc" })]],
    [
      "a kind, and none",
      "event: x\ndata: 1\n\nevent:\ndata: 2\n\n",
      [block({ event: "x", data: "1" }), block({ data: "2" })],
    ],
    ["a kind without data says nothing", "event: x\n\ndata: 1\n\n", [block({ data: "1" })]],
    ["a place and a time without data", "retry: 2000\nid: 7\n\n", [block({ id: "7", retry: 2000 })]],
    ["a time that is no number, an id with a NUL", "retry: 2s\nid: a\0b\ndata: 1\n\n", [block({ data: "1" })]],
    ["fields it does not know", "foo: bar\n:\ndatum: 1\n\n", []],
    ["a colon in the value", "data: a: b\n\n", [block({ data: "a: b" })]],
  ])("reads %s", (_what, text, blocks) => {
    expect(parse(text)).toEqual(blocks);
    expect(parse(...text)).toEqual(blocks);
  });

  it("gives a block as soon as it ends, also when only half of the line end has come", () => {
    const take = createSseParser();
    expect(take("data: a\r\r")).toEqual([block({ data: "a" })]);
    expect(take("\ndata: b\r\n\r")).toEqual([block({ data: "b" })]);
    expect(take("\n")).toEqual([]);
  });

  it("reads the same from text in any pieces", () => {
    const line = fc.constantFrom(
      "data: a",
      "data",
      "data:b: c",
      ":",
      ": note",
      "id: 3",
      "id",
      "event: x",
      "retry: 9",
      "x",
      "",
    );
    const end = fc.constantFrom("\n", "\r", "\r\n");
    const text = fc.array(fc.tuple(line, end), { maxLength: 40 }).map((lines) => lines.flat().join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat(120), { maxLength: 20 }), (whole, cuts) => {
        const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)), whole.length].sort((a, b) => a - b);
        const pieces = places.map((place, index) => whole.slice(place, places[index + 1]));
        expect(parse(...pieces)).toEqual(parse(whole));
      }),
      { numRuns: RUNS },
    );
  });

  it("takes back what a writer wrote, whatever the data holds", () => {
    const data = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\r\n]/g, ""));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), data), { maxLength: 10 }), (events) => {
        const text = events.map(([id, each]) => `id: ${String(id)}\nevent: e\ndata: ${each}\n\n`).join("");
        expect(parse(text)).toEqual(events.map(([id, each]) => block({ event: "e", id: String(id), data: each })));
      }),
      { numRuns: RUNS },
    );
  });

  it("does not keep an event that never ends", () => {
    const take = createSseParser();
    expect(() => {
      for (let piece = 0; piece < 300; piece += 1) take("x".repeat(1024));
    }).toThrow(RangeError);
    const lines = createSseParser();
    expect(() => {
      for (let piece = 0; piece < 300; piece += 1) lines(`data: ${"x".repeat(1024)}\n`);
    }).toThrow(RangeError);
    const ended = createSseParser();
    for (let piece = 0; piece < 300; piece += 1) expect(ended(`data: ${"x".repeat(1024)}\n\n`)).toHaveLength(1);
  });
});

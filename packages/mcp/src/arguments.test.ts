import { untrusted } from "@coffer/tasks";
import { describe, expect, it } from "vitest";
import { prepareArguments } from "./arguments.ts";
import { TextFence } from "./text-fence.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    note: { type: "string" },
    limit: { type: "integer" },
    deep: { type: "boolean" },
    files: { type: "array", items: { type: "string" } },
  },
  required: ["name"],
};
const prepared = (given: unknown) => prepareArguments(given, schema);

describe("prepareArguments", () => {
  it.each([[null], [""], [undefined], [[]]])("takes %j of an optional argument for absent", (nothing) => {
    expect(prepared({ name: "a", note: nothing, limit: nothing, deep: nothing, files: nothing })).toEqual({
      name: "a",
    });
  });

  it("keeps what a required argument holds", () => {
    expect(prepared({ name: "" })).toEqual({ name: "" });
    expect(prepared({ name: null })).toEqual({ name: null });
  });

  it("reads numbers, booleans and lists that come as text", () => {
    expect(prepared({ limit: "20", deep: "True", files: '["a","b"]' })).toEqual({
      limit: 20,
      deep: true,
      files: ["a", "b"],
    });
    expect(prepared({ limit: "many", deep: "maybe", files: "a" })).toEqual({
      limit: "many",
      deep: "maybe",
      files: ["a"],
    });
  });

  it("takes this process's own marks off, and no others", () => {
    const mark = new TextFence([]).wrap(untrusted("report.pdf"));
    expect(prepared({ name: mark, files: [mark] })).toEqual({ name: "report.pdf", files: ["report.pdf"] });
    expect(prepared({ name: "<AAAAAAAA>x</AAAAAAAA>" })).toEqual({ name: "<AAAAAAAA>x</AAAAAAAA>" });
  });

  it("leaves unknown arguments and other things than objects to the parser", () => {
    expect(prepared({ name: "a", nmae: null })).toEqual({ name: "a", nmae: null });
    expect(Object.keys(prepared(JSON.parse('{"__proto__": 1}')) as object)).toEqual(["__proto__"]);
    expect(prepared(["a"])).toEqual(["a"]);
    expect(prepared(undefined)).toEqual({});
  });
});

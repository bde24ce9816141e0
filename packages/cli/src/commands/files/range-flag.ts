/** Parts of files, as `--range` names them. */
import { parsed } from "../../declarations.ts";
import { usage } from "../../failure.ts";

export interface NamedRange {
  /** The part of a file of so many bytes. */
  of(size: number): { readonly offset: number; readonly length: number };
}

export const RANGE = parsed<NamedRange>("Bytes A to B, counted from 0; A- to the end, -N the last N", parseRange, {
  placeholder: "A-B",
});

function parseRange(text: string): NamedRange {
  const [, first = "", last = ""] = /^(\d{0,15})-(\d{0,15})$/.exec(text) ?? [];
  if (first === "" && last === "") throw new Error("expected A-B, A- or -N");
  if (first !== "" && last !== "" && Number(last) < Number(first)) throw new Error("the range ends before it begins");
  return {
    of: (size) => {
      const offset = first === "" ? Math.max(0, size - Number(last)) : Number(first);
      const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
      if (offset < end) return { offset, length: end - offset };
      throw usage(`The file has ${String(size)} bytes, and none of the range`, "name another --range");
    },
  };
}

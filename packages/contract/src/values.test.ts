import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import {
  booleanText,
  email,
  integerText,
  itemName,
  label,
  nameProblem,
  newNameProblem,
  timestamp,
  uuid,
} from "./values.ts";

describe("names", () => {
  it("normalises to NFC", () => {
    expect(z.parse(itemName, "Cafe\u0301.txt")).toBe("Caf\u00e9.txt");
  });

  it.each([
    ["", "empty"],
    [".", ". or .."],
    ["..", ". or .."],
    ["a/b", "control characters"],
    ["a\\b", "control characters"],
    ["a\u0000b", "control characters"],
    ["line\nbreak", "control characters"],
    ["C1 \u0085 next line", "control characters"],
    ["C1 \u009b31m", "control characters"],
    [" leading", "white space"],
    ["trailing ", "white space"],
    ["lone \ud800 surrogate", "control characters"],
    ["é".repeat(128), "255 bytes"],
  ])("refuses %j", (name, reason) => {
    expect(nameProblem(name)).toContain(reason);
    expect(z.safeParse(itemName, name).success).toBe(false);
  });

  it.each(["a\u0007b", "a\r\nb", "a\u007f", "C1 \u0085 next line", "C1 \u009b31m", "lone \ud800 surrogate"])(
    "refuses %j as the label of a key, an invite or an account, too",
    (text) => {
      expect(z.safeParse(label, text).success).toBe(false);
      expect(z.parse(label, " ci / deploy\u{1f680} ")).toBe("ci / deploy\u{1f680}");
    },
  );

  // Unicode 17.0 sorts these marks in another order than 16.0, which does not know them: one NFC here, another one there.
  it.each([
    ...["a\u1acf\u0316", "a\u0315\u1add", "a\u1ae0\u0316", "a\u1aeb\u0315", "a\u{10efa}\u0301", "a\u{10efb}\u0301"],
    ...["a\u{1e6e3}\u0316", "\u{1faea}", "\ufdd0"],
  ])(
    "refuses %j for a new name, whatever ICU runs, and as a name that is there takes it (file-format §9) [M15]",
    (name) => {
      expect(z.safeParse(itemName, name).error?.issues.map(({ message }) => message)).toEqual([
        "must not contain characters that are not in Unicode 16.0",
      ]);
      expect(newNameProblem(name)).not.toBeNull();
      expect(nameProblem(name)).toBeNull();
    },
  );

  it("counts bytes, not characters [D2-names]", () => {
    expect(nameProblem("é".repeat(127))).toBeNull();
    expect(nameProblem("a".repeat(255))).toBeNull();
    expect(nameProblem("a".repeat(256))).not.toBeNull();
  });

  it("parses to the same name again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (name) => {
        const first = z.safeParse(itemName, name);
        if (first.success) expect(z.parse(itemName, first.data)).toBe(first.data);
      }),
    );
  });
});

describe("values that travel as text", () => {
  it("round-trips integers and refuses what is none", () => {
    const page = integerText(1, 1000);
    expect(z.decode(page, "17")).toBe(17);
    expect(z.encode(page, 17)).toBe("17");
    for (const bad of ["0", "1001", "-1", "1.5", "1e2", "", " 3", "0x10"]) {
      expect(z.safeDecode(page, bad).success, bad).toBe(false);
    }
  });

  it("round-trips booleans and refuses what is none", () => {
    expect(z.decode(booleanText, "true")).toBe(true);
    expect(z.encode(booleanText, false)).toBe("false");
    expect(z.safeParse(booleanText, "1").success).toBe(false);
  });

  it("takes UUIDs and timestamps in the one form that is sent", () => {
    expect(z.safeParse(uuid, "3F2504E0-4F89-41D3-9A0C-0305E82C3301").success).toBe(false);
    expect(z.safeParse(uuid, "3f2504e0-4f89-41d3-9a0c-0305e82c3301").success).toBe(true);
    expect(z.safeParse(timestamp, "2026-11-20T17:00:00.000Z").success).toBe(true);
    expect(z.safeParse(timestamp, "2026-11-20T17:00:00Z").success).toBe(false);
    expect(z.safeParse(timestamp, "2028-02-29T17:00:00.000Z").success).toBe(true);
    for (const day of ["2026-02-29", "2026-02-30", "2026-04-31"])
      expect(z.safeParse(timestamp, `${day}T17:00:00.000Z`).success, day).toBe(false);
  });
});

describe("an e-mail address", () => {
  it("is kept in lower case, and is ASCII before that: no other letter becomes one of another person's address", () => {
    expect(z.parse(email, "Kim.O+x@Example.TEST")).toBe("kim.o+x@example.test");
    // The Kelvin sign, whose lower case is the Latin k; and others that fold or normalise to Latin letters.
    for (const other of [
      "\u212aim@example.test",
      "k\u0131m@example.test",
      "kim@\u212a.test",
      "\uff4bim@example.test",
    ]) {
      expect(z.safeParse(email, other).success, other).toBe(false);
    }
  });
});

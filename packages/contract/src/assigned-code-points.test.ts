import { describe, expect, it } from "vitest";
import { isAssigned, UNICODE_VERSION } from "./assigned-code-points.ts";

describe("the code points of new names (file-format §9)", () => {
  it(`are the 154,998 characters of Unicode ${UNICODE_VERSION}, the controls, the surrogates and those for private use`, () => {
    const sure = /\p{Assigned}/u;
    const [missing, odd]: [string[], string[]] = [[], []];
    let count = 0;
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
      const character = String.fromCodePoint(codePoint);
      const here = sure.test(character);
      if (isAssigned(character)) count += 1;
      if (isAssigned(character) && !here) odd.push(codePoint.toString(16));
      if (here && !isAssigned(character)) missing.push(codePoint.toString(16));
    }
    expect(count).toBe(154_998 + 65 + 2_048 + 137_468);
    expect(odd).toEqual([]);
    // A newer ICU assigns more. None of the code points that Unicode had by then changed.
    if (process.versions.unicode === UNICODE_VERSION) expect(missing).toEqual([]);
    if (process.versions.unicode === "17.0") expect(missing).toHaveLength(4_803);
  });

  it("leave a name in NFC alone, in whatever order its marks are", () => {
    for (const text of ["\u1ab0\u0316", "\u{113c5}", "\u{16d68}", "\ua7da", "\u{1f9e0}"])
      expect(isAssigned(text)).toBe(true);
    for (const text of ["a\u1acf", "\u{10efa}", "\ua7ce", "\ufffe", "\u{1fae8}\u{1faea}", "\u{323b0}"])
      expect([text, isAssigned(text)]).toEqual([text, false]);
  });
});

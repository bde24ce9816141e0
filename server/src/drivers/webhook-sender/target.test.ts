import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allowAddresses } from "./addresses.ts";
import { readTarget, type TargetRules } from "./target.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 50_000 : 2_000;
const RULES: TargetRules = { allowHttp: true, isAllowed: allowAddresses([]) };

/** One of the ways in which a parser of addresses may write a part (WHATWG URL, "IPv4 parser"). */
const written = (part: number) =>
  fc.constantFrom(
    ...[String(part), `0x${part.toString(16)}`, `0X${part.toString(16).toUpperCase()}`, `0${part.toString(8)}`],
    ...[`000${part.toString(8)}`, `0x0000${part.toString(16)}`],
  );

/** The address in four, three, two or one parts, each written in some way, with a dot behind it or not. */
const inSomeNotation = (number: number) =>
  fc
    .constantFrom(1, 2, 3, 4)
    .chain((count) => {
      const heads = [24, 16, 8].slice(0, count - 1).map((shift) => (number >>> shift) & 0xff);
      const last = count === 1 ? number : number % 2 ** (8 * (5 - count));
      return fc.tuple(...[...heads, last].map(written), fc.constantFrom("", "."));
    })
    .map((parts) => parts.slice(0, -1).join(".") + (parts.at(-1) ?? ""));

describe("a webhook's address", () => {
  it("is read as the connection will read it", () => {
    expect(readTarget("https://receiver.example:8443/a/../b?c=%20#d", RULES)).toEqual({
      origin: "https://receiver.example:8443",
      path: "/b?c=%20",
      secure: true,
      hostname: "receiver.example",
      port: 8443,
    });
    const six = { origin: "http://[2606:4700::1]", path: "/", secure: false, hostname: "2606:4700::1", port: 80 };
    expect(readTarget("http://[2606:4700::1]", RULES)).toEqual(six);
    expect(readTarget("https://8.8.8.8", RULES)).toMatchObject({ hostname: "8.8.8.8", port: 443 });
  });

  it("[D6-create-url] is https outside development, at most 2,048 characters, and without credentials", () => {
    const strict = { ...RULES, allowHttp: false };
    const start = "https://receiver.example/";
    expect(readTarget(start.padEnd(2048, "a"), strict)).toMatchObject({ secure: true });
    for (const wrong of [
      start.padEnd(2049, "a"),
      "http://receiver.example/",
      "https://a:b@receiver.example/",
      "https://a@b/",
    ]) {
      expect(readTarget(wrong, strict)).toBe("invalid url");
    }
  });

  it("names the same IPv4 address in whatever notation", () => {
    const address = fc.nat({ max: 2 ** 32 - 1 });
    fc.assert(
      fc.property(
        address.chain((number) => fc.tuple(fc.constant(number), inSomeNotation(number))),
        ([number, notation]) => {
          const plain = [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join(".");
          const target = readTarget(`https://${notation}/`, RULES);
          if (RULES.isAllowed(plain)) expect(target).toMatchObject({ hostname: plain });
          else expect(target).toBe("blocked address");
        },
      ),
      { numRuns: RUNS },
    );
  });

  it("is refused or read, never an error, whatever it holds", () => {
    const odd = fc.string({ unit: fc.constantFrom(..."htps:/\\@[]%.?#0179xaf \t\n①。\u00ad"), maxLength: 40 });
    const anything = fc.oneof(
      fc.webUrl(),
      fc.string({ unit: "binary" }),
      odd,
      odd.map((rest) => `https://${rest}`),
    );
    fc.assert(
      fc.property(anything, (url) => {
        const target = readTarget(url, RULES);
        if (typeof target === "string") return;
        // What was read is what the connection's own parser reads.
        expect(new URL(target.origin + target.path).origin).toBe(target.origin);
        expect(target.port).toBeGreaterThan(0);
        expect(target.path).toMatch(/^\/[^#\s]*$/);
      }),
      { numRuns: RUNS },
    );
  });
});

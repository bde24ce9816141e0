import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allowAddresses } from "./addresses.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 100_000 : 3_000;
const isPublic = allowAddresses([]);

describe("addresses that webhooks may reach", () => {
  it.each(["8.8.8.8", "1.1.1.1", "100.63.255.255", "172.32.0.1", "192.167.1.1", "223.255.255.255"])("%s", (address) => {
    expect(isPublic(address)).toBe(true);
    expect(isPublic(`::ffff:${address}`)).toBe(true);
  });

  it.each(["2606:4700:4700::1111", "2001:4860:4860::8888", "2A00:1450:4001::1", "64:ff9b::808:808", "::ffff:808:808"])(
    "%s",
    (address) => expect(isPublic(address)).toBe(true),
  );

  it("are none of those that are no text of an address", () => {
    const wrong = [
      "",
      "localhost",
      "127.1",
      "8.8.8",
      "8.8.8.8 ",
      "08.8.8.8",
      "0x8.8.8.8",
      "134744072",
      "::1%lo",
      "8.8.8.8/32",
    ];
    const odd = ["[2606:4700::1]", "::8.8.8.8", "2606:4700::8.8.8.8:", "::ffff:8.8.8", "64:ff9b::8.8.8.8.8"];
    for (const text of [...wrong, ...odd]) expect(isPublic(text), text).toBe(false);
  });

  it("are no IPv4 address of the registry's special ranges, in any of the forms that carry one", () => {
    const special: readonly (readonly [string, number])[] = [
      ["0.0.0.0", 8],
      ["10.0.0.0", 8],
      ["100.64.0.0", 10],
      ["127.0.0.0", 8],
      ["169.254.0.0", 16],
      ["172.16.0.0", 12],
      ["192.0.0.0", 24],
      ["192.0.2.0", 24],
      ["192.88.99.0", 24],
      ["192.168.0.0", 16],
      ["198.18.0.0", 15],
      ["198.51.100.0", 24],
      ["203.0.113.0", 24],
      ["224.0.0.0", 4],
      ["240.0.0.0", 4],
      ["168.63.129.16", 32],
    ];
    const inSpecial = fc
      .constantFrom(...special)
      .chain(([network, bits]) =>
        fc.nat({ max: 2 ** (32 - bits) - 1 }).map((host) => (numberOf(network) + host) >>> 0),
      );
    fc.assert(
      fc.property(inSpecial, (number) => {
        const [high, low] = [(number >>> 16).toString(16), (number & 0xffff).toString(16)];
        const forms = [dotted(number), `::ffff:${dotted(number)}`, `::ffff:${high}:${low}`, `64:ff9b::${high}:${low}`];
        const others = [
          `::${high}:${low}`,
          `2002:${high}:${low}::1`,
          `2001::${high}:${low}`,
          `64:ff9b:1::${high}:${low}`,
        ];
        for (const form of [...forms, ...others]) expect(isPublic(form), form).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });

  it("are no IPv6 address outside 2000::/3, but for translated IPv4", () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const first = Number.parseInt(address.split(":")[0] === "" ? "0" : (address.split(":")[0] ?? ""), 16);
        if (first >> 13 === 1 || /^(0*64:0*ff9b:|[0:]*:ffff:)/i.test(address)) return;
        expect(isPublic(address), address).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("networks that are allowed as well", () => {
  it("are blocks and addresses of both families, for exactly what lies in them", () => {
    const isAllowed = allowAddresses(["127.0.0.0/8", "10.1.2.3", "fd00::/8", "::1", "::ffff:172.16.0.0/108"]);
    for (const yes of [
      "127.0.0.1",
      "127.9.9.9",
      "::ffff:127.0.0.1",
      "10.1.2.3",
      "fdff::1",
      "::1",
      "172.16.0.1",
      "8.8.8.8",
    ]) {
      expect(isAllowed(yes), yes).toBe(true);
    }
    // Translated addresses are the translator's network, not ours.
    const no = [
      "126.0.0.1x",
      "10.1.2.4",
      "fc00::1",
      "::2",
      "::",
      "172.32.0.1.",
      "64:ff9b::7f00:1",
      "::127.0.0.1",
      "0.0.0.0",
    ];
    for (const each of no) expect(isAllowed(each), each).toBe(false);
  });

  it.each([
    "",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0/8",
    "::/129",
    "::ffff:1.2.3.4/95",
    "localhost",
    "1.2.3.4/8/8",
  ])("are not %j", (text) => expect(() => allowAddresses([text])).toThrow("is neither an address nor a CIDR block"));
});

function numberOf(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function dotted(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join(".");
}

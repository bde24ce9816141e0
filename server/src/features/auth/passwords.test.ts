import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../service-error.ts";
import { COMMON_PHRASES } from "./common-phrases.ts";
import { hashPassword, requireStrongPassword, verifyPassword } from "./passwords.ts";
import { PASSWORD } from "./accounts.test-kit.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 2_000 : 100;
const CONTEXT = { email: "alice.long@example.test", name: "Alice Long" };

function refusalOf(password: string, context: Parameters<typeof requireStrongPassword>[1] = CONTEXT): string | null {
  try {
    requireStrongPassword(password, context);
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "weak_password") throw error;
    return error.message;
  }
}

describe("password hashes", () => {
  it("are argon2id with 19 MiB, 2 passes, 1 lane, in the PHC form, each with its own salt", async () => {
    const [one, two] = await Promise.all([hashPassword(PASSWORD), hashPassword(PASSWORD)]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(two).not.toBe(one);
    expect(await verifyPassword(PASSWORD, one)).toBe(true);
    expect(await verifyPassword(PASSWORD, two)).toBe(true);
    expect(await verifyPassword(`${PASSWORD} `, one)).toBe(false);
    expect(await verifyPassword(PASSWORD.toUpperCase(), one)).toBe(false);
  });

  it("agree with the reference implementation, at another cost than today's", async () => {
    // Known answers of github.com/P-H-C/phc-winner-argon2, src/test.c.
    const known = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
    expect(await verifyPassword("password", known)).toBe(true);
    expect(await verifyPassword("Password", known)).toBe(false);
  });

  it("compare the NFKC form, whole: nothing is cut at 72 bytes or anywhere else", async () => {
    const decomposed = "mu\u0308sli und a\u0308pfel am morgen";
    expect(await verifyPassword(decomposed.normalize("NFC"), await hashPassword(decomposed))).toBe(true);
    expect(await verifyPassword("ﬁfteen letters ok", await hashPassword("fifteen letters ok"))).toBe(true);
    const long = "x".repeat(255);
    const hash = await hashPassword(`${long}a`);
    expect(await verifyPassword(`${long}b`, hash)).toBe(false);
    expect(await verifyPassword(long, hash)).toBe(false);
    expect(await verifyPassword(`${long}a`, hash)).toBe(true);
  });

  it("resolve false without a hash, whatever the password", async () => {
    expect(await verifyPassword(PASSWORD, null)).toBe(false);
    expect(await verifyPassword("", null)).toBe(false);
  });

  it("refuse a stored text that is no hash, without naming it", async () => {
    const text = "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$secret";
    await expect(verifyPassword(PASSWORD, text)).rejects.toThrow("not argon2id in PHC form");
    await expect(verifyPassword(PASSWORD, text)).rejects.not.toThrow("secret");
  });

  it("are made two at a time; who would wait for seconds is told to come back", async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 140 }, () => verifyPassword(PASSWORD, null)));
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toHaveLength(140 - 128 - 2);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({ code: "unavailable", status: 503, headers: { "Retry-After": "2" } });
    }
    // The places were all given back.
    expect(await verifyPassword(PASSWORD, null)).toBe(false);
  });
});

describe("which passwords may be set [D3-passwords]", () => {
  it.each([
    PASSWORD,
    "unrelated words do well",
    "jX9#kQ2!mZ7@pL4",
    "das ist mein langer satz",
    "パスワードは長い文にしましょう今日",
    "alice bought nine purple lamps",
    "no capitals no digits no signs",
  ])("takes %s", (password) => expect(refusalOf(password)).toBeNull());

  it.each([
    "passwordpassword",
    "Password1234567",
    "P@ssw0rd12345678",
    "123456789012345",
    "aaaaaaaaaaaaaaaa",
    "abcdefghijklmnop",
    "qwertyuiopasdfgh",
    "1q2w3e4r5t6y7u8i",
    "iloveyouiloveyou",
    "19840112 19840112",
    "12/12/1984".repeat(20),
    "!!!!!!!!!!!!!!!!",
    "\u{1F600}".repeat(20),
    "correcthorsebatterystaple",
    "Correct Horse Battery Staple!",
    "to be or not to be",
  ])("refuses %s: common, repeated or in sequence", (password) => expect(refusalOf(password)).not.toBeNull());

  it.each([
    "alice.long@example.test",
    "alice.example.2026",
    "AliceLong123456789",
    "Alice-Long-Alice-Long",
    "coffer-coffer-coffer",
    "Coffer2026Coffer2026",
  ])("refuses %s: the e-mail, the name, the service", (password) => expect(refusalOf(password)).not.toBeNull());

  it("asks for 15 to 256 characters, counted as code points of the NFKC form", () => {
    const strong = "q7#Vm2!xK9$wPz4";
    expect(refusalOf(strong)).toBeNull();
    expect(refusalOf(strong.slice(1))).toContain("15 to 256 characters");
    expect(refusalOf(strong + "é€ß".repeat(80) + "x")).toBeNull();
    expect(refusalOf(strong + "é€ß".repeat(81))).toContain("15 to 256 characters");
    // Fourteen letters, one of them decomposed.
    expect(refusalOf("q7#Vm2!xK9$wPu\u0308")).toContain("15 to 256 characters");
  });

  it("says why, and never what the password was", () => {
    for (const phrase of COMMON_PHRASES) {
      const message = refusalOf(phrase) ?? "";
      expect(message).toMatch(/^The password is too easy to guess\. /);
      expect(message).not.toContain(phrase);
    }
  });

  it("gives a verdict for any text", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 260 }),
      fc
        .array(fc.constantFrom("p@ssw0rd", "qwerty", "4", "@", "12/12/1984", "a"), { maxLength: 64 })
        .map((parts) => parts.join("")),
    );
    const context = fc.record({ email: fc.emailAddress(), name: fc.option(fc.string()) });
    fc.assert(
      fc.property(texts, context, (text, given) => {
        const { length } = Array.from(text.normalize("NFKC"));
        if (length < 15 || length > 256) expect(refusalOf(text, given)).not.toBeNull();
        else refusalOf(text, given);
      }),
      { numRuns: RUNS },
    );
  });
});

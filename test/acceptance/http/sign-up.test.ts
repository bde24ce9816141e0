import { describe, expect, it } from "vitest";
import { freshEmail } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, objectIn, textIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { querySql } from "../kit/data-directory.ts";
import { logIn, makeAccessCode, PASSWORD } from "../kit/identity.ts";
import { useService } from "../kit/service.ts";

const service = useService();

const signUp = (body: object) => service().ask("POST", "/api/auth/signup", { key: "", body });
const check = async (code: string): Promise<unknown> =>
  fieldsAt(await service().ask("POST", "/api/auth/check-access-code", { key: "", body: { code } }), 200)["valid"];
const rowsOf = (email: string) => querySql(service().dataDirectory, "SELECT id FROM accounts WHERE email = ?", email);

describe("sign-up", () => {
  it("answers 201 with the user and a session, and needs no credential [D3-signup S5.5-access-code D1-open-sign-in S1-identified-by]", async () => {
    const email = freshEmail();
    const body = { email, password: PASSWORD, name: "Grace", accessCode: await service().accessCode() };
    const fields = fieldsAt(await signUp(body), 201);
    expect(fields).toEqual({
      user: expect.any(Object),
      accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refreshToken: expect.stringMatching(/^[\w-]{43,}$/),
      expiresIn: 900,
      refreshExpiresIn: 30 * 86_400,
    });
    expect(fields["user"]).toEqual({
      id: expect.stringMatching(UUID),
      email,
      emailVerified: false,
      name: "Grace",
      accessLevel: "owner",
      chainAddress: null,
      chainAddressSource: null,
      plan: "free",
      usage: { bytes: 0, files: 0 },
      limits: expect.any(Object),
      createdAt: expect.stringMatching(TIMESTAMP),
    });
    expect(await service().account(textIn(fields, "accessToken"))).toEqual(fields["user"]);
  });

  it("without a code, or with a wrong one, is 403 and leaves no account [S5.5-access-code]", async () => {
    const email = freshEmail();
    expectError(await signUp({ email, password: PASSWORD }), 403, "access_code_invalid");
    expectError(await signUp({ email, password: PASSWORD, accessCode: "no-such-code" }), 403, "access_code_invalid");
    expect(await rowsOf(email)).toEqual([]);
    expectError(await logIn(service().server.baseUrl, email), 401, "wrong_credentials");
  });

  it("of a known e-mail, however it is spelt, is 409 and uses no code up [D1-conflict-409]", async () => {
    const accessCode = await service().accessCode();
    const email = service().owner.email.toUpperCase();
    expectError(await signUp({ email, password: PASSWORD, accessCode }), 409, "email_exists");
    expect(await check(accessCode)).toBe(true);
  });

  it("does not say whether an e-mail is known to somebody without a code", async () => {
    const accessCode = "no-such-code";
    const known = await signUp({ email: service().owner.email, password: PASSWORD, accessCode });
    const unknown = await signUp({ email: freshEmail(), password: PASSWORD, accessCode });
    expect(expectError(known, 403, "access_code_invalid")).toBe(expectError(unknown, 403, "access_code_invalid"));
  });
});

describe("an access code", () => {
  it("comes from an operator's command, is checked without being used up, and good for one sign-up [S4.2-check-access-code D3-check-access-code D3-access-codes]", async () => {
    const accessCode = await makeAccessCode(service().variables);
    for (let times = 0; times < 3; times += 1) expect(await check(accessCode)).toBe(true);
    expectStatus(await signUp({ email: freshEmail(), password: PASSWORD, accessCode }), 201);
    expect(await check(accessCode)).toBe(false);
    const email = freshEmail();
    expectError(await signUp({ email, password: PASSWORD, accessCode }), 403, "access_code_invalid");
    expect(await rowsOf(email)).toEqual([]);
  });

  it("is kept as a hash [D1-hashes-codes]", async () => {
    const accessCode = await service().accessCode();
    const rows = await querySql(service().dataDirectory, "SELECT * FROM access_codes");
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(accessCode);
    expect(rows.every(({ hash }) => /^[0-9a-f]{64}$/.test(String(hash)))).toBe(true);
    expect(service().server.printed()).not.toContain(accessCode);
  });

  it("that nobody made is not valid, and a missing one is 400 [S4.2-check-access-code]", async () => {
    expect(await check("no-such-code")).toBe(false);
    expectError(
      await service().ask("POST", "/api/auth/check-access-code", { key: "", body: {} }),
      400,
      "validation_failed",
    );
  });

  it("made for two uses serves two of eight sign-ups at the same time [D3-access-codes]", async () => {
    const accessCode = await makeAccessCode(service().variables, { uses: 2 });
    const emails = Array.from({ length: 8 }, () => freshEmail());
    const answers = await Promise.all(emails.map((email) => signUp({ email, password: PASSWORD, accessCode })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403, 403, 403, 403, 403]);
    const made = await Promise.all(emails.map((email) => rowsOf(email)));
    expect(made.flat()).toHaveLength(2);
  });
});

describe("an account that was signed up", () => {
  it("may store without a verified e-mail [S5.5-unverified-may-store]", async () => {
    const accessCode = await service().accessCode();
    const fields = fieldsAt(await signUp({ email: freshEmail(), password: PASSWORD, accessCode }), 201);
    const key = textIn(fields, "accessToken");
    const uploaded = await service().ask("POST", "/api/files?name=first.bin", { key, body: new Uint8Array(9) });
    const fileId = textIn(objectIn(fieldsAt(uploaded, 201), "file"), "id");
    expectStatus(await service().ask("GET", `/api/files/${fileId}/content`, { key }), 200);
    const vault = { key, body: { name: "Mine", type: "public" } };
    expectStatus(await service().ask("POST", "/api/vaults", vault), 201);
  });
});

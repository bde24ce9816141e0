import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { freshEmail } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt } from "../kit/answers.ts";
import { databasePath, filesHolding, querySql, runSql } from "../kit/data-directory.ts";
import type { Answer } from "../kit/http.ts";
import { logIn, OTHER_PASSWORD, PASSWORD, refresh, tokensIn } from "../kit/identity.ts";
import { readMailedToken, readOutbox } from "../kit/outbox.ts";
import { useService } from "../kit/service.ts";

const HOUR = 3_600_000;
const service = useService();

const post = (path: string, body: object, key = "") => service().ask("POST", `/api/auth/${path}`, { key, body });
const forgot = (email: string) => post("forgot-password", { email });
const reset = (token: string, newPassword = OTHER_PASSWORD) => post("reset-password", { token, newPassword });
const enter = (email: string, password: string) => logIn(service().server.baseUrl, email, password);
const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

async function mailedToken(email: string): Promise<string> {
  expectStatus(await forgot(email), 200);
  return readMailedToken(service().dataDirectory, email, "reset");
}

describe("a password", () => {
  it("has 15 to 256 characters of any kind [D3-passwords]", async () => {
    const accessCode = await service().accessCode();
    const sign = (password: string) => post("signup", { email: freshEmail(), password, accessCode });
    for (const password of ["fourteen chars", "ü".repeat(14), "x7$".repeat(86)]) {
      const refused = await sign(password);
      expect(expectError(refused, 400, "validation_failed")).toContain("password");
      expect(new TextDecoder().decode(refused.bytes)).not.toContain(password);
    }
    const mumbled = Array.from({ length: 64 }, (_, index) => `${String.fromCharCode(97 + ((index * 7) % 26))}q9 `).join(
      "",
    );
    for (const password of ["quill mop fjord", mumbled, "ключ под старым крыльцом"])
      expectStatus(await sign(password), 201);
  });

  it("that is common, repeated or made of one's own e-mail is refused [D3-passwords]", async () => {
    const accessCode = await service().accessCode();
    for (const password of ["passwordpassword", "aaaaaaaaaaaaaaaaaaaa", "123456789012345678", "qwertyuiopasdfgh"])
      expectError(await post("signup", { email: freshEmail(), password, accessCode }), 400, "weak_password");
    const email = "magdalena.winterbottom@example.com";
    const own = await post("signup", { email, password: "magdalena.winterbottom", accessCode });
    expectError(own, 400, "weak_password");
  });

  it("is kept as an argon2id hash alone, and is in no log [S5.5-sign-in]", async () => {
    const { id, password } = await service().join();
    const { dataDirectory, server } = service();
    const [row] = await querySql(dataDirectory, "SELECT password_hash FROM accounts WHERE id = ?", id);
    expect(row?.["password_hash"]).toMatch(/^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$/);
    expect(await filesHolding(dataDirectory, password)).toEqual([]);
    expect(server.printed()).not.toContain(password);
  });
});

describe("changing the password", () => {
  it("is 204 and ends every other session, not this one [D3-change-password]", async () => {
    const user = await service().join();
    const other = tokensIn(await enter(user.email, PASSWORD));
    const wanted = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
    const changed = await post("change-password", wanted, user.accessToken);
    expectStatus(changed, 204);
    expectStatus(await service().ask("GET", "/api/account", { key: user.accessToken }), 200);
    expectError(await service().ask("GET", "/api/account", { key: other.accessToken }), 401, "invalid_credential");
    expectError(await refresh(service().server.baseUrl, other.refreshToken), 401, "session_ended");
    expectError(await enter(user.email, PASSWORD), 401, "wrong_credentials");
    expectStatus(await enter(user.email, OTHER_PASSWORD), 200);
  });

  it("needs the current one, and a strong new one [D3-change-password D3-passwords]", async () => {
    const { accessToken, email } = await service().join();
    const wrong = { currentPassword: OTHER_PASSWORD, newPassword: OTHER_PASSWORD };
    expectError(await post("change-password", wrong, accessToken), 403, "wrong_password");
    const weak = { currentPassword: PASSWORD, newPassword: "passwordpassword" };
    expectError(await post("change-password", weak, accessToken), 400, "weak_password");
    expectStatus(await enter(email, PASSWORD), 200);
  });
});

describe("a forgotten password", () => {
  it("is answered alike for a known and an unknown e-mail [S4.2-forgot-password S7-200-forgot-password D3-forgot-password D1-open-sign-in]", async () => {
    const { email } = await service().join();
    const [known, unknown] = [await forgot(email), await forgot(freshEmail())];
    expect(Object.keys(fieldsAt(known, 200))).toEqual(["message"]);
    expect(new TextDecoder().decode(known.bytes)).toBe(new TextDecoder().decode(unknown.bytes));
    const shown = ({ headers }: Answer) =>
      [...headers].filter(([name]) => !["date", "x-request-id"].includes(name)).sort();
    expect(shown(known)).toEqual(shown(unknown));
  });

  it("is set anew with the mailed token, once, which ends every session [S3-password-reset S4.2-reset-password S4.2-reset-token-mailed D3-reset-password S5.5-tokens]", async () => {
    const user = await service().join();
    const token = await mailedToken(user.email);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(Object.keys(fieldsAt(await reset(token), 200))).toEqual(["message"]);
    expectError(await service().ask("GET", "/api/account", { key: user.accessToken }), 401, "invalid_credential");
    expectError(await refresh(service().server.baseUrl, user.refreshToken), 401, "session_ended");
    expectError(await enter(user.email, PASSWORD), 401, "wrong_credentials");
    expectStatus(await enter(user.email, OTHER_PASSWORD), 200);
    expectError(await reset(token, PASSWORD), 400, "token_invalid");
    expectStatus(await enter(user.email, OTHER_PASSWORD), 200);
  });

  it("stays as it is for a token of nobody, an expired one, and a weak new password [D3-reset-password S5.5-tokens]", async () => {
    const { email } = await service().join();
    expectError(await reset("A".repeat(43)), 400, "token_invalid");
    const token = await mailedToken(email);
    expectError(await reset(token, "passwordpassword"), 400, "weak_password");
    const { dataDirectory } = service();
    const [row] = await querySql(dataDirectory, "SELECT * FROM mail_tokens WHERE hash = ?", hashOf(token));
    const left = Number(row?.["expires_at"]) - Date.now();
    expect(left).toBeLessThanOrEqual(HOUR);
    expect(left).toBeGreaterThan(HOUR - 60_000);
    await runSql(dataDirectory, "UPDATE mail_tokens SET expires_at = ? WHERE hash = ?", Date.now() - 1, hashOf(token));
    expectError(await reset(token), 400, "token_invalid");
    expectStatus(await enter(email, PASSWORD), 200);
  });

  it("of ten uses of one token at once changes with one [S5.5-tokens D3-reset-password]", async () => {
    const { email } = await service().join();
    const token = await mailedToken(email);
    const words = Array.from({ length: 10 }, (_, index) => `${OTHER_PASSWORD} number ${index}`);
    const answers = await Promise.all(words.map((word) => reset(token, word)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
    const winner = words[answers.findIndex(({ status }) => status === 200)];
    expectStatus(await enter(email, String(winner)), 200);
  });
});

describe("a mailed token", () => {
  it("is minted when the mail is sent, from a queue that holds no token, and kept as a hash [D1-mail-tokens D3-mail-from-queue D1-hashes-codes]", async () => {
    const { email } = await service().join();
    const token = await mailedToken(email);
    const { dataDirectory, server } = service();
    const database = await databasePath(dataDirectory);
    const outbox = (await readOutbox(dataDirectory, email)).find(({ text }) => text.includes(token))?.file;
    expect(await filesHolding(dataDirectory, token)).toEqual([outbox]);
    expect((await filesHolding(dataDirectory, hashOf(token))).every((path) => path.startsWith(database))).toBe(true);
    expect(server.printed()).not.toContain(token);
    const columns = await querySql(dataDirectory, "SELECT name FROM pragma_table_info('mail_requests')");
    expect(columns.map(({ name }) => name)).not.toContain("token");
    // The outbox holds live tokens: only the server's own user may look.
    expect((await stat(String(outbox))).mode & 0o077).toBe(0);
    expect((await stat(dirname(String(outbox)))).mode & 0o077).toBe(0);
  });
});

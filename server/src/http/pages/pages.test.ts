/** Pages of a service without a web application: what its mails and its identity provider lead to (decisions §0). */
import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  addAccessCode,
  countRows,
  logInAgain,
  PASSWORD,
  signUpWithPassword,
} from "../../features/auth/accounts.test-kit.ts";
import { mailToken } from "../../features/mail-tokens/mail.test-kit.ts";
import { openTestApp, type TestAnswer, type TestApp } from "../../app.test-kit.ts";

const BASE = "https://coffer.example/base";
const NEW_PASSWORD = "kettle orbit marble twelve";
/** Links of mails lead there, with a token behind the `#`. */
const MAILED = ["verify-email", "reset-password"];
const PAGES = [...MAILED, "forgot-password", "resend-verification", "signup", "auth/callback"];

const open = (environment: Readonly<Record<string, string>> = {}) =>
  openTestApp({ environment: { SERVICE_PUBLIC_URL: BASE, ...environment } });

function send(
  service: TestApp,
  page: string,
  fields: Readonly<Record<string, string>> | string,
  headers: Readonly<Record<string, string>> = { "sec-fetch-site": "same-origin", origin: "null" },
): Promise<TestAnswer> {
  const payload = typeof fields === "string" ? fields : new URLSearchParams(fields).toString();
  return service.ask("POST", `/${page}`, {
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    payload,
  });
}

const digestOf = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`;

async function scriptOf(service: TestApp): Promise<string> {
  const { text } = await service.ask("GET", "/verify-email");
  return /<script>([^]*)<\/script>/.exec(text)?.[1] ?? "";
}

/** What the page's fields hold. */
function fieldsIn({ text }: TestAnswer): Record<string, string> {
  const inputs = [...text.matchAll(/<input ([^>]*)>/g)].map(([, attributes = ""]) => attributes);
  const valueOf = (attributes: string, name: string) => new RegExp(`${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  return Object.fromEntries(inputs.map((input) => [valueOf(input, "name"), valueOf(input, "value")]));
}

describe("every form", () => {
  it.each(["__proto__", "constructor", "note"])("refuses the field %s, which it does not have", async (word) => {
    await using service = await open({ SERVICE_ACCESS_CODES: "off" });
    const fields = `email=a%40example.com&password=${encodeURIComponent(NEW_PASSWORD)}&${word}=x`;
    expect((await send(service, "signup", fields)).status).toBe(400);
    expect(await countRows(service, "accounts")).toBe(0);
  });

  it.each(["name=%ff", "name=%ED%A0%80", "name=a%zz", "name=a%C2%85b"])(
    "refuses %j, which is no name in UTF-8",
    async (pair) => {
      await using service = await open({ SERVICE_ACCESS_CODES: "off" });
      const fields = `email=a%40example.com&password=${encodeURIComponent(NEW_PASSWORD)}&${pair}`;
      expect((await send(service, "signup", fields)).status).toBe(400);
      expect(await countRows(service, "accounts")).toBe(0);
    },
  );
});

describe("every page", () => {
  it.each(PAGES)(
    "%s runs no script but the one for a link's token, loads nothing, says nowhere where it was, and is in nobody's cache [D0-pages-strict]",
    async (page) => {
      await using service = await open();
      const { headers, text } = await service.ask("GET", `/${page}?token=abc&code=def&state=ghi`);
      expect(headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
      });
      const style = /<style>([^]*)<\/style>/.exec(text)?.[1] ?? "";
      expect(headers["content-security-policy"]).toBe(
        `default-src 'none'; script-src ${digestOf(await scriptOf(service))}; style-src ${digestOf(style)}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      );
      const script = `<script>${await scriptOf(service)}</script>`;
      expect(text.includes(script)).toBe(MAILED.includes(page));
      expect(text.replace(script, "")).not.toMatch(/<script|javascript:|\son\w+=|https?:\/\//i);
      expect(text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
      // A link's page differs from the answer's by more than the fragment, or a browser would not load it.
      const actions = [...text.matchAll(/<form [^>]*action="([^"]*)"/g)].map(([, action]) => action);
      const action = `/base/${page}${MAILED.includes(page) ? "?sent" : ""}`;
      expect(actions).toEqual(page === "auth/callback" ? [] : [action]);
    },
  );

  it("is there only where no web application is [D0-pages-address]", async () => {
    await using service = await open({ SERVICE_APP_URL: "https://app.example" });
    for (const page of PAGES) {
      expect((await service.ask("GET", `/${page}`)).status).toBe(404);
      expect((await send(service, page, {})).status).toBe(404);
    }
  });

  it("escapes what the link, the provider and the visitor say [D0-pages-strict]", async () => {
    await using service = await open();
    const attack = `"><script>alert(1)</script>'&`;
    const shown = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;";
    const query = encodeURIComponent(attack);
    const answers = [
      await service.ask("GET", `/signup?code=${query}`),
      await service.ask("GET", `/auth/callback?code=${query}&state=${query}`),
      await send(service, "reset-password", { token: attack, newPassword: "short" }),
      await send(service, "signup", { accessCode: attack, email: attack, password: attack, name: attack }),
    ];
    for (const { text } of answers) {
      expect(text).not.toContain("<script");
      expect(text).toContain(shown);
    }
    const others = [
      await service.ask("GET", `/verify-email?token=${query}`),
      await send(service, "forgot-password", { email: attack, name: attack }),
    ];
    for (const { text } of others) expect(text).not.toContain("alert(1)");
  });
});

describe("a link in a mail", () => {
  it("leads to a page that confirms the address when its button is pressed, not when it is opened [D0-pages-mail S4.2-verify-token-mailed]", async () => {
    await using service = await open();
    const { email, accessToken } = await signUpWithPassword(service);
    const token = await mailToken(service, "verify", email);
    expect(service.mails.at(-1)?.text).toContain(`\n${BASE}/verify-email#token=${token}\n`);
    const isVerified = async () =>
      ((await service.ask("GET", "/api/account", { key: accessToken })).body["account"] as { emailVerified: boolean })
        .emailVerified;
    // Mail scanners open links.
    const page = await service.ask("GET", "/verify-email");
    expect([page.status, await isVerified()]).toEqual([200, false]);
    expect(fieldsIn(page)).toEqual({ token: "" });
    const done = await send(service, "verify-email?sent", { token });
    expect([done.status, await isVerified()]).toEqual([200, true]);
    expect(done.text).toContain("Your address is confirmed");
    expect(done.text).not.toContain(token);
    const again = await send(service, "verify-email", { token });
    expect(again.status).toBe(400);
    expect(again.text).toContain(
      'was used before, or is too old. <a href="/base/resend-verification">Get a new mail.</a>',
    );
  });

  it("leads to a page that sets a new password, and says in words what is wrong with one [D0-pages-mail S4.2-reset-token-mailed]", async () => {
    await using service = await open();
    const { email } = await signUpWithPassword(service);
    const token = await mailToken(service, "reset", email);
    const page = await service.ask("GET", "/reset-password");
    expect(fieldsIn(page)).toEqual({ token: "", newPassword: "" });
    for (const [newPassword, words] of [
      ["short", "A password has 15 to 256 characters."],
      ["passwordpassword", "The password is too easy to guess"],
    ] as const) {
      const refused = await send(service, "reset-password", { token, newPassword });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain(words);
      // The visitor can go on from there, and no password is sent back.
      expect(fieldsIn(refused)).toEqual({ token, newPassword: "" });
    }
    expect((await send(service, "reset-password", { token, newPassword: NEW_PASSWORD })).text).toContain("is set");
    await logInAgain(service, email, NEW_PASSWORD);
    const used = await send(service, "reset-password", { token, newPassword: PASSWORD });
    expect(used.status).toBe(400);
    expect(used.text).toContain('href="/base/forgot-password"');
  });

  it("that was cut is no link, and another mail is to be had [D0-pages-mail]", async () => {
    await using service = await open();
    const { email } = await signUpWithPassword(service);
    for (const page of ["verify-email", "reset-password"]) {
      const fields = fieldsIn(await service.ask("GET", `/${page}`));
      const refused = await send(
        service,
        page,
        "newPassword" in fields ? { ...fields, newPassword: NEW_PASSWORD } : fields,
      );
      expect([refused.status, /does not work/.test(refused.text)]).toEqual([400, true]);
    }
    const before = await countRows(service, "mail_requests");
    for (const page of ["forgot-password", "resend-verification"]) {
      const [known, unknown] = [
        await send(service, page, { email }),
        await send(service, page, { email: "nobody@example.test" }),
      ];
      expect([known.status, known.text]).toEqual([200, unknown.text]);
    }
    expect(await countRows(service, "mail_requests")).toBe(before + 4);
  });
});

describe("the sign-up page", () => {
  it("takes the access code from the link, makes the account, and leaves no session behind [S5.5-code-parameter D0-pages-sign-up]", async () => {
    await using service = await open();
    const code = await addAccessCode(service);
    const page = await service.ask("GET", `/signup?code=${encodeURIComponent(code)}`);
    expect(fieldsIn(page)).toEqual({ accessCode: code, email: "", password: "", name: "" });
    const fields = { ...fieldsIn(page), email: "ada@example.test", password: PASSWORD };
    const done = await send(service, "signup", fields);
    expect([done.status, /Your account is ready/.test(done.text)]).toEqual([200, true]);
    const { accessToken } = await logInAgain(service, "ada@example.test");
    const { sessions } = (await service.ask("GET", "/api/auth/sessions", { key: accessToken })).body;
    expect(sessions).toHaveLength(1);
  });

  it("keeps what was written, but no password, when something is wrong with it", async () => {
    await using service = await open();
    const fields = { accessCode: "nobody's", email: "ada@example.test", password: PASSWORD, name: "Ada & co" };
    const refused = await send(service, "signup", fields);
    expect([
      refused.status,
      /The access code is (?:missing|not valid)[^<]*\. Ask the operator/.test(refused.text),
    ]).toEqual([403, true]);
    expect(fieldsIn(refused)).toEqual({ ...fields, accessCode: "nobody&#39;s", name: "Ada &amp; co", password: "" });
    expect(refused.text).not.toContain(PASSWORD);
    expect((await send(service, "signup", { ...fields, email: "ada" })).text).toContain("That is no e-mail address");
  });

  it("asks for no code where the operator switched them off [D3-access-codes-off]", async () => {
    await using service = await open({ SERVICE_ACCESS_CODES: "off" });
    const page = await service.ask("GET", "/signup?code=abc");
    expect(Object.keys(fieldsIn(page))).toEqual(["email", "password", "name"]);
    expect((await send(service, "signup", { email: "ada@example.test", password: PASSWORD, name: "" })).status).toBe(
      200,
    );
  });
});

describe("the page that an identity provider comes back to", () => {
  it("hands code and state to the program that began the sign-in, and exchanges nothing [D0-pages-return]", async () => {
    await using service = await open();
    const answer = await service.ask(
      "GET",
      "/auth/callback?code=the-code&state=the-state&iss=https%3A%2F%2Fidp.example",
    );
    expect([answer.status, fieldsIn(answer)]).toEqual([200, { "": "the-state" }]);
    expect(answer.text).toContain('value="the-code"');
    for (const table of ["accounts", "sessions"] as const) expect(await countRows(service, table)).toBe(0);
  });

  it.each([
    "error=access_denied&state=s",
    "error=server_error&error_description=%3Cb%3E",
    "code=c",
    "code=a&code=b&state=s",
    "",
  ])("says that it did not work: %s", async (query) => {
    await using service = await open();
    const answer = await service.ask("GET", `/auth/callback?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("Begin it again in the program that you came from.");
    expect(answer.text).not.toContain("<b>");
  });
});

describe("a form", () => {
  it("of another site does nothing [D0-pages-strict]", async () => {
    await using service = await open();
    const { email } = await signUpWithPassword(service);
    const token = await mailToken(service, "reset", email);
    const own = { host: "coffer.example" };
    const foreign = [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { ...own, origin: "https://evil.example" },
      { ...own, origin: "null" },
    ];
    for (const headers of foreign) {
      const refused = await send(service, "reset-password", { token, newPassword: NEW_PASSWORD }, headers);
      expect([refused.status, /Open the page of this service itself/.test(refused.text)]).toEqual([403, true]);
      expect(service.logged()).toContain("form_origin");
    }
    const headers = { ...own, origin: "https://coffer.example" };
    expect((await send(service, "reset-password", { token, newPassword: NEW_PASSWORD }, headers)).status).toBe(200);
  });

  it("counts against the limit of its operation, and says how long to wait", async () => {
    await using service = await open({ SERVICE_RATE_MAIL: "2" });
    await service.ask("POST", "/api/auth/forgot-password", { json: { email: "a@example.test" } });
    expect((await send(service, "forgot-password", { email: "a@example.test" })).status).toBe(200);
    const refused = await send(service, "resend-verification", { email: "a@example.test" });
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "450"]);
    expect(refused.text).toContain("Too many tries. Wait 450 seconds, then try again.");
  });

  it("is small, of its own media type, and has each field once", async () => {
    await using service = await open();
    const statusOf = async (fields: string, headers = {}) =>
      (await send(service, "verify-email", fields, { "sec-fetch-site": "same-origin", ...headers })).status;
    expect(await statusOf(`token=${"a".repeat(16 * 1024)}`)).toBe(413);
    expect(await statusOf('{"token":"a"}', { "content-type": "application/json" })).toBe(415);
    expect(await statusOf("token=a&token=b")).toBe(400);
    expect(await statusOf("__proto__=a&constructor=b")).toBe(400);
    expect(await statusOf("")).toBe(400);
    expect((await service.ask("POST", "/verify-email")).status).toBe(415);
  });
});

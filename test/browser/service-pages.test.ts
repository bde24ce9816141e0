/** The service's own pages in a real browser, on a phone, with and without scripts: from a sign-up to a new password (decisions §0). */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freshEmail } from "../journeys/kit/account.ts";
import { expectStatus } from "../journeys/kit/answers.ts";
import { send } from "../journeys/kit/http.ts";
import { logIn, makeAccessCode, OTHER_PASSWORD, PASSWORD } from "../journeys/kit/identity.ts";
import { readMailedToken, readOutbox } from "../journeys/kit/outbox.ts";
import { startServerProcess, type ServerProcess } from "../journeys/kit/server-process.ts";
import { makeDirectory } from "../kit/directory.ts";
import { findSteadyPort } from "../kit/steady-port.ts";
import { type Chromium, findChromium, requireChromium, startChromium } from "./chromium.ts";
import { openPlainTab, type PlainTab } from "./plain-tab.ts";
import { openRelay } from "./relay.ts";

const cleanup = new AsyncDisposableStack();
let variables: Readonly<Record<string, string>> & { readonly SERVICE_DATA_DIR: string };
let server: ServerProcess;
let chromium: Chromium;

beforeAll(async () => {
  const program = findChromium();
  if (program === null) return;
  const directory = makeDirectory();
  // Links are written with the port that the server was told of.
  const port = String(await findSteadyPort());
  variables = { SERVICE_ENV: "development", SERVICE_DATA_DIR: directory, SERVICE_PORT: port };
  server = cleanup.use(await startServerProcess(variables));
  const relay = cleanup.use(await openRelay([server.baseUrl]));
  chromium = cleanup.use(await startChromium(program, relay.url));
});
afterAll(() => cleanup.disposeAsync(), 60_000);

/** What the page says, without tags; and a picture of it where the environment names a directory. */
async function read(tab: PlainTab, name: string): Promise<string> {
  const directory = process.env["COFFER_SCREENSHOTS"] ?? "";
  if (directory !== "") await writeFile(join(directory, `${name}.png`), await tab.screenshot());
  expect(await tab.contentWidth()).toBeLessThanOrEqual(tab.width);
  const document = await tab.document();
  return (/<main>([^]*)<\/main>/.exec(document)?.[1] ?? document).replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
}

/** The address in the newest mail to somebody. */
async function linkIn(email: string, page: string): Promise<string> {
  const mails = await readOutbox(variables.SERVICE_DATA_DIR, email);
  const links = mails.map(({ text }) => new RegExp(`^\\S+/${page}#token=\\S+$`, "m").exec(text)?.[0]);
  return links.findLast((link) => link !== undefined) ?? "";
}

it.for([
  ["the link brings the token, and the address no longer shows it", true],
  ["without scripts the token of the mail is typed in", false],
] as const)(
  "sign up, confirm, and set a new password, with no trace of a token in what they ask for: %s [D0-pages-sign-up D0-pages-mail D0-pages-strict S5.5-code-parameter]",
  async ([, runsScripts], context) => {
    requireChromium(context);
    const tab = await openPlainTab(chromium, { runsScripts });
    const tokens: string[] = [];
    const openLink = async (link: string): Promise<void> => {
      const [page = "", token = ""] = link.split("#token=");
      tokens.push(token);
      await tab.goTo(link);
      expect(await tab.address()).toBe(runsScripts ? page : link);
      if (!runsScripts) await tab.type("token", token);
    };

    const email = freshEmail();
    const code = await makeAccessCode(variables);
    await tab.goTo(`${server.baseUrl}/signup?code=${encodeURIComponent(code)}`);
    expect(await read(tab, "sign-up")).toContain("Make an account");
    await tab.type("email", email);
    await tab.type("password", "too short");
    await tab.pressOn("button");
    expect(await read(tab, "sign-up-refused")).toContain("A password has 15 to 256 characters.");
    await tab.type("password", PASSWORD);
    await tab.pressOn("button");
    expect(await read(tab, "signed-up")).toContain("Your account is ready");

    await readMailedToken(variables.SERVICE_DATA_DIR, email, "verify");
    const verify = await linkIn(email, "verify-email");
    expect(verify).toMatch(new RegExp(`^${server.baseUrl}/verify-email`));
    await openLink(verify);
    expect(await read(tab, "verify")).toContain("Confirm that this address is yours.");
    await tab.pressOn("button");
    expect(await read(tab, "verified")).toContain("Your address is confirmed");
    // From a page that differs by no more than the fragment.
    await openLink(verify);
    await tab.pressOn("button");
    expect(await read(tab, "verify-again")).toContain("This link does not work");

    await tab.goTo(`${server.baseUrl}/forgot-password`);
    await tab.type("email", email);
    await tab.pressOn('[name="email"]');
    expect(await read(tab, "forgot")).toContain("Look into your mailbox");
    await readMailedToken(variables.SERVICE_DATA_DIR, email, "reset");
    await openLink(await linkIn(email, "reset-password"));
    await tab.type("newPassword", OTHER_PASSWORD);
    expect(await read(tab, "reset")).toContain("every session ends");
    await tab.pressOn("button");
    expect(await read(tab, "reset-done")).toContain("Your new password is set");
    expectStatus(await logIn(server.baseUrl, email, OTHER_PASSWORD), 200);

    expect(tab.requests).toHaveLength(11);
    for (const { url, headers } of tab.requests) {
      expect(new URL(url).origin).toBe(server.baseUrl);
      for (const token of tokens) expect(url).not.toContain(token);
      expect(Object.keys(headers).map((name) => name.toLowerCase())).not.toContain("referer");
    }
    expect(tab.complaints.filter((text) => !text.includes("status of 400"))).toEqual([]);
  },
);

it("an identity provider's return is shown for the program that began it [D0-pages-return]", async (context) => {
  requireChromium(context);
  const tab = await openPlainTab(chromium, { runsScripts: true });
  await tab.goTo(`${server.baseUrl}/auth/callback?code=${"c".repeat(200)}&state=${"s".repeat(43)}`);
  expect(await read(tab, "returned")).toContain("Go back to the program");
  expectStatus(await send(server.baseUrl, "/auth/callback?error=access_denied"), 400);
});

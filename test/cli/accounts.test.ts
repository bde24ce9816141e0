/** Accounts by the program itself, at a real service: signing in on another device, a chain address, what is paid for. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { openLocalnet, type Localnet } from "@coffer/localnet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCofferUser, type CofferUser } from "../journeys/kit/coffer.ts";
import { PASSWORD } from "../journeys/kit/identity.ts";
import { readMailedToken } from "../journeys/kit/outbox.ts";
import { delivery, PAYMENT_SECRET } from "../journeys/kit/payments.ts";
import { useService } from "../journeys/kit/service.ts";
import { COFFER } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openLocalProvider, type LocalProvider, type ProviderUser } from "../kit/identity-provider.ts";

const APP_URL = "http://localhost:3000";
const scratch = makeDirectory();
const networkFile = join(scratch, "network.json");
let provider: LocalProvider;
let localnet: Localnet;

beforeAll(async () => {
  provider = await openLocalProvider({ redirectUri: `${APP_URL}/auth/callback` });
  localnet = await openLocalnet();
  await localnet.listen();
  await writeFile(networkFile, JSON.stringify(localnet.network()));
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await localnet.close();
});

const service = useService(() => ({
  SERVICE_APP_URL: APP_URL,
  SERVICE_PROVER: "development",
  SERVICE_PAYMENT_SECRET: PAYMENT_SECRET,
  SERVICE_IDP_ISSUER: provider.issuer,
  SERVICE_IDP_CLIENT_ID: provider.clientId,
  SERVICE_IDP_CLIENT_SECRET: String(provider.clientSecret),
}));

const newUser = (): Promise<CofferUser> =>
  openCofferUser(scratch, { SERVICE_BASE_URL: service().server.baseUrl, SERVICE_NETWORK_FILE: networkFile });

/** What the browser of another device ends at, for the address that was shown. */
async function signedInElsewhere(shown: string, user: ProviderUser): Promise<string> {
  const { code, state } = await provider.signIn(/^ +(http\S+)/m.exec(shown)?.[1] ?? "", user);
  return `${provider.redirectUri}?${new URLSearchParams({ code, state }).toString()}`;
}

/** Piped: the address is read from standard error, and what the browser ended at goes to standard input. */
async function logInPiped({ env }: CofferUser, words: readonly string[], user: ProviderUser) {
  const [command, ...args] = COFFER;
  const child = spawn(command, [...args, "login", ...words, "--json"], { env: { ...env } });
  const ended = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 130)));
  const out = text(child.stdout);
  let err = "";
  for await (const piece of child.stderr.setEncoding("utf8")) {
    err += String(piece);
    if (err.includes("Then paste")) child.stdin.end(await signedInElsewhere(err, user));
  }
  return { code: await ended, out: await out, err };
}

describe("login on another device [issue 19]", () => {
  const someone = (): ProviderUser => {
    const sub = crypto.randomUUID();
    return { sub, email: `${sub}@example.com`, emailVerified: true };
  };

  it.each(["--zklogin", "--provider"])("%s, piped and at a terminal, is the same account", async (way) => {
    const user = someone();
    const accessCode = await service().accessCode();
    const coffer = await newUser();
    const refused = await logInPiped(coffer, [way], user);
    expect([refused.code, refused.out]).toEqual([6, expect.stringContaining("access_code_invalid")]);
    const { code, out, err } = await logInPiped(coffer, [way, "--access-code", accessCode], user);
    expect([code, err], out).toEqual([0, expect.stringContaining("Open this address on any device")]);
    expect(out).toMatch(way === "--zklogin" ? /"chainAddress":"0x[0-9a-f]{64}"/ : /"chainAddress":null/);
    const { account } = (await coffer.document("whoami")) as { account: { email: string; chainAddressSource: string } };
    expect(account).toMatchObject({
      email: user.email,
      chainAddressSource: way === "--zklogin" ? "zklogin" : null,
    });
    expect(await coffer.document("logout")).toMatchObject({ ended: true });
    const typed = await coffer.type(
      ["login", way],
      [{ after: "Address: ", types: async (screen) => `${await signedInElsewhere(screen, user)}\r` }],
    );
    expect([typed.code, typed.screen]).toEqual([0, expect.stringContaining("Signed in.")]);
    expect(typed.screen + out + err).not.toMatch(/eyJ/);
    expect(await coffer.document("whoami")).toMatchObject({ account: { email: user.email } });
  });

  it("refuses an address of another sign-in, and one without a code", async () => {
    const coffer = await newUser();
    for (const pasted of [`${APP_URL}/auth/callback?code=x&state=y`, "nonsense"]) {
      const { code, err } = await coffer.run(["login", "--provider"], { input: `${pasted}\n` });
      expect([code, err]).toEqual([2, expect.stringMatching(/^error: That address .*\nnext: run it again/m)]);
    }
  });
});

/** An account by e-mail and password, signed in. */
async function newAccount(): Promise<CofferUser & { readonly email: string }> {
  const coffer = await newUser();
  const email = `${crypto.randomUUID()}@example.com`;
  const words = ["signup", "--email", email, "--password-stdin", "--no-chain-key", "--json"];
  const made = await coffer.run([...words, "--access-code", await service().accessCode()], { input: PASSWORD });
  expect(made).toMatchObject({ code: 0 });
  return { ...coffer, email };
}

describe("the account [issue 19]", () => {
  it("links the chain address of this machine, and no other's", async () => {
    const coffer = await newAccount();
    const without = await coffer.run(["account", "link-chain"]);
    expect([without.code, without.err]).toEqual([
      4,
      expect.stringMatching(/^next: coffer chain import, or coffer chain generate/m),
    ]);
    const { chainAddress } = await coffer.document("chain", "generate");
    const other = await coffer.run(["account", "link-chain", `0x${"1".repeat(64)}`]);
    expect([other.code, other.err]).toEqual([2, expect.stringContaining(String(chainAddress))]);
    const { code, screen } = await coffer.type(["account", "link-chain", String(chainAddress)]);
    expect([code, screen]).toEqual([0, expect.stringContaining(`Linked ${String(chainAddress)}.`)]);
    expect(await coffer.document("account", "link-chain")).toMatchObject({
      account: { chainAddress, chainAddressSource: "external" },
    });
    // Another account cannot take it.
    const thief = await newAccount();
    const taken = await thief.run(["account", "link-chain"], {
      env: { SERVICE_CHAIN_PRIVATE_KEY: await backedUp(coffer) },
    });
    expect([taken.code, taken.out]).toEqual([7, ""]);
  });

  it("pays for a plan at the provider's address once its e-mail is confirmed, and gives it up", async () => {
    const coffer = await newAccount();
    const checkout = ["billing", "checkout", "--plan", "pro"];
    const early = await coffer.run(checkout);
    expect([early.code, early.err]).toEqual([6, expect.stringMatching(/^next: coffer email resend/m)]);
    const token = await readMailedToken(service().dataDirectory, coffer.email, "verify");
    expect((await coffer.run(["email", "verify", token])).code).toBe(0);
    const { url } = await coffer.document(...checkout);
    expect(URL.canParse(String(url))).toBe(true);
    expect((await coffer.type(checkout)).screen).toMatch(/^http\S+\r?\n$/);
    const { account } = (await coffer.document("whoami")) as { account: { id: string } };
    const event = {
      kind: "subscription.active",
      accountId: account.id,
      plan: "pro",
      reference: `sub-${account.id}`,
      occurredAt: new Date().toISOString(),
    };
    expect((await service().ask("POST", "/api/billing/events", delivery(event))).status).toBe(204);
    expect((await coffer.type(["billing", "show"])).screen).toMatch(/plan +pro\r?\nsubscription +pro, active, since/);
    expect(await coffer.document("billing", "plan", "free")).toMatchObject({
      billing: { subscription: { plan: "pro" } },
    });
    expect(await coffer.run(["billing", "plan", "gold"])).toMatchObject({ code: 2 });
  });
});

async function backedUp(coffer: CofferUser): Promise<string> {
  const { screen } = await coffer.type(["chain", "backup", "--reveal"]);
  return screen.trim();
}

/** The SDK in a real browser: a page of another origin, under a strict policy, against a server and a local chain over loopback. */
import { chainKeySigner, createClient, type Client, type ReceivedEvent } from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sha256Of } from "../kit/bytes.ts";
import { openSharedStack, type SharedStack } from "../kit/shared-stack.ts";
import { findChromium, requireChromium } from "./chromium.ts";
import { noteSecrets } from "./noted-secrets.ts";
import { openPage, type OpenPage } from "./page.ts";
import type { Act, BodyKind, Got, Refusal, Stored } from "./pages/life.ts";
import type { RuntimeFacts } from "./pages/runtime-facts.ts";
import type { WatchedSecrets } from "./pages/watched-secrets.ts";

const MIB = 1024 * 1024;
const KINDS: readonly BodyKind[] = ["Uint8Array", "Blob", "File", "ReadableStream", "string"];

interface Keys {
  readonly apiKey: string;
  readonly privateKey: string;
}

let page: OpenPage;
let stack: SharedStack;
let owner: Keys;
let vaultId: string;
/** A public one. */
let openVaultId: string;
/** The page's owner on Node, where nothing is remembered. */
let onNode: Client;

beforeAll(async () => {
  if (findChromium() === null) return;
  page = await openPage("life", async (origin) => {
    stack = await openSharedStack({ environment: { SERVICE_CORS_ORIGINS: origin } });
    return [stack.baseUrl, onLocalhost(), stack.network.grpcUrl];
  });
  owner = await ask("signUp", { who: "owner", apiKey: await newKey(), ...place() });
  vaultId = await ask("createVault", { who: "owner", name: "what a page shares" });
  const signer = await chainKeySigner(owner.privateKey);
  const credentials = { apiKey: owner.apiKey };
  onNode = createClient({
    baseUrl: stack.baseUrl,
    credentials,
    sharedVaults: sharedVaults({ signer, network: stack.network }),
  });
  openVaultId = (await onNode.vaults.create({ name: "what everybody may see", type: "public" })).id;
});

afterAll(async () => {
  // Where they have come to be: without a browser there are none.
  const opened: readonly (AsyncDisposable | undefined)[] = [page, stack];
  for (const each of opened) await each?.[Symbol.asyncDispose]();
});

/** The service under the page's own host name, at another port. */
function onLocalhost(): string {
  return stack.baseUrl.replace("127.0.0.1", "localhost");
}

async function newKey(): Promise<string> {
  const visitor = createClient({ baseUrl: stack.baseUrl });
  return (await visitor.development.signup({ email: `${crypto.randomUUID()}@example.com` })).apiKey;
}

function place() {
  return { baseUrl: stack.baseUrl, network: stack.network };
}

function ask<Answer>(act: Act, input: object = {}): Promise<Answer> {
  return page.run<Answer>({ act, ...input });
}

/** `partBytes`: of a resumable upload, where that is to be one below 8 MiB too. */
function upload(kind: BodyKind, size: number, name: string, how: object = { vaultId }): Promise<Stored> {
  return ask<Stored>("upload", { who: "owner", ...how, kind, size, name });
}

describe("a shared vault in a page", () => {
  it("takes whatever a page has bytes in, and gives it back, to the page and to Node", async (context) => {
    requireChromium(context);
    for (const kind of KINDS) {
      const name = `what was given as a ${kind}.bin`;
      const stored = await upload(kind, 100_000, name);
      expect(stored, kind).toMatchObject({ bytes: 100_000, sha256: stored.expected });
      const got = await ask<Got>("download", { who: "owner", fileId: stored.id });
      expect(got).toEqual({ name, size: 100_000, length: 100_000, sha256: stored.expected });
      expect(sha256Of(await (await onNode.files.download(stored.id)).bytes()), kind).toBe(stored.expected);
    }
    const body = Buffer.from("what Node wrote is read in a page");
    const { file } = await onNode.files.upload({ vaultId, name: "written on Node.bin", body });
    expect((await ask<Got>("download", { who: "owner", fileId: file.id })).sha256).toBe(sha256Of(body));
    const names = [...KINDS.map((kind) => `what was given as a ${kind}.bin`), "written on Node.bin"];
    expect(await ask("names", { who: "owner", vaultId })).toEqual(names.sort());
  });

  it("sends what is large in parts, goes on after a lost connection both ways, and reads ranges", async (context) => {
    requireChromium(context);
    const size = 9 * MIB + 5;
    page.relay.cutAfter("up", 5 * MIB);
    const stored = await upload("Blob", size, "a large one, cut off.bin");
    expect([page.relay.cuts, stored.bytes, stored.sha256]).toEqual([1, size, stored.expected]);
    page.relay.cutAfter("down", 3 * MIB);
    const got = await ask<Got>("download", { who: "owner", fileId: stored.id });
    expect([page.relay.cuts, got.length, got.sha256]).toEqual([2, size, stored.expected]);
    const bytes = await (await onNode.files.download(stored.id)).bytes();
    expect(sha256Of(bytes)).toBe(stored.expected);
    const range = { offset: 8 * MIB - 100, length: 70_000 };
    const part = await ask<Got>("download", { who: "owner", fileId: stored.id, range });
    expect(part.sha256).toBe(sha256Of(bytes.subarray(range.offset, range.offset + range.length)));
  });

  it("takes a large stream whose size is said, and refuses in words one that nobody knows the end of", async (context) => {
    requireChromium(context);
    const stored = await upload("ReadableStream", 5 * MIB, "a large stream.bin", { vaultId, partBytes: 2 * MIB });
    expect(stored.sha256).toBe(stored.expected);
    for (const where of [vaultId, openVaultId]) {
      const refusal = await ask<Refusal>("refuseEndless", { who: "owner", vaultId: where });
      expect(refusal).toEqual({ code: "invalid_request", text: expect.stringContaining("size") });
    }
  });

  it("opens to an agent that was added by its invite, and closes to it again, each time for the named cause", async (context) => {
    requireChromium(context);
    const before = await upload("Blob", 5_000, "written before it came.bin");
    const text = await ask<string>("invite", { who: "owner", vaultId });
    const address = await ask<string>("redeem", { who: "agent", text, ...place() });
    const read = (fileId: string) => ask<Refusal>("refusal", { who: "agent", fileId });
    expect((await read(before.id)).code).toBe("not_a_member");
    expect(await ask("addMember", { who: "owner", vaultId, invite: text })).toBe(address);
    expect((await ask<Got>("download", { who: "agent", fileId: before.id })).sha256).toBe(before.expected);
    const theirs = await ask<Stored>("upload", {
      who: "agent",
      vaultId,
      kind: "Blob",
      size: 5_000,
      name: "of the agent.bin",
    });
    expect((await ask<Got>("download", { who: "owner", fileId: theirs.id })).sha256).toBe(theirs.expected);
    await ask("removeMember", { who: "owner", vaultId, address });
    const after = await upload("Blob", 5_000, "written after it went.bin");
    expect((await read(after.id)).code).toBe("not_a_member");
  });

  it("says why it opens or not, from headers and answers of every server that is asked", async (context) => {
    requireChromium(context);
    const ok = { state: "ok" };
    expect(await ask("checkAccess", { who: "owner", vaultId })).toMatchObject({
      api: ok,
      chain: ok,
      keyServers: ok,
      clock: ok,
      key: ok,
    });
    expect((await ask<Refusal>("missing", { who: "owner" })).code).toBe("not_found");
  });
});

describe("the rest of the SDK in a page", () => {
  it("public vaults, in one request and in parts", async (context) => {
    requireChromium(context);
    for (const [kind, size] of [
      ["File", 70_000],
      ["Blob", 3 * MIB],
    ] as const) {
      const stored = await upload(kind, size, `in the clear as a ${kind}`, { vaultId: openVaultId, partBytes: MIB });
      expect(stored).toMatchObject({ bytes: size, sha256: stored.expected });
      const got = await ask<Got>("download", { who: "owner", fileId: stored.id });
      expect([got.length, got.sha256]).toEqual([size, stored.expected]);
    }
  });

  it("follows events, verifies the audit log and webhooks", async (context) => {
    requireChromium(context);
    const events = await ask<readonly ReceivedEvent[]>("events", { who: "owner", after: 0, count: 4 });
    const sequences = events.map(({ data }) => data.sequence);
    expect(sequences).toHaveLength(4);
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    expect(await ask("audit", { who: "owner" })).toMatchObject({ fault: null });
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const body = JSON.stringify(events[0]);
    const signature = new Webhook(secret).sign("msg_1", new Date(), body);
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
      "webhook-signature": signature,
    };
    expect(await ask("verify", { body, headers, secret })).toEqual({ code: null, text: "" });
    expect(await ask("verify", { body: `${body} `, headers, secret })).toMatchObject({
      code: "WebhookVerificationError",
    });
  });

  it("a whole life in a dedicated worker", async (context) => {
    requireChromium(context);
    const done = await ask<{ stored: Stored; got: Got; facts: RuntimeFacts; secrets: WatchedSecrets }>("wholeLife", {
      apiKey: await newKey(),
      where: "worker",
      names: ["a vault of one worker", "made by one worker.bin"],
      ...place(),
    });
    expect(done.facts).toMatchObject({ isWorker: true, violations: [], runsText: false });
    expect([done.stored.sha256, done.got.sha256]).toEqual([done.stored.expected, done.stored.expected]);
    expect(noteSecrets(done.secrets)).toMatchObject({ key: expect.any(Number), name: 1 });
  });
});

describe("between origins", () => {
  it("a page of an origin that the operator has not named gets no answer, whatever key it holds", async (context) => {
    requireChromium(context);
    const elsewhere = await page.openElsewhere(page.site.origin.replace("localhost", "127.0.0.1"));
    const input = { act: "account", baseUrl: stack.baseUrl, apiKey: owner.apiKey };
    const refusal = await elsewhere<Refusal>(input);
    expect(refusal).toMatchObject({ code: "connection_failed" });
    // It names what to look at, since the browser does not tell the page.
    for (const cause of ["SERVICE_CORS_ORIGINS", "connect-src"]) expect(refusal.text).toContain(cause);
    expect(await page.run<Refusal>(input)).toEqual({ code: null, text: "" });
  });
});

it("a page of a named origin acts as nobody and signs nobody up without a credential [issue 53]", async (context) => {
  requireChromium(context);
  // Also where both are of one host, as two ports of a developer's machine are.
  for (const baseUrl of [stack.baseUrl, onLocalhost()]) {
    const refusals = await ask<Refusal[]>("withoutCredential", { ...place(), baseUrl });
    expect(refusals.map(({ code }) => code)).toEqual(["development_origin", "development_origin"]);
  }
});

describe("the browser", () => {
  it("had its own cryptography used, no text run as code, no cookie, and nobody else asked", async (context) => {
    requireChromium(context);
    const facts = await ask<RuntimeFacts>("facts");
    expect(facts).toMatchObject({
      isWorker: false,
      violations: [],
      isSecureContext: true,
      hasSharedMemory: false,
      runsText: false,
      hasBuffer: false,
      hasProcess: false,
      cookies: "",
    });
    expect(facts.calls).toMatchObject({
      "encrypt AES-GCM": expect.any(Number),
      "decrypt AES-GCM": expect.any(Number),
      "sign Ed25519": expect.any(Number),
      "verify Ed25519": expect.any(Number),
    });
    // One tells whether the browser has it; the others are what Node signed: a file's statements have one signature together.
    expect(facts.calls["verify Ed25519"]).toBeGreaterThan(1);
    const { complaints, relay } = page;
    expect(complaints.filter((text) => !BY_ITSELF.test(text))).toEqual([]);
    expect(relay.refused.filter((at) => !/\.(google|googleapis|gstatic)\.com:\d+$/.test(at))).toEqual([]);
    expect(page.site.modules.filter((path) => /^node:|\/src\/node\//.test(path))).toEqual([]);
  });

  it("sent none of its secrets: the scan of this file knows them", async (context) => {
    requireChromium(context);
    const { content, key, name } = noteSecrets(await ask<WatchedSecrets>("secrets"));
    expect(content).toBeGreaterThan(500);
    expect(key).toBeGreaterThan(10);
    expect(name).toBeGreaterThan(8);
  });
});

/** What Chromium writes to its console by itself: answers that are no success, and connections that were cut. */
const BY_ITSELF = /^Failed to load resource: (the server responded with a status of 4\d\d|net::ERR_)/;

/**
 * All tools, with success and with failures of a service that repeats the key of its caller in every encoding, over stdio
 * and HTTP. No key, code or secret, and no text of a shared vault, is in anything that the tool server wrote.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { startStack, type Stack } from "@coffer/devstack";
import { TOOLS } from "@coffer/mcp";
import { createClient, Secret as Hidden, type Client } from "@coffer/sdk";
import { writeConfig } from "@coffer/sdk/node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { openEchoingProxy, type EchoingProxy, type EchoMode } from "../kit/echoing-proxy.ts";
import { spawnShell, type SpawnedShell } from "../kit/mcp-http.ts";
import { ENVELOPE, openRawTools, type RawTools } from "../kit/raw-tools.ts";
import { findSecrets, readPlaces, type Place, type Secret } from "../kit/secret-scan.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const CANARY = "canary: the fourth of June, 48.2082 N, 16.3738 E, at the old mill";

let stack: Stack;
let owner: Client;
let proxy: EchoingProxy;
let stdio: RawTools;
let shell: SpawnedShell;
let sharedId: string;
let publicId: string;
let secretId: string;
let fileId: string;
let settings: { apiKey: string; chainPrivateKey: string };
const folder = makeDirectory();
const configuration = makeDirectory();
/** Bodies of answers over HTTP. */
const bodies: string[] = [];

beforeAll(async () => {
  stack = await startStack();
  const { baseUrl, sharedVaults } = stack;
  const saved = JSON.parse(await readFile(stack.credentialsFile, "utf8")) as { profiles: { default: typeof settings } };
  settings = saved.profiles.default;
  owner = createClient({ baseUrl, credentials: { apiKey: stack.apiKey }, sharedVaults });
  publicId = (await owner.vaults.create({ name: "Open", type: "public" })).id;
  sharedId = (await owner.vaults.create({ name: "Closed", type: "shared" })).id;
  const body = new TextEncoder().encode(CANARY);
  secretId = (await owner.files.upload({ vaultId: sharedId, name: "secret.txt", body })).file.id;
  fileId = (await owner.files.upload({ vaultId: publicId, name: "plain.txt", contentType: "text/plain", body: "p" }))
    .file.id;
  await writeFile(join(folder, "local.txt"), CANARY);
  await mkdir(join(configuration, "stdio"));
  proxy = await openEchoingProxy(baseUrl);
  stdio = await openRawTools({
    environment: {
      SERVICE_BASE_URL: proxy.baseUrl,
      SERVICE_API_KEY: stack.apiKey,
      SERVICE_NETWORK_FILE: stack.networkFile,
      SERVICE_CHAIN_PRIVATE_KEY: settings.chainPrivateKey,
      SERVICE_CONFIG_DIR: join(configuration, "stdio"),
    },
    flags: ["--profile", "owner", "--confirm", "token", "--allow", folder],
  });
  shell = await spawnShell({ SERVICE_BASE_URL: proxy.baseUrl, SERVICE_CONFIG_DIR: join(configuration, "http") }, [
    "--profile",
    "owner",
    "--confirm",
    "token",
  ]);
});

afterAll(async () => {
  await stdio[Symbol.asyncDispose]();
  await shell.stop();
  await proxy[Symbol.asyncDispose]();
  await stack.close();
});

type Args = Readonly<Record<string, unknown>>;

/** Calls that succeed, and calls that fail by themselves: an unknown id, a wrong argument. */
function calls(): readonly (readonly [string, Args])[] {
  const absent = "0b6d5e0e-6a3b-4f0f-9e0a-1c2d3e4f5a6b";
  const good: Readonly<Record<string, readonly Args[]>> = {
    status_check: [{}],
    vault_list: [{}, { vaultId: sharedId }],
    vault_access_check: [{ vaultId: sharedId }],
    file_list: [{ vaultId: sharedId }, { vaultId: publicId }],
    file_search: [{ query: "secret" }],
    file_get: [{ files: [secretId] }, { files: [fileId] }],
    file_read: [{ file: secretId }, { file: fileId }],
    file_download: [{ files: [secretId], dest: "got.txt", ifExists: "replace" }],
    file_verify: [{ file: secretId }, { file: secretId, path: "local.txt" }],
    change_list: [{ vaultId: sharedId }, {}],
    transfer_get: [{ transferId: "none" }],
    transfer_cancel: [{ transferId: "none" }],
    file_upload: [{ paths: ["local.txt"], vaultId: sharedId, ifExists: "version" }],
    file_write: [
      { name: "note.txt", text: "note", vaultId: sharedId, ifExists: "version" },
      { name: "note.txt", text: "more", vaultId: sharedId, append: true },
      { name: "note.txt", vaultId: sharedId, replace: { find: "note", replacement: "word" } },
    ],
    file_move: [{ files: ["note.txt"], vaultId: sharedId, to: "Notes" }],
    file_delete: [{ files: ["Notes"], vaultId: sharedId }],
    file_restore: [{ files: [absent] }],
    vault_create: [{ name: "Made", type: "public" }],
    access_list: [{ vaultId: sharedId }, {}],
    access_grant: [{ name: "bot", vaultIds: [publicId], until: "3d" }],
    access_revoke: [{ who: absent }],
    webhook_set: [{ url: "https://receiver.example/hook?token=hidden-in-the-address" }],
    webhook_list: [{}],
    webhook_send: [{ webhookId: absent }],
    webhook_delete: [{ webhookId: absent }],
    audit_list: [{}, { verify: true }],
  };
  expect(Object.keys(good).toSorted()).toEqual(TOOLS.map(({ name }) => name).toSorted());
  return Object.entries(good).flatMap(([tool, given]) => [
    ...given.map((args) => [tool, args] as const),
    [tool, { vaultId: stack.apiKey, surprise: stack.apiKey }] as const,
  ]);
}

type Caller = (tool: string, args: Args) => Promise<{ structuredContent?: { error?: { confirm?: string } } }>;

async function callAll(call: Caller, isOneByOne: boolean): Promise<void> {
  const both = async ([tool, args]: readonly [string, Args]): Promise<void> => {
    const answer = await call(tool, args);
    const confirm = answer.structuredContent?.error?.confirm;
    if (confirm !== undefined) await call(tool, { ...args, confirm });
  };
  // A key has 16 calls at once.
  const step = isOneByOne ? 1 : 12;
  const all = calls();
  for (let at = 0; at < all.length; at += step) await Promise.all(all.slice(at, at + step).map(both));
}

/** Of a web session. No service knows them. */
const SESSION = {
  accessToken: [
    "eyJhbGciOiJIUzI1NiJ9",
    randomBytes(60).toString("base64url"),
    randomBytes(32).toString("base64url"),
  ].join("."),
  refreshToken: randomBytes(32).toString("base64url"),
};

/** A client of the 2026 era; of a web session unless the service is honest. */
async function openModern(mode: EchoMode): Promise<RawTools> {
  const directory = join(configuration, "modern");
  await mkdir(directory, { recursive: true });
  const { chainPrivateKey } = settings;
  const session = {
    accessToken: new Hidden(SESSION.accessToken),
    refreshToken: new Hidden(SESSION.refreshToken),
    expiresAt: Date.now() + 1e9,
    presented: false,
  };
  const credentials = mode === null ? { apiKey: new Hidden(stack.apiKey), session: null } : { apiKey: null, session };
  const profile = {
    baseUrl: proxy.baseUrl,
    chainPrivateKey: new Hidden(chainPrivateKey),
    networkFile: stack.networkFile,
    ...credentials,
  };
  await writeConfig({ profiles: { default: profile } }, join(directory, "config.json"));
  return await openRawTools({
    environment: { SERVICE_CONFIG_DIR: directory },
    flags: ["--profile", "owner", "--confirm", "token", "--allow", folder],
    era: "2026",
  });
}

/** A caller over HTTP of the 2026 era. */
const modernHttp: Caller = async (name, args) => {
  const params = { name, arguments: args, _meta: ENVELOPE };
  const answer = await fetch(shell.url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${stack.apiKey}`,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return await resultIn(answer);
};

async function resultIn(answer: Response): ReturnType<Caller> {
  const text = await answer.text();
  // The shell asks now and then whose key it is: 503 where only an honest service would tell.
  if (proxy.mode === null || answer.status !== 503) expect(answer.status).toBeLessThan(429);
  bodies.push(text, JSON.stringify([...answer.headers]));
  const data = /^data: (\{.*\})$/m.exec(text)?.[1] ?? (text.startsWith("{") ? text : undefined);
  return data === undefined ? {} : ((JSON.parse(data) as { result?: object }).result ?? {});
}

async function openHttp(): Promise<Caller> {
  let next = 0;
  const post = async (body: object, id: string): Promise<Response> =>
    await fetch(shell.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${stack.apiKey}`,
        "mcp-protocol-version": "2025-11-25",
        ...(id === "" ? {} : { "mcp-session-id": id }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: (next += 1), ...body }),
    });
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const opened = await post({ method: "initialize", params }, "");
  const id = opened.headers.get("mcp-session-id") ?? "";
  bodies.push(await opened.text());
  return async (name, args) => {
    return await resultIn(await post({ method: "tools/call", params: { name, arguments: args } }, id));
  };
}

/** Codes and secrets that were handed out to the user while the tools ran. */
async function handedOut(): Promise<Secret[]> {
  const directory = join(configuration, "stdio", "handed-out");
  const names = await readdir(directory);
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
  return texts.flatMap((text) =>
    [...text.matchAll(/(cofi_\w+|whsec_[\w+/=]+)/g)].map(([code]) => ({ kind: "handed out", text: code })),
  );
}

async function places(modern: RawTools): Promise<Place[]> {
  const kept = await readPlaces(configuration, (path) => !/handed-out|config\.json|sessions\.table/.test(path));
  return [
    { name: "stdout of 2026", bytes: Buffer.from(modern.stdout()) },
    { name: "stderr of 2026", bytes: Buffer.from(modern.stderr()) },
    { name: "stdout", bytes: Buffer.from(stdio.stdout()) },
    { name: "stderr", bytes: Buffer.from(stdio.stderr()) },
    { name: "stderr of HTTP", bytes: Buffer.from(shell.stderr()) },
    { name: "answers over HTTP", bytes: Buffer.from(bodies.join("\n")) },
    ...kept,
  ];
}

const MODES: readonly (readonly [string, EchoMode])[] = [
  ["honest", null],
  ["refusing", { code: "validation_failed", status: 400 }],
  ["finding nothing", { code: "not_found", status: 404 }],
  ["refusing the key", { code: "invalid_credential", status: 401 }],
  ["failing", { code: "internal", status: 500 }],
  ["of another make", { code: "teapot", status: 418 }],
  ["talking garbage", "garbage"],
  ["broken off", "broken"],
];
/** Of each kind one: an answer, a refusal of the key, a failure that is no JSON. */
const SHORT = ["honest", "refusing the key", "talking garbage"];

it.each(FULL ? MODES : MODES.filter(([name]) => SHORT.includes(name)))(
  "by a service that is %s, every tool keeps every secret",
  async (_, mode) => {
    proxy.mode = null;
    const http = await openHttp();
    proxy.mode = mode;
    const before = stdio.stdout().length;
    await callAll((tool, args) => stdio.call(tool, args) as ReturnType<Caller>, mode === null);
    await callAll(http, mode === null);
    await using modern = await openModern(mode);
    await callAll((tool, args) => modern.call(tool, args) as ReturnType<Caller>, mode === null);
    await callAll(modernHttp, mode === null);
    expect(modern.stdout().length).toBeGreaterThan(10_000);
    if (mode !== null) expect(proxy.given).toContain(SESSION.accessToken);
    expect(stdio.stdout().length - before).toBeGreaterThan(10_000);
    const codes = await handedOut();
    expect(codes.length).toBeGreaterThanOrEqual(2);
    const secrets: Secret[] = [
      ...codes,
      { kind: "key", text: stack.apiKey },
      ...Object.entries(SESSION).map(([kind, text]) => ({ kind, text })),
      // Texts of others are cut: the beginning of a token is one that nobody may see either.
      { kind: "beginning of accessToken", text: SESSION.accessToken.slice(0, 60) },
      { kind: "chain key", text: settings.chainPrivateKey },
      { kind: "text of a shared vault", text: CANARY },
      { kind: "address of a webhook", text: "hidden-in-the-address" },
    ];
    const found = findSecrets(secrets, await places(modern));
    expect(found.map(({ kind, form, place }) => `${place}: ${kind} (${form})`)).toEqual([]);
  },
);

it("a web session was refused with both of its tokens", () => {
  for (const token of Object.values(SESSION)) expect(proxy.given).toContain(token);
});

it("the scan sees what it looks for", () => {
  const planted = [{ name: "x", bytes: Buffer.from(Buffer.from(`??${CANARY}!`).toString("base64")) }];
  expect(findSecrets([{ kind: "k", text: CANARY }], planted)).not.toEqual([]);
});

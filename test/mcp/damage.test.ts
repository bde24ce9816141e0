/** A service that changes or cuts off what it stored, at every chunk: no damage reaches a local file, and each is told. */
import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { startStack } from "@coffer/devstack";
import { createClient, type Client, type Middleware } from "@coffer/sdk";
import { serviceLinkOver } from "@coffer/tasks";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { openFakeService, openToolsHere } from "../kit/tools-here.ts";

/** Of the encryption. */
const CHUNK = 16_384;
const CHUNKS = 8;

type Spoil = (body: Uint8Array<ArrayBuffer>, at: number) => Uint8Array<ArrayBuffer>;

const SPOILS: Readonly<Record<string, Spoil>> = {
  "a bit of it is changed": (body, at) => {
    const spoiled = body.slice();
    spoiled[at] = (spoiled[at] ?? 0) ^ 1;
    return spoiled;
  },
  "it is cut off there": (body, at) => body.slice(0, at),
  "the chunk is missing": (body, at) => Uint8Array.from([...body.subarray(0, at), ...body.subarray(at + CHUNK)]),
  "two bytes are exchanged": (body, at) => {
    const spoiled = body.slice();
    [spoiled[at], spoiled[at + 1]] = [body[at + 1] ?? 0, body[at] ?? 0];
    return spoiled[at] === body[at] ? body.slice(1) : spoiled;
  },
};

/** What the service does to the bytes that it sends; null: nothing. */
interface Spoiling {
  now: ((body: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>) | null;
  /** It gives its own word for the digest of what it sends, and not the old one. */
  isLiar: boolean;
}

const through =
  (state: Spoiling): Middleware =>
  async (request, next, { endpointId }) => {
    const answer = await next(request);
    if (endpointId !== "files.content" || !answer.ok || state.now === null) return answer;
    const body = state.now(new Uint8Array(await answer.arrayBuffer()));
    const headers = new Headers(answer.headers);
    headers.set("content-length", String(body.length));
    const digest = createHash("sha256").update(body).digest("base64");
    if (state.isLiar) headers.set("repr-digest", `sha-256=:${digest}:`);
    return new Response(body, { status: answer.status, headers });
  };

interface Opened {
  readonly client: Client;
  readonly state: Spoiling;
  readonly fileId: string;
  /** Bytes that the service has of it. */
  readonly stored: number;
  readonly lies: readonly boolean[];
  /** Of the client. null: it opens no shared vault. */
  readonly chainAddress: string | null;
}

/** How many cases there were. */
async function requireTold({ chainAddress, client, fileId, lies, state, stored }: Opened): Promise<number> {
  const folder = makeDirectory();
  const serviceLink = serviceLinkOver(client, chainAddress);
  await using tools = await openToolsHere({ client, folders: [folder], parts: { serviceLink } });
  let cases = 0;
  for (const [name, spoil] of Object.entries(SPOILS))
    for (let at = 7; at < stored; at += CHUNK)
      for (const isLiar of lies) {
        Object.assign(state, { isLiar, now: (body: Uint8Array<ArrayBuffer>) => spoil(body, at) });
        const got = await tools.call("file_download", { files: [fileId], dest: "got.bin" });
        expect([name, at, isLiar, got.isError]).toEqual([name, at, isLiar, true]);
        expect(await readdir(join(folder, "coffer"))).toEqual([]);
        const verified = await tools.call("file_verify", { file: fileId });
        expect(verified.facts["intact"]).not.toBe(true);
        cases += 1;
      }
  state.now = null;
  const whole = await tools.call("file_download", { files: [fileId], dest: "got.bin" });
  expect(whole.isError).toBe(false);
  expect((await tools.call("file_verify", { file: fileId })).facts["intact"]).toBe(true);
  return cases;
}

describe("damage at every chunk is told, and never reaches a local file", () => {
  const length = CHUNK * CHUNKS + 100;

  it("in a public vault", async () => {
    const service = await openFakeService();
    const state: Spoiling = { now: null, isLiar: false };
    const { id: vaultId } = await service.client.vaults.create({ name: "V", type: "public" });
    const body = randomBytes(length);
    const { file } = await service.client.files.upload({ vaultId, name: "a.bin", body });
    const client = service.connect(through(state));
    const cases = await requireTold({
      client,
      state,
      fileId: file.id,
      stored: length,
      lies: [false],
      chainAddress: null,
    });
    expect(cases).toBe(Object.keys(SPOILS).length * (CHUNKS + 1));
  });

  it("in a shared vault, whose service may also give its own digest of the damage", async () => {
    await using stack = await startStack();
    const { baseUrl, apiKey, sharedVaults } = stack;
    const state: Spoiling = { now: null, isLiar: false };
    const client = createClient({
      baseUrl,
      credentials: { apiKey },
      sharedVaults,
      middleware: [through(state)],
      retry: { limit: 0 },
    });
    const { id: vaultId } = await client.vaults.create({ name: "V", type: "shared" });
    const { file } = await client.files.upload({ vaultId, name: "a.bin", body: randomBytes(length) });
    const { storedSize } = await client.files.get(file.id);
    const { chainAddress } = sharedVaults.signer;
    const cases = await requireTold({
      client,
      state,
      fileId: file.id,
      stored: storedSize ?? 0,
      lies: [false, true],
      chainAddress,
    });
    expect(cases).toBeGreaterThanOrEqual(Object.keys(SPOILS).length * CHUNKS * 2);
  });
});

/** Uploads into a shared vault that were cut off: the same bytes again, or a new version with a new key (file-format §5). */
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { appendFile, open, readdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { paddedSize, parseVersionStatement } from "@coffer/crypto";
import { memoryPins, toRequest, type Client, type Middleware, type Row, type Table, type Vault } from "@coffer/sdk";
import { fileStore, uploadFile } from "@coffer/sdk/node";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { onWire } from "../kit/lying-service.ts";
import { raiseGeneration, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";

const MIB = 1024 * 1024;
const PART = 256 * 1024;

const stack = sharedStack(UNLIMITED);
let vault: Vault;
const directory = makeDirectory();
let journals: string;
/** Breaks the connection when told to; counts what goes by. */
let line: Line;
let client: Client;

beforeAll(async () => {
  vault = await stack.owner.client.vaults.create({ name: "crashes", type: "shared" });
  line = openLine();
  client = stack.owner.another({ middleware: [line.middleware] });
});

beforeEach(async () => {
  journals = makeDirectory();
  line.reset(Infinity);
});

interface Line {
  readonly middleware: Middleware;
  readonly created: string[];
  readonly ended: string[];
  readonly parts: number[];
  /** Lets so many parts through, and breaks at the next. */
  reset(parts: number): void;
  /** Loses the answer to the last part, and every answer after it. */
  deafen(isDeaf: boolean): void;
}

function openLine(): Line {
  let left = Infinity;
  let [isDeaf, isOver] = [false, false];
  const [created, ended, parts]: [string[], string[], number[]] = [[], [], []];
  return {
    created,
    ended,
    parts,
    reset: (most) => {
      left = most;
      for (const list of [created, ended, parts]) list.length = 0;
    },
    deafen: (from) => {
      [isDeaf, isOver] = [from, false];
    },
    middleware: async (request, next) => {
      const { pathname } = new URL(request.url);
      if (request.method === "PATCH") {
        if (left <= 0) throw new TypeError("fetch failed");
        left -= 1;
        parts.push(Number(request.headers.get("upload-offset")));
      }
      if (request.method === "DELETE" && pathname.includes("/uploads/")) ended.push(pathname);
      if (isOver) throw new TypeError("fetch failed");
      const answer = await next(request);
      isOver = isDeaf && answer.headers.has("file-id");
      if (isOver) throw new TypeError("fetch failed");
      if (request.method === "POST" && pathname.endsWith("/uploads") && answer.ok)
        created.push(answer.headers.get("location") ?? "");
      return answer;
    },
  };
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const options = () => ({ vaultId: vault.id, partBytes: PART, store: fileStore(journals), retries: 0 });

const uploads = (): Table => fileStore(journals).table("uploads");
const keptRows = async (): Promise<readonly Row[]> => (await uploads().page({ limit: 100 })).rows;
const textOf = (value: Uint8Array): string => Buffer.from(value).toString();

/** A file whose upload was cut off behind `parts` parts. */
async function cutOff(name: string, bytes: Uint8Array, parts = 4): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, bytes);
  line.reset(parts);
  await expect(uploadFile(client, path, options())).rejects.toMatchObject({ code: "connection_failed" });
  expect(line.created).toHaveLength(1);
  expect((await keptRows()).map(({ key }) => key.replace(/^.*\//, "").slice(0, 5))).toEqual(
    expect.arrayContaining(["entry", "part "]),
  );
  const kept = [...line.created];
  line.reset(Infinity);
  line.created.push(...kept);
  return path;
}

async function expectStored(path: string, name = path.split("/").at(-1)): Promise<void> {
  const result = await uploadFile(client, path, options());
  const bytes = await readFile(path);
  expect(result.sha256).toBe(sha256(bytes));
  const read = await (await stack.owner.client.files.download(result.file.id)).bytes();
  expect([sha256(read), result.file.name]).toEqual([sha256(bytes), name]);
  expect(await readdir(journals)).toEqual([]);
}

/** The session that was begun is over, and another one carried the bytes from their beginning. */
function expectBegunAnew(): void {
  const [first = "", second = ""] = line.created;
  expect(line.created).toHaveLength(2);
  expect(line.ended.map((path) => first.endsWith(path))).toContain(true);
  expect(second).not.toBe(first);
  expect(line.parts[0]).toBe(0);
}

describe("an upload that was cut off", () => {
  test("goes on with the same bytes where it stood", async () => {
    const path = await cutOff("same.bin", randomBytes(PART * 8 + 5));
    await expectStored(path);
    expect(line.created).toHaveLength(1);
    expect(line.parts[0]).toBe(4 * PART);
  });

  test("has the digest of all of its content, of more than 64 MiB too", async () => {
    const bytes = randomBytes(65 * MIB + 7);
    const path = join(directory, "long.bin");
    await writeFile(path, bytes);
    line.reset(2);
    const long = { vaultId: vault.id, store: fileStore(journals), retries: 0 };
    await expect(uploadFile(client, path, long)).rejects.toMatchObject({ code: "connection_failed" });
    line.reset(Infinity);
    const result = await uploadFile(client, path, long);
    expect(line.created).toEqual([]);
    expect(line.parts[0]).toBeGreaterThan(0);
    expect([result.bytes, result.sha256]).toEqual([bytes.length, sha256(bytes)]);
  });

  test("has the digest of its content though it was stored and replaced before anybody heard of it", async () => {
    const { file } = await client.files.upload({ vaultId: vault.id, name: "replaced.bin", body: "before" });
    const bytes = randomBytes(PART * 4 + 9);
    const path = join(directory, "replaced.bin");
    await writeFile(path, bytes);
    const version = { ...options(), fileId: file.id };
    line.deafen(true);
    await expect(uploadFile(client, path, version)).rejects.toThrow();
    line.deafen(false);
    await stack.owner.client.files.replace(file.id, { vaultId: vault.id, body: "after" });
    line.reset(Infinity);
    const result = await uploadFile(client, path, version);
    expect(line.parts).toEqual([]);
    expect([result.bytes, result.sha256]).toEqual([bytes.length, sha256(bytes)]);
  });

  test("goes on in a process that knows nothing, after the first was killed", async () => {
    const path = join(directory, "killed.bin");
    await writeFile(path, randomBytes(PART * 30));
    const child = startUpload(path);
    if (child.stdout === null) throw new Error("no output");
    for await (const text of createInterface({ input: child.stdout }))
      if (Number(text) > PART * 8) child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    expect(child.signalCode).toBe("SIGKILL");
    // The killed request may hold the session's lock until the server notices.
    const result = await uploadFile(client, path, { ...options(), retries: 8 });
    expect(result.sha256).toBe(sha256(await readFile(path)));
    expect(line.created).toEqual([]);
    expect(Math.min(...line.parts)).toBeGreaterThanOrEqual(8 * PART);
    expect(sha256(await (await client.files.download(result.file.id)).bytes())).toBe(result.sha256);
  });

  test.each<[string, (path: string) => Promise<unknown>]>([
    ["edited", (path) => overwrite(path, PART, Buffer.from("edited"))],
    ["grown", (path) => appendFile(path, "more")],
    ["shrunk", (path) => truncate(path, PART * 6)],
    ["touched", (path) => utimes(path, new Date(), new Date(1_000_000_000_000))],
    [
      "exchanged",
      async (path) => {
        const bytes = await readFile(path);
        await rm(path);
        await writeFile(path, bytes);
      },
    ],
    [
      "cheated: of another content, though nothing about it says so",
      async (path) => {
        await overwrite(path, PART + 100, Buffer.from("!"));
        await takeFor(path);
      },
    ],
    [
      "kept track of in part",
      async () => {
        const parts = (await keptRows()).filter(({ key }) => key.includes("/part "));
        await uploads().write(parts.map(({ key }) => ({ key, value: null })));
      },
    ],
    ["begun in an older generation", () => raiseGeneration(stack.owner.client, vault.id)],
  ])("begins anew with a new key when its file was %s", async (name, change) => {
    const path = await cutOff(`${name}.bin`, randomBytes(PART * 8));
    await change(path);
    await expectStored(path);
    expectBegunAnew();
  });

  test("is not gone on with below a generation that a node has shown since [N15]", async () => {
    const path = await cutOff("bound.bin", randomBytes(PART * 6));
    const pins = memoryPins();
    const shown = { generation: 1_000n, floor: 0n, since: Date.now() };
    await pins.changeHighest(vault.chainObjectId ?? "", (kept) => ({ ...kept, candidates: [shown] }));
    const bound = stack.owner.another({ middleware: [line.middleware], shared: { pins } });
    await expect(uploadFile(bound, path, options())).rejects.toMatchObject({ code: "rolled_back" });
    expect(line.parts).toEqual([]);
    await expectStored(path);
  });

  test("begins anew when its size is to be hidden now, or not any more", async () => {
    const path = await cutOff("hidden.bin", randomBytes(PART * 8));
    const { file } = await uploadFile(client, path, { ...options(), padded: true });
    expect(file.storedSize).toBeGreaterThan(paddedSize(PART * 8));
    expectBegunAnew();
  });

  test("is not gone on with by another member on the same machine, who signs for itself, nor lost to who began it", async () => {
    const other = await stack.invite("beside");
    await stack.owner.client.vaults.members.add(vault.id, other.signer.chainAddress);
    const path = await cutOff("both.bin", randomBytes(PART * 6));
    const mine = await uploadFile(other.client, path, options());
    const signed = parseVersionStatement(Buffer.from(onWire(mine.file).shared?.version ?? "", "base64"));
    expect(`0x${Buffer.from(signed.signer).toString("hex")}`).toBe(other.signer.chainAddress);
    expect(line.ended).toEqual([]);
    await stack.owner.client.files.update(mine.file.id, { name: "another.bin" }, { vaultId: vault.id });
    await expectStored(path);
    expect(line.created).toHaveLength(1);
    expect(line.parts[0]).toBe(4 * PART);
  });

  test("is forgotten when its session is gone on the server, and goes on with the same bytes in another", async () => {
    const path = await cutOff("gone.bin", randomBytes(PART * 8));
    const [uploadId = ""] = line.created.map((location) => location.split("/").at(-1));
    const ended = await fetch(`${stack.baseUrl}/api/uploads/${uploadId}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${stack.owner.apiKey}`, "tus-resumable": "1.0.0" },
    });
    expect(ended.status).toBe(204);
    await expectStored(path);
    expect(line.created).toHaveLength(2);
  });

  test("keeps nothing secret: a plan without its key, and digests of parts, for the owner alone [D5]", async () => {
    await cutOff("secret.bin", randomBytes(PART * 8));
    expect(await readdir(journals)).toEqual(["uploads.table"]);
    expect((await stat(join(journals, "uploads.table"))).mode & 0o777).toBe(0o600);
    const rows = (await keptRows()).map(({ key, value }) => ({ key, json: JSON.parse(textOf(value)) }));
    const { json: entry } = rows.find(({ key }) => key.endsWith("/entry")) ?? {};
    expect(Object.keys(entry.begun.plan).sort()).toEqual(["contentType", "name", "partChunks", "plan", "shared"]);
    expect(Object.keys(entry.begun.plan.plan).sort()).toEqual(
      ["commitment", "contentSize", "envelope", "format", "header", "salt"].sort(),
    );
    expect(Object.keys(entry.begun.plan.shared).sort()).toEqual(["entry", "metadata", "nameIndex", "version"]);
    const parts = rows.filter(({ key }) => key.includes("/part ")).slice(1);
    expect(parts.length).toBeGreaterThan(0);
    for (const { json } of parts) expect(Object.keys(json).sort()).toEqual(["endChunk", "firstChunk", "tagDigest"]);
  });
});

describe("an upload whose vault changes under it", () => {
  test("is sent again with a new key", async () => {
    let parts = 0;
    const removing: Middleware = async (request, next) => {
      if (request.method === "PATCH" && (parts += 1) === 3) await raiseGeneration(stack.owner.client, vault.id);
      return next(request);
    };
    const writer = stack.owner.another({ middleware: [removing, line.middleware] });
    const path = join(directory, "meanwhile.bin");
    await writeFile(path, randomBytes(PART * 6));
    const { file, sha256: digest } = await uploadFile(writer, path, options());
    expect(line.created).toHaveLength(2);
    expect(sha256(await (await client.files.download(file.id)).bytes())).toBe(digest);
    expect(digest).toBe(sha256(await readFile(path)));
  });

  test("is not given whole under the key of before to a service that would take it", async () => {
    const sessions = new Map<string, number>();
    const taking: Middleware = async (request, next) => {
      if (request.method !== "PATCH") return next(request);
      const session = new URL(request.url).pathname;
      if (!sessions.has(session)) sessions.set(session, 0);
      if (sessions.size > 1) return next(request);
      if (sessions.get(session) === 0) await raiseGeneration(stack.owner.client, vault.id);
      const end = Number(request.headers.get("upload-offset")) + (await toRequest(request).arrayBuffer()).byteLength;
      sessions.set(session, end);
      return new Response(null, { status: 204, headers: { "tus-resumable": "1.0.0", "upload-offset": String(end) } });
    };
    const writer = stack.owner.another({ middleware: [taking] });
    const path = join(directory, "unseen.bin");
    await writeFile(path, randomBytes(PART * 6));
    const { file, sha256: digest } = await uploadFile(writer, path, options());
    const [first, second] = sessions.values();
    expect([first, second]).toEqual([PART * 6, 0]);
    expect(sha256(await (await client.files.download(file.id)).bytes())).toBe(digest);
  });
});

async function overwrite(path: string, position: number, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "r+");
  await file.write(bytes, 0, bytes.length, position);
  await file.close();
}

/** Makes the journal believe that the file is the one it was: a change that no time stamp shows. */
async function takeFor(path: string): Promise<void> {
  const [{ key, value } = { key: "", value: new Uint8Array(0) }] = (await keptRows()).filter((row) =>
    row.key.endsWith("/entry"),
  );
  const entry = JSON.parse(textOf(value));
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  entry.source = {
    device: String(dev),
    inode: String(ino),
    size: String(size),
    modified: String(mtimeNs),
    changed: String(ctimeNs),
  };
  await uploads().write([{ key, value: Buffer.from(JSON.stringify(entry)) }]);
}

/** Uploads in a process of its own, which prints how many bytes were sent. */
function startUpload(path: string) {
  const program = `
    import { chainKeySigner, createClient } from "@coffer/sdk";
    import { fileStore, uploadFile } from "@coffer/sdk/node";
    import { sharedVaults } from "@coffer/sdk/shared";
    import { nodePlatform } from "@coffer/crypto/node";
    const { baseUrl, apiKey, privateKey, network, path, options, journals } = JSON.parse(process.env.UPLOAD);
    const opened = sharedVaults({ signer: await chainKeySigner(privateKey), network, platform: nodePlatform });
    const client = createClient({ baseUrl, credentials: { apiKey }, sharedVaults: opened });
    await uploadFile(client, path, { ...options, store: fileStore(journals), onProgress: ({ bytes }) => console.log(bytes) });
  `;
  const { owner, baseUrl, network } = stack;
  const { apiKey, privateKey } = owner;
  const { store: _, ...plain } = options();
  const upload = JSON.stringify({ baseUrl, apiKey, privateKey, network, path, options: plain, journals });
  return spawn(process.execPath, ["--conditions=coffer-source", "--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
    env: { PATH: process.env["PATH"], UPLOAD: upload },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** A service that lies: what it says of a shared vault is held to what the client knows, and each lie is refused by its own name. */
import type { Client, Middleware } from "@coffer/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lyingOfFiles, type Shown } from "../kit/lying-service.ts";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";

let stack: SharedStack;
let owner: SharedPerson;
let vaultId: string;
let otherVaultId: string;
/** What the service said when everything was well: JSON of files and the stored bytes. */
const honest = { first: {}, old: {}, other: {} } as Record<"first" | "old" | "other", Shown>;

const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);

beforeAll(async () => {
  stack = await openSharedStack();
  owner = stack.owner;
  const { client } = owner;
  vaultId = (await client.vaults.create({ name: "lied-about", type: "shared" })).id;
  otherVaultId = (await client.vaults.create({ name: "another", type: "shared" })).id;
  const first = await put(client, vaultId, "first.txt");
  const old = await put(client, vaultId, "old.txt");
  const other = await put(client, otherVaultId, "other.txt");
  for (const [name, id] of Object.entries({ first, old, other })) honest[name as "first"] = await show(id);
});
afterAll(() => stack[Symbol.asyncDispose]());

async function put(client: Client, vault: string, name: string): Promise<string> {
  return (await client.files.upload({ vaultId: vault, name, body: bytes(`content of ${name}`) })).file.id;
}

async function show(id: string): Promise<Shown> {
  const headers = { authorization: `Bearer ${owner.apiKey}` };
  const answer = await fetch(`${stack.baseUrl}/api/files/${id}`, { headers });
  return ((await answer.json()) as { file: Shown }).file;
}

interface Said {
  readonly vault?: object;
  readonly keys?: readonly { readonly record: string }[];
}

/** Rewrites JSON of one endpoint. */
function rewriting(endpoint: string, change: (said: Said) => unknown): Middleware {
  return async (request, next, { endpointId }) => {
    const answer = await next(request);
    if (endpointId !== endpoint || !answer.ok) return answer;
    const headers = new Headers(answer.headers);
    headers.delete("content-length");
    return new Response(JSON.stringify(change((await answer.json()) as Said)), {
      status: answer.status,
      headers,
    });
  };
}

/** Somebody who has used the vault before, and meets the lie now. */
async function meeting(...middleware: Middleware[]): Promise<Client> {
  let isLying = false;
  const client = owner.another({
    retry: { limit: 0 },
    middleware: middleware.map(
      (layer): Middleware =>
        (request, next, context) =>
          isLying ? layer(request, next, context) : next(request),
    ),
  });
  await (await client.files.download(honest.old.id, { vaultId })).bytes();
  isLying = true;
  return client;
}

async function read(client: Client, id = honest.first.id): Promise<string> {
  return new TextDecoder().decode(await (await client.files.download(id)).bytes());
}

function flip(base64: string, at: number): string {
  const raw = Buffer.from(base64, "base64");
  raw[at] = (raw[at] ?? 0) ^ 1;
  return raw.toString("base64");
}

describe("what a service says of a file is refused", () => {
  const lies: Record<string, [expected: object, (file: Shown) => Shown]> = {
    "a changed version statement": [{ code: "damaged", step: "statement" }, (file) => edited(file, "version", 250)],
    "a changed signature of the entry": [{ code: "damaged", step: "entry" }, (file) => edited(file, "entry", 230)],
    "a changed name": [{ code: "damaged", step: "metadata" }, (file) => edited(file, "metadata", 80)],
    "another file's name": [
      { code: "damaged", step: "ids" },
      (file) => ({
        ...file,
        shared: { ...file.shared, entry: honest.old.shared.entry, metadata: honest.old.shared.metadata },
      }),
    ],
    "another file's version": [
      { code: "damaged", step: "ids" },
      (file) => ({ ...file, shared: { ...file.shared, version: honest.old.shared.version } }),
    ],
    "another vault's statements": [
      { code: "vault_changed", step: "pins" },
      (file) => ({ ...file, shared: honest.other.shared }),
    ],
    "another folder": [
      { code: "damaged", step: "entry" },
      (file) => ({ ...file, folderId: "0f0c1d9e-0000-4000-8000-0123456789ab" }),
    ],
    "no statements": [{ code: "not_encrypted" }, (file) => ({ ...file, shared: null as never, encrypted: false })],
  };

  test.each(Object.entries(lies))("%s", async (_, [expected, lie]) => {
    const client = await meeting(lyingOfFiles<Shown>((file) => (file.id === honest.first.id ? lie(file) : file)));
    await expect(read(client)).rejects.toMatchObject(expected);
  });

  test("also by whoever replaces its content: no version follows another file's", async () => {
    const { version } = honest.old.shared;
    const client = await meeting(lyingOfFiles<Shown>((file) => ({ ...file, shared: { ...file.shared, version } })));
    const replaced = client.files.replace(honest.first.id, { vaultId, body: bytes("after another file's") });
    await expect(replaced).rejects.toMatchObject({ code: "damaged", step: "ids" });
  });

  test("and of what was sent: no other file is taken for it, nor held to it from then on", async () => {
    const { id } = honest.other;
    const client = await meeting(lyingOfFiles<Shown>((file) => ({ ...file, id })));
    const sent = client.files.upload({ vaultId: otherVaultId, name: "sent.txt", body: bytes("sent") });
    await expect(sent).rejects.toMatchObject({ code: "damaged", step: "ids" });
    expect(await read(client, id)).toBe("content of other.txt");
  });

  test("and when it is asked again: no other file is read, renamed or followed in the place of the one that was meant", async () => {
    const id = await put(owner.client, otherVaultId, "meant.txt");
    const before = await show(id);
    await owner.client.files.replace(id, { body: bytes("newer") });
    // In its first answer about the file it says what the attack needs; then another file of the vault, which is true of that.
    const open = async (first: (file: Shown) => Shown) => {
      const state = { isLying: false, asked: 0 };
      const lies = lyingOfFiles<Shown>((file) =>
        file.id !== id ? file : state.asked < 2 ? first(file) : honest.other,
      );
      const client = owner.another({
        retry: { limit: 0 },
        middleware: [
          (request, next, context) => {
            if (context.endpointId === "files.get") state.asked += 1;
            return state.isLying ? lies(request, next, context) : next(request);
          },
        ],
      });
      expect(await read(client, id)).toBe("newer");
      Object.assign(state, { isLying: true, asked: 0 });
      return client;
    };
    const renaming = await open((file) => file);
    await expect(renaming.files.update(id, { name: "renamed" }, { vaultId: otherVaultId })).rejects.toMatchObject({
      code: "contract_broken",
    });
    const looking = await open(() => honest.other);
    await expect(looking.files.get(id)).rejects.toMatchObject({ code: "contract_broken" });
    const reading = await open(() => before);
    await expect(read(reading, id)).rejects.toMatchObject({ code: "contract_broken" });
  });

  test("and in lists what cannot be trusted has no name, and hides no other", async () => {
    const client = await meeting(
      lyingOfFiles<Shown>((file) => (file.id === honest.first.id ? edited(file, "metadata", 80) : file)),
    );
    const { files } = await client.files.list({ vaultId });
    expect(files.map(({ name }) => name).sort()).toEqual(["", "old.txt"]);
  });
});

function edited(file: Shown, part: "version" | "entry" | "metadata", at: number): Shown {
  return { ...file, shared: { ...file.shared, [part]: flip(file.shared[part], at) } };
}

describe("what a service says of a vault", () => {
  test("is not believed: type public, another object, another owner, another network", async () => {
    const sent: string[] = [];
    const watch: Middleware = async (request, next, { endpointId }) => {
      if (endpointId === "files.upload") sent.push(await request.clone().text());
      return next(request);
    };
    const saysPublic = rewriting("vaults.get", (said) => ({
      vault: { ...said.vault, type: "public", chainObjectId: null },
    }));
    const client = await meeting(saysPublic, watch);
    await client.files.upload({ vaultId, name: "still-encrypted", body: bytes("never in the clear, never") });
    expect(sent).toHaveLength(1);
    expect(sent.join()).not.toContain("never in the clear");
    const object = (await owner.client.vaults.get(otherVaultId)).chainObjectId;
    const other = owner.another({
      middleware: [rewriting("vaults.get", (said) => ({ vault: { ...said.vault, chainObjectId: object } }))],
    });
    await expect(read(other)).rejects.toMatchObject({ code: "vault_changed" });
    const network = { ...stack.network, chainId: "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S" };
    await expect(read(owner.another({ shared: { network } }))).rejects.toMatchObject({ code: "network_changed" });
  });

  test("and its lie that a shared vault's file lies in a public one reaches nobody who names the vault", async () => {
    const publicVault = (await owner.client.vaults.create({ name: "plain", type: "public" })).id;
    const client = await meeting(lyingOfFiles<Shown>((file) => ({ ...file, vaultId: publicVault })));
    await expect(client.files.download(honest.first.id, { vaultId })).rejects.toMatchObject({ code: "vault_changed" });
    await expect(read(client)).rejects.toMatchObject({ code: "vault_changed" });
  });

  test("nor anybody who has seen the file or folder: nothing of it is read or sent in the clear", async () => {
    const publicVault = (await owner.client.vaults.create({ name: "plain too", type: "public" })).id;
    const folder = await owner.client.folders.create({ vaultId, name: "theirs" });
    const lie: { [field: string]: unknown } & Partial<Shown> = {
      ...{ vaultId: publicVault, shared: null as never, encrypted: false },
    };
    const lies: Middleware = async (request, next, context) => {
      const answer = await next(request);
      if (context.endpointId !== "folders.get")
        return lyingOfFiles<Shown>((file) => ({ ...file, ...lie }))(request, () => Promise.resolve(answer), context);
      const { folder: shown } = (await answer.json()) as { folder: object };
      return Response.json({ folder: { ...shown, ...lie } });
    };
    const sent: string[] = [];
    const watch: Middleware = async (request, next) => {
      sent.push(`${request.method} ${request.url} ${await request.clone().text()}`);
      return next(request);
    };
    const state = { lying: false };
    const client = owner.another({
      retry: { limit: 0 },
      middleware: [watch, (request, next, context) => (state.lying ? lies(request, next, context) : next(request))],
    });
    await client.files.list({ vaultId });
    await client.folders.get(folder.id);
    state.lying = true;
    sent.length = 0;
    for (const attempt of [
      () => read(client),
      () => client.files.get(honest.first.id),
      () => client.files.replace(honest.first.id, { body: bytes("clear content") }),
      () => client.files.update(honest.first.id, { name: "clear name" }),
      () => client.folders.get(folder.id),
      () => client.folders.update(folder.id, { name: "clear name" }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: "vault_changed" });
    // A file and a folder that nobody has seen, in the place of those that were asked for.
    lie.id = crypto.randomUUID();
    for (const attempt of [
      () => read(client),
      () => client.files.replace(honest.first.id, { body: bytes("clear content") }),
      () => client.files.update(honest.first.id, { name: "clear name" }),
      () => client.folders.update(folder.id, { name: "clear name" }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: "contract_broken" });
    // Where the folder lies is not asked: it goes to its own vault, whatever the service says of it.
    sent.length = 0;
    await client.folders.create({ parentId: folder.id, name: "clear name" });
    const upload = { folderId: folder.id, name: "clear name.txt", body: bytes("clear content") };
    await expect(client.files.upload(upload)).rejects.toMatchObject({ code: "contract_broken" });
    const found = client.files.list({ folderId: folder.id, name: "clear name.txt" });
    await expect(Promise.resolve(found)).rejects.toMatchObject({ code: "damaged" });
    expect(sent.filter((text) => text.includes("clear") || text.includes(`/folders/${folder.id} `))).toEqual([]);
    const { folders } = await owner.client.folders.list({ vaultId, parentId: folder.id });
    const { files } = await owner.client.files.list({ vaultId, folderId: folder.id });
    expect([...folders, ...files].map(({ name }) => name)).toEqual(["clear name", upload.name]);
  });

  test("a record that is not the creator's is replaced for writing, and refused for reading", async () => {
    const spoiled = rewriting("vaultKeys.list", (said) => ({
      ...said,
      keys: said.keys?.map((key) => ({ ...key, record: flip(key.record, 60) })),
    }));
    const replaced: unknown[] = [];
    const watch: Middleware = async (request, next, { endpointId }) => {
      if (endpointId === "vaultKeys.publish")
        replaced.push(((await request.clone().json()) as object & { replaces?: string }).replaces);
      return next(request);
    };
    const client = owner.another({ middleware: [spoiled, watch], retry: { limit: 0 } });
    await expect(read(client)).rejects.toMatchObject({ code: "damaged", step: "record" });
    const folder = await owner.client.folders.create({ vaultId: otherVaultId, name: "empty" });
    const place = { vaultId: otherVaultId, folderId: folder.id };
    const { file } = await client.files.upload({ ...place, name: "by another key", body: bytes("written") });
    expect(replaced).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    const reader = owner.another();
    expect([await read(reader, file.id), await read(reader, honest.other.id)]).toEqual([
      "written",
      "content of other.txt",
    ]);
  });
});

describe("what was true once is refused", () => {
  test("an older version and an older name, to whoever has seen the newer", async () => {
    const id = await put(owner.client, vaultId, "replayed.txt");
    const before = await show(id);
    const stale = { now: false };
    const client = owner.another({
      retry: { limit: 0 },
      middleware: [
        async (request, next, context) =>
          stale.now
            ? lyingOfFiles<Shown>((file) => (file.id === id ? before : file))(request, next, context)
            : next(request),
      ],
    });
    await client.files.replace(id, { vaultId, body: bytes("newer") });
    expect(await read(client, id)).toBe("newer");
    stale.now = true;
    await expect(read(client, id)).rejects.toMatchObject({ code: "rolled_back" });
  });

  test("also after an act that opens its vaults afresh", async () => {
    const id = await put(owner.client, vaultId, "kept-in-mind.txt");
    const before = await show(id);
    let stale = false;
    const client = owner.another({
      retry: { limit: 0 },
      middleware: [
        (request, next, context) =>
          stale
            ? lyingOfFiles<Shown>((file) => (file.id === id ? before : file))(request, next, context)
            : next(request),
      ],
    });
    await client.files.replace(id, { vaultId, body: bytes("newer") });
    expect(await read(client, id)).toBe("newer");
    await client.vaults.trustOwner(otherVaultId, owner.signer.chainAddress);
    stale = true;
    await expect(read(client, id)).rejects.toMatchObject({ code: "rolled_back" });
  });

  test("an older version under a newer name, whole or in part, to whoever has seen neither", async () => {
    const id = await put(owner.client, vaultId, "grown.txt");
    const { versionId, size, sha256, shared } = await show(id);
    await owner.client.files.replace(id, { body: bytes("longer than it was before") });
    const older = (file: Shown): Shown => ({
      ...file,
      ...{ versionId, size, sha256 },
      shared: { ...file.shared, version: shared.version },
    });
    const client = await meeting(lyingOfFiles<Shown>((file) => (file.id === id ? older(file) : file)));
    await expect(read(client, id)).rejects.toMatchObject({ code: "damaged" });
    const part = client.files.download(id, { range: { offset: 2, length: 3 } });
    await expect(part.then((download) => download.bytes())).rejects.toMatchObject({
      code: "damaged",
      step: "metadata",
    });
  });

  test("a statement of a removed member in a generation that is not its own, and everything below the floor", async () => {
    const vault = (await owner.client.vaults.create({ name: "floored", type: "shared" })).id;
    const leaving = await stack.invite("leaving");
    await owner.client.vaults.members.add(vault, leaving.signer.chainAddress);
    const id = await put(leaving.client, vault, "theirs.txt");
    const before = await show(id);
    await owner.client.vaults.members.remove(vault, leaving.signer.chainAddress);
    expect(await read(owner.another(), id)).toBe("content of theirs.txt");
    await owner.client.vaults.rotate(vault);
    const replaying = owner.another({
      retry: { limit: 0 },
      middleware: [lyingOfFiles<Shown>((file) => (file.id === id ? before : file))],
    });
    await expect(read(replaying, id)).rejects.toMatchObject({ code: "rolled_back" });
  });
});

describe("bytes on the way", () => {
  const spoil =
    (change: (body: Uint8Array) => Uint8Array): Middleware =>
    async (request, next, { endpointId }) => {
      const answer = await next(request);
      if (endpointId !== "files.content") return answer;
      const body = change(new Uint8Array(await answer.arrayBuffer()));
      const headers = new Headers(answer.headers);
      headers.set("content-length", String(body.length));
      headers.set(
        "repr-digest",
        `sha-256=:${Buffer.from(await crypto.subtle.digest("SHA-256", Uint8Array.from(body))).toString("base64")}:`,
      );
      return new Response(Uint8Array.from(body), { status: answer.status, headers });
    };

  test.each<[string, (body: Uint8Array) => Uint8Array]>([
    ["a flipped bit", (body) => body.map((byte, at) => (at === body.length - 30 ? byte ^ 1 : byte))],
    ["a truncation", (body) => body.subarray(0, -1)],
    ["an extension", (body) => Uint8Array.from([...body, 0])],
    ["another header", (body) => body.map((byte, at) => (at === 15 ? byte ^ 1 : byte))],
    ["another envelope", (body) => body.map((byte, at) => (at === 100 ? byte ^ 1 : byte))],
    ["plaintext", () => bytes("content of first.txt")],
    ["nothing", () => new Uint8Array()],
  ])("%s", async (_, change) => {
    const client = await meeting(spoil(change));
    const failure: unknown = await read(client).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "VaultError" });
    expect(["damaged", "not_encrypted", "unsupported_version"]).toContain((failure as { code: string }).code);
  });
});

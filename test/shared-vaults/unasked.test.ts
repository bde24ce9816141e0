/** A service that answers what was not asked: with another place, item, name or vault. Nothing is signed, found or sent by it. */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENTRY_STATEMENT, HEADERS } from "@coffer/contract";
import { parseEntryStatement } from "@coffer/crypto";
import { createClient, type Client, type File, type Folder, type Middleware } from "@coffer/sdk";
import { exportVault } from "@coffer/sdk/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepVersion, lyingAt } from "../kit/lying-service.ts";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";

let stack: SharedStack;
let owner: SharedPerson;
let client: Client;
let vaultId: string;
let theirs: Folder;

const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);

beforeAll(async () => {
  stack = await openSharedStack();
  owner = stack.owner;
  client = owner.client;
  vaultId = (await client.vaults.create({ name: "asked", type: "shared" })).id;
  theirs = await client.folders.create({ vaultId, name: "theirs" });
});
afterAll(() => stack[Symbol.asyncDispose]());

async function put(name: string): Promise<string> {
  return (await client.files.upload({ vaultId, name, body: bytes(name) })).file.id;
}

/** As the service has it. */
async function show(id: string): Promise<File> {
  return (await keepVersion(stack.baseUrl, owner.apiKey, id)).file;
}

function through(...middleware: Middleware[]): Client {
  return owner.another({ middleware, retry: { limit: 0 } });
}

/** Lies in the first answer of an endpoint, and in no other. */
function once(endpoint: string, change: (said: never) => unknown): Middleware {
  const lie = lyingAt(endpoint, change);
  let left = 1;
  return (request, next, context) =>
    context.endpointId === endpoint && left-- > 0 ? lie(request, next, context) : next(request);
}

/** The folders that signed entries of files name on their way to the service. */
function watching(signed: (string | null)[]): Middleware {
  return async (request, next, { endpointId }) => {
    if (endpointId === "files.update" || endpointId === "files.restore") {
      const { shared } = (await request.clone().json()) as { shared?: { entry: string } };
      if (shared !== undefined) signed.push(parseEntryStatement(Buffer.from(shared.entry, "base64")).folderId);
    }
    return next(request);
  };
}

describe("what a member signs", () => {
  const moved = (): Middleware =>
    once("files.get", ({ file }: { file: File }) => ({ file: { ...file, folderId: theirs.id } }));

  test("names the place that was signed before: a new name moves nothing to where the service would have it", async () => {
    const id = await put("stays.txt");
    const signed: (string | null)[] = [];
    const renamed = await through(moved(), watching(signed)).files.update(id, { name: "renamed.txt" }, { vaultId });
    expect([renamed.name, renamed.folderId, signed]).toEqual(["renamed.txt", null, [null]]);
  });

  test("nor does bringing it back from the trash", async () => {
    const id = await put("back.txt");
    await client.files.delete(id);
    const signed: (string | null)[] = [];
    const back = await through(moved(), watching(signed)).files.restore(id, { name: "back again.txt" }, { vaultId });
    expect([back.name, back.folderId, signed]).toEqual(["back again.txt", null, [null]]);
  });
});

describe("the answer to a change", () => {
  test("is held to what was changed or made: another item is not taken for it", async () => {
    const [id, other] = [await put("one.txt"), await show(await put("other.txt"))];
    const renaming = through(lyingAt("files.update", () => ({ file: other })));
    const renamed = renaming.files.update(id, { name: "two.txt" }, { vaultId });
    await expect(renamed).rejects.toMatchObject({ code: "contract_broken" });
    const trashing = through(lyingAt("files.delete", () => ({ file: other })));
    await expect(trashing.files.delete(id)).rejects.toMatchObject({ code: "contract_broken" });
    const headers = { authorization: `Bearer ${owner.apiKey}` };
    const folder: unknown = await (await fetch(`${stack.baseUrl}/api/folders/${theirs.id}`, { headers })).json();
    const making = through(lyingAt("folders.create", () => folder));
    const made = making.folders.create({ vaultId, name: "made" });
    await expect(made).rejects.toMatchObject({ code: "damaged" });
  });

  test("names the vault in which it was found before: what was brought back there is not taken from another one", async () => {
    const elsewhere = (await client.vaults.create({ name: "brought back", type: "shared" })).id;
    const open = (await client.vaults.create({ name: "brought back in the clear", type: "public" })).id;
    const inOpen = (await client.files.upload({ vaultId: open, name: "open.txt", body: bytes("open") })).file.id;
    const id = await put("trashed.txt");
    for (const [fileId, home] of [
      [id, vaultId],
      [inOpen, open],
    ] as const) {
      await client.files.delete(fileId);
      const lie = lyingAt("files.restore", ({ file }: { file: File }) => ({ file: { ...file, vaultId: elsewhere } }));
      // It has seen nothing of the file.
      const restored = through(lie).files.restore(fileId, {}, { vaultId: home });
      await expect(restored).rejects.toMatchObject({ code: "vault_changed", step: null });
    }
  });

  test("and what was sent there stays there: the service cannot call its vault public afterwards", async () => {
    const open = (await client.vaults.create({ name: "open", type: "public" })).id;
    const state = { isLying: false };
    const inPublic = <Item>(item: Item) => ({ ...item, vaultId: open, shared: null, encrypted: false });
    const lies = [
      lyingAt("files.get", ({ file }: { file: File }) => ({ file: inPublic(file) })),
      lyingAt("folders.get", ({ folder }: { folder: Folder }) => ({ folder: inPublic(folder) })),
    ];
    const sent: string[] = [];
    const watch: Middleware = async (request, next) => {
      sent.push(await request.clone().text());
      return next(request);
    };
    const sender = through(
      watch,
      ...lies.map(
        (lie): Middleware =>
          (request, next, context) =>
            state.isLying ? lie(request, next, context) : next(request),
      ),
    );
    const { file } = await sender.files.upload({ vaultId, name: "sent.txt", body: bytes("1") });
    const folder = await sender.folders.create({ vaultId, name: "sent" });
    state.isLying = true;
    const replaced = sender.files.replace(file.id, { body: bytes("clear content") });
    await expect(replaced).rejects.toMatchObject({ code: "vault_changed" });
    const upload = { folderId: folder.id, name: "clear name", body: bytes("clear content") };
    expect((await sender.files.upload(upload)).file).toMatchObject({ vaultId, folderId: folder.id });
    expect(sent.filter((text) => text.includes("clear"))).toEqual([]);
  });
});

test("a file whose second answer shows it in another vault is no part of an export", async () => {
  const id = await put("exported.txt");
  const elsewhere = (await client.vaults.create({ name: "not exported", type: "public" })).id;
  const gone = { status: 404, headers: { [HEADERS.errorCode]: "not_found" } };
  const lies: Middleware[] = [
    (request, next, { endpointId }) =>
      endpointId === "files.content" && request.url.includes(id)
        ? Promise.resolve(Response.json({ error: "Gone" }, gone))
        : next(request),
    lyingAt("files.get", ({ file }: { file: File }) => ({ file: { ...file, vaultId: elsewhere } })),
  ];
  await using place = await mkdtempDisposable(join(tmpdir(), "coffer-unasked-"));
  await expect(exportVault(through(...lies), vaultId, place.path)).rejects.toMatchObject({ code: "vault_changed" });
});

describe("in a list of a shared vault", () => {
  const adding = (file: File): Middleware =>
    lyingAt("files.list", (said: { files: File[] }) => ({ ...said, files: [...said.files, file] }));

  test("what has another vault's entry has no name, and hides no others; nor does what the service shows in another vault", async () => {
    const id = await put("honest.txt");
    const open = (await client.vaults.create({ name: "beside", type: "public" })).id;
    const { file: forged } = await client.files.upload({ vaultId: open, name: "forged.txt", body: bytes("forged") });
    const elsewhere = (await client.vaults.create({ name: "elsewhere", type: "shared" })).id;
    const { file } = await client.files.upload({ vaultId: elsewhere, name: "theirs.txt", body: bytes("theirs") });
    const spliced = { ...(await show(await put("spliced.txt"))), shared: (await show(file.id)).shared };
    const swapping = lyingAt("files.list", (said: { files: File[] }) => ({
      ...said,
      files: said.files.map((one) => (one.id === spliced.id ? spliced : one)),
    }));
    const { files } = await through(swapping).files.list({ vaultId });
    const told = new Map(files.map((one) => [one.id, [one.name, one.unreadable]]));
    expect(told.get(id)).toEqual(["honest.txt", undefined]);
    expect(told.get(spliced.id)).toEqual(["", "vault_changed"]);
    const besideForged = await through(adding(forged)).files.list({ vaultId });
    const beside = new Map(besideForged.files.map((one) => [one.id, [one.name, one.unreadable]]));
    expect([beside.get(id), beside.get(forged.id)]).toEqual([
      ["honest.txt", undefined],
      ["", "vault_changed"],
    ]);
    // Whoever looks for a name goes on with what is found.
    const found = through(adding(forged)).files.list({ vaultId, folderId: "root", name: "honest.txt" });
    await expect(Promise.resolve(found)).rejects.toMatchObject({ code: "contract_broken" });
    const plain = createClient({
      ...{ baseUrl: stack.baseUrl, credentials: { apiKey: owner.apiKey }, middleware: [adding(file)] },
    });
    const ofPublic = (await plain.files.list({ vaultId: open })).files.map((one) => [one.name, one.unreadable]);
    expect(ofPublic).toEqual([
      ["forged.txt", undefined],
      ["", "vault_changed"],
    ]);
  });

  test.each([2n ** 64n - 1n, 2n ** 63n, 2n ** 53n, 40n])(
    "what was signed in a generation that the vault has not reached has no name, and hides no others: %s",
    async (generation) => {
      const place = { vaultId, folderId: (await client.folders.create({ vaultId, name: String(generation) })).id };
      const [near, far] = await Promise.all(
        ["near.txt", "far.txt"].map((name) => client.files.upload({ ...place, name, body: bytes(name) })),
      );
      const beyond = ({ shared, ...file }: File): File => {
        const entry = Buffer.from(shared?.entry ?? "", "base64");
        entry.writeBigUInt64BE(generation, ENTRY_STATEMENT.generation[0]);
        // A key that nobody has asked for yet.
        entry.fill(7, ENTRY_STATEMENT.keyId[0], ENTRY_STATEMENT.keyId[0] + 32);
        return { ...file, shared: shared && { ...shared, entry: entry.toString("base64") } };
      };
      const lying = lyingAt("files.list", (said: { files: File[] }) => ({
        ...said,
        files: said.files.map((file) => (file.id === far?.file.id ? beyond(file) : file)),
      }));
      const { files } = await through(lying).files.list(place);
      const told = new Map(files.map(({ id, name, unreadable }) => [id, [name, unreadable]]));
      expect(told.get(near?.file.id ?? "")).toEqual(["near.txt", undefined]);
      expect(told.get(far?.file.id ?? "")).toEqual(["", "damaged"]);
    },
  );

  test("what lies in another folder has no name, also where the folder alone is named", async () => {
    const file = await show(await put("at the top.txt"));
    const inFolder = { ...file, folderId: theirs.id };
    for (const place of [{ vaultId, folderId: theirs.id }, { folderId: theirs.id }]) {
      for (const bad of [inFolder, file]) {
        const { files } = await through(adding(bad)).files.list(place);
        expect(files.map(({ name, unreadable }) => [name, unreadable])).toEqual([["", "damaged"]]);
      }
    }
  });

  test("what was moved away has no name there either, where the entry from before is shown first", async () => {
    const { file: put } = await client.files.upload({
      vaultId,
      folderId: theirs.id,
      name: "moved.txt",
      body: bytes("1"),
    });
    const before = await show(put.id);
    const reader = through(adding(before));
    await reader.files.update(put.id, { folderId: null }, { vaultId });
    const { files } = await reader.files.list({ vaultId, folderId: theirs.id });
    expect(files.map(({ id, name, unreadable }) => [id, name, unreadable])).toEqual([[put.id, "", "rolled_back"]]);
  });

  test("what has another name is not found by the one that was asked for", async () => {
    await put("wanted.txt");
    const other = await show(await put("valuable.txt"));
    const finding = through(lyingAt("files.list", (said: object) => ({ ...said, files: [other] })));
    const place = { vaultId, folderId: "root" };
    await expect(finding.files.list({ ...place, name: "wanted.txt" })).rejects.toMatchObject({ code: "damaged" });
    expect((await finding.files.list({ ...place, name: "valuable.txt" })).files).toMatchObject([{ id: other.id }]);
  });
});

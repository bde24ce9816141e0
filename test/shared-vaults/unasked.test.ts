/** A service that answers what was not asked: with another place, item, name or vault. Nothing is signed, found or sent by it. */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENTRY_STATEMENT, type File, HEADERS } from "@coffer/contract";
import { createClient, type Client, type Folder, type Middleware } from "@coffer/sdk";
import { exportVault } from "@coffer/sdk/node";
import { beforeAll, describe, expect, test } from "vitest";
import { lyingAt, lyingLater, shown, watching } from "../kit/lying-service.ts";
import { sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack();
let owner: SharedPerson;
let client: Client;
let vaultId: string;
let theirs: Folder;

beforeAll(async () => {
  owner = stack.owner;
  client = owner.client;
  vaultId = (await client.vaults.create({ name: "asked", type: "shared" })).id;
  theirs = await client.folders.create({ vaultId, name: "theirs" });
});

async function put(name: string): Promise<string> {
  return (await client.files.upload({ vaultId, name, body: name })).file.id;
}

function through(...middleware: Middleware[]): Client {
  return owner.another({ middleware, retry: { limit: 0 } });
}

describe("the answer to a change", () => {
  test("is held to what was changed or made: another item is not taken for it [S29]", async () => {
    const [id, other] = [await put("one.txt"), await shown<File>(stack, await put("other.txt"))];
    const renaming = through(lyingAt("files.update", () => ({ file: other })));
    const renamed = renaming.files.update(id, { name: "two.txt" }, { vaultId });
    await expect(renamed).rejects.toMatchObject({ code: "contract_broken" });
    const trashing = through(lyingAt("files.delete", () => ({ file: other })));
    await expect(trashing.files.delete(id)).rejects.toMatchObject({ code: "contract_broken" });
    const folder = await shown<Folder>(stack, theirs.id, "folders");
    const making = through(lyingAt("folders.create", () => ({ folder })));
    const made = making.folders.create({ vaultId, name: "made" });
    await expect(made).rejects.toMatchObject({ code: "damaged" });
  });

  test("names the vault in which it was found before: what was brought back there is not taken from another one [S29]", async () => {
    const elsewhere = (await client.vaults.create({ name: "brought back", type: "shared" })).id;
    const open = (await client.vaults.create({ name: "brought back in the clear", type: "public" })).id;
    const inOpen = (await client.files.upload({ vaultId: open, name: "open.txt", body: "open" })).file.id;
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

  test("and what was sent there stays there: the service cannot call its vault public afterwards [S29]", async () => {
    const open = (await client.vaults.create({ name: "open", type: "public" })).id;
    const inPublic = <Item>(item: Item) => ({ ...item, vaultId: open, shared: null, encrypted: false });
    const lies = lyingLater(
      lyingAt("files.get", ({ file }: { file: File }) => ({ file: inPublic(file) })),
      lyingAt("folders.get", ({ folder }: { folder: Folder }) => ({ folder: inPublic(folder) })),
    );
    const sent: string[] = [];
    const sender = through(watching(sent), ...lies.middleware);
    const { file } = await sender.files.upload({ vaultId, name: "sent.txt", body: "1" });
    const folder = await sender.folders.create({ vaultId, name: "sent" });
    lies.isLying = true;
    const replaced = sender.files.replace(file.id, { body: "clear content" });
    await expect(replaced).rejects.toMatchObject({ code: "vault_changed" });
    const upload = { folderId: folder.id, name: "clear name", body: "clear content" };
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
  const adding = (file: object): Middleware =>
    lyingAt("files.list", (said: { files: File[] }) => ({ ...said, files: [...said.files, file] }));

  test("what has another vault's entry has no name, and hides no others; nor does what the service shows in another vault [S16]", async () => {
    const id = await put("honest.txt");
    const open = (await client.vaults.create({ name: "beside", type: "public" })).id;
    const { file: forged } = await client.files.upload({ vaultId: open, name: "forged.txt", body: "forged" });
    const elsewhere = (await client.vaults.create({ name: "elsewhere", type: "shared" })).id;
    const { file } = await client.files.upload({ vaultId: elsewhere, name: "theirs.txt", body: "theirs" });
    const spliced = {
      ...(await shown<File>(stack, await put("spliced.txt"))),
      shared: (await shown<File>(stack, file.id)).shared,
    };
    const misnamed = { ...(await shown<File>(stack, await put("misnamed.txt"))), shared: null, name: "invoice.txt" };
    const swapping = lyingAt("files.list", (said: { files: File[] }) => ({
      ...said,
      files: said.files.map((one) => [spliced, misnamed].find(({ id: bad }) => bad === one.id) ?? one),
    }));
    const { files } = await through(swapping).files.list({ vaultId });
    const told = new Map(files.map((one) => [one.id, [one.name, one.unreadable]]));
    expect(told.get(id)).toEqual(["honest.txt", undefined]);
    expect(told.get(spliced.id)).toEqual(["", "vault_changed"]);
    expect(told.get(misnamed.id)).toEqual(["", "not_encrypted"]);
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
      baseUrl: stack.baseUrl,
      credentials: { apiKey: owner.apiKey },
      middleware: [adding(file)],
    });
    const ofPublic = (await plain.files.list({ vaultId: open })).files.map((one) => [one.name, one.unreadable]);
    expect(ofPublic).toEqual([
      ["forged.txt", undefined],
      ["", "vault_changed"],
    ]);
  });

  test.each([2n ** 64n - 1n, 2n ** 63n, 2n ** 53n, 40n])(
    "what was signed in a generation that the vault has not reached has no name, and hides no others: %s [S16]",
    async (generation) => {
      const place = { vaultId, folderId: (await client.folders.create({ vaultId, name: String(generation) })).id };
      const [near, far] = await Promise.all(
        ["near.txt", "far.txt"].map((name) => client.files.upload({ ...place, name, body: name })),
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

  test("what lies in another folder has no name, also where the folder alone is named [S16]", async () => {
    const file = await shown<File>(stack, await put("at the top.txt"));
    const inFolder = { ...file, folderId: theirs.id };
    for (const place of [{ vaultId, folderId: theirs.id }, { folderId: theirs.id }]) {
      for (const bad of [inFolder, file]) {
        const { files } = await through(adding(bad)).files.list(place);
        expect(files.map(({ name, unreadable }) => [name, unreadable])).toEqual([["", "damaged"]]);
      }
    }
  });

  test("what was moved away has no name there either, where the entry from before is shown first [S16]", async () => {
    const { file: put } = await client.files.upload({
      vaultId,
      folderId: theirs.id,
      name: "moved.txt",
      body: "1",
    });
    const before = await shown<File>(stack, put.id);
    const reader = through(adding(before));
    await reader.files.update(put.id, { folderId: null }, { vaultId });
    const { files } = await reader.files.list({ vaultId, folderId: theirs.id });
    expect(files.map(({ id, name, unreadable }) => [id, name, unreadable])).toEqual([[put.id, "", "rolled_back"]]);
  });

  test("what has another name is not found by the one that was asked for [S16]", async () => {
    await put("wanted.txt");
    const other = await shown<File>(stack, await put("valuable.txt"));
    const finding = through(lyingAt("files.list", (said: object) => ({ ...said, files: [other] })));
    const place = { vaultId, folderId: "root" };
    await expect(finding.files.list({ ...place, name: "wanted.txt" })).rejects.toMatchObject({ code: "damaged" });
    expect((await finding.files.list({ ...place, name: "valuable.txt" })).files).toMatchObject([{ id: other.id }]);
  });
});

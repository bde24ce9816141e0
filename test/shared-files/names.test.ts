/** Names, folders and the trash of shared vaults: the service sees none of it, its members all. */
import type { File as SaidFile, FileEntry } from "@coffer/contract";
import { createClient, type Client, type File, type Middleware, type Vault } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { readHeight } from "../kit/crash-points.ts";
import { lyingAt, lyingOfFiles } from "../kit/lying-service.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";
import { raiseGeneration, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";

const stack = sharedStack(UNLIMITED);
let client: Client;
/** The owner in another process. */
let other: Client;

beforeAll(async () => {
  ({ client } = stack.owner);
  other = stack.owner.another();
});

async function put(vault: Vault, name: string, folderId?: string): Promise<File> {
  const place = folderId === undefined ? {} : { folderId };
  return (await client.files.upload({ vaultId: vault.id, name, body: name, ...place })).file;
}

async function namesIn(vault: Vault, folderId: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of other.files.list({ vaultId: vault.id, folderId })) names.push(name);
  for await (const { name } of other.folders.list({ vaultId: vault.id, parentId: folderId })) names.push(`${name}/`);
  return names.sort();
}

describe.each([false, true])("a shared vault with plain names: %s", (plainNames) => {
  // Names of their own where the service may see them: those of the other vault must be nowhere in the clear.
  const [umlaut, renamedFile] = plainNames ? ["Übung.txt", "another.txt"] : ["Ärger.txt", "renamed.txt"];
  let vault: Vault;

  beforeAll(async () => {
    vault = await client.vaults.create({ name: `names ${String(plainNames)}`, type: "shared", plainNames });
  });

  test("has folders, and files that are found, renamed and moved", async () => {
    const folder = await client.folders.create({ name: "Berichte", vaultId: vault.id });
    const inner = await client.folders.create({ name: "2026", parentId: folder.id });
    expect([inner.name, inner.parentId, inner.vaultId]).toEqual(["2026", folder.id, vault.id]);
    const file = await put(vault, "a.txt", inner.id);
    expect(await namesIn(vault, inner.id)).toEqual(["a.txt"]);
    const moved = await client.files.update(file.id, { name: umlaut, folderId: folder.id });
    expect(moved).toMatchObject({ name: umlaut, folderId: folder.id, size: 5 });
    expect(await namesIn(vault, folder.id)).toEqual(["2026/", umlaut]);
    const found = async (name: string, folderId = folder.id): Promise<string[]> =>
      (await other.files.list({ vaultId: vault.id, folderId, name })).files.map(({ id }) => id);
    // Another normal form is the same name.
    expect(await found(umlaut.normalize("NFD"))).toEqual([file.id]);
    expect(await found("a.txt")).toEqual([]);
    expect(await found(umlaut, "root")).toEqual([]);
    const top = await other.files.update(file.id, { folderId: null });
    expect([top.folderId, top.name]).toEqual([null, umlaut]);
    const renamed = await client.folders.update(inner.id, { name: "2027", parentId: null });
    expect([renamed.name, renamed.parentId]).toEqual(["2027", null]);
    expect((await other.folders.list({ vaultId: vault.id, parentId: "root", name: "2027" })).folders).toHaveLength(1);
    expect(String(Buffer.from(await (await other.files.download(file.id)).bytes()))).toBe("a.txt");
  });

  test("refuses a name that is taken, and takes it with another one", async () => {
    await put(vault, "taken.txt");
    await expect(put(vault, "taken.txt")).rejects.toMatchObject({ code: "name_exists" });
    const file = await put(vault, "free.txt");
    await expect(client.files.update(file.id, { name: "taken.txt" })).rejects.toMatchObject({ code: "name_exists" });
    await expect(put(vault, "a/b")).rejects.toMatchObject({ code: "invalid_request" });
    expect((await other.files.get(file.id)).name).toBe("free.txt");
  });

  test("brings files and folders back from the trash, where they were or at the top", async () => {
    const folder = await client.folders.create({ name: "gone", vaultId: vault.id });
    const file = await put(vault, "back.txt", folder.id);
    const trashed = await client.files.delete(file.id);
    expect([trashed?.name, trashed?.trashedAt === null]).toEqual(["back.txt", false]);
    const inTrash = (await other.trash.list({ vaultId: vault.id })).files.map(({ name }) => name);
    expect(inTrash).toContain("back.txt");
    expect(await client.files.restore(file.id)).toMatchObject({ name: "back.txt", folderId: folder.id });
    await client.files.delete(file.id);
    expect(await other.files.restore(file.id, { name: renamedFile })).toMatchObject({ name: renamedFile });
    await client.folders.delete(folder.id);
    const restored = await client.folders.restore(folder.id);
    expect([restored.name, restored.trashedAt]).toEqual(["gone", null]);
    expect(await namesIn(vault, folder.id)).toEqual([renamedFile]);
  });

  test("keeps its names when the keys change, however many clients bring them over at once", async () => {
    const member = await stack.invite(`writer ${String(plainNames)}`);
    await client.vaults.members.add(vault.id, member.signer.chainAddress);
    const folder = await client.folders.create({ name: "busy", vaultId: vault.id });
    for (const name of ["one", "two", "three"]) await put(vault, name, folder.id);
    await raiseGeneration(client, vault.id);
    const writers = [client, other, member.client, member.another()];
    await Promise.all(
      writers.map((writer, index) =>
        writer.files.upload({ vaultId: vault.id, folderId: folder.id, name: `new ${String(index)}`, body: "n" }),
      ),
    );
    expect(await namesIn(vault, folder.id)).toEqual(["new 0", "new 1", "new 2", "new 3", "one", "three", "two"]);
    expect((await other.files.list({ vaultId: vault.id, folderId: folder.id, name: "two" })).files).toHaveLength(1);
  });
});

describe("a list", () => {
  test("shows what is good beside what is not, and says why; the one that was asked for is refused", async () => {
    const vault = await client.vaults.create({ name: "bad entry", type: "shared" });
    const [good, bad] = [await put(vault, "good.txt"), await put(vault, "bad.txt")];
    const damage = (file: SaidFile): SaidFile =>
      file.id === bad.id && file.shared !== null
        ? { ...file, name: "evil.exe", shared: { ...file.shared, metadata: flip(file.shared.metadata) } }
        : file;
    const reader = stack.owner.another({ middleware: [lyingOfFiles(damage)] });
    const { files } = await reader.files.list({ vaultId: vault.id });
    expect(files.map(({ id, name, unreadable }) => [id === good.id, name, unreadable])).toEqual([
      [false, "", "damaged"],
      [true, "good.txt", undefined],
    ]);
    await expect(reader.files.get(bad.id)).rejects.toMatchObject({ code: "damaged", step: "metadata" });
  });

  test("asks each key server once, however many files and clients' names there are", async () => {
    const vault = await client.vaults.create({ name: "many", type: "shared" });
    for (let index = 0; index < 12; index += 1) await put(vault, `file ${String(index)}`);
    const asked: string[] = [];
    const counting: typeof fetch = (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      if (url.includes("/v1/fetch_key")) asked.push(url);
      return fetch(input, init);
    };
    const paths: string[] = [];
    const counted: Middleware = (request, next) => (paths.push(new URL(request.url).pathname), next(request));
    const reader = stack.owner.another({ middleware: [counted], shared: { fetch: counting } });
    const { files } = await reader.files.list({ vaultId: vault.id });
    expect(files.every(({ name }) => name.startsWith("file "))).toBe(true);
    expect(asked.length).toBeGreaterThan(0);
    expect(new Set(asked).size).toBe(asked.length);
    expect(paths.filter((path) => path.endsWith("/keys"))).toHaveLength(1);
    const before = asked.length;
    await (await reader.files.download(files[0]?.id ?? "")).bytes();
    expect(asked).toHaveLength(before);
  });

  test("is closed to non-members: ids, sizes and dates, without names [W2]", async () => {
    const vault = await client.vaults.create({ name: "closed", type: "shared" });
    const file = await put(vault, "secret plan.txt");
    const stranger = await stack.invite("stranger");
    const { files } = await stranger.client.files.list({ vaultId: vault.id });
    expect(files).toMatchObject([{ id: file.id, size: file.storedSize, name: "", unreadable: "not_a_member" }]);
    await expect(stranger.client.files.download(file.id)).rejects.toMatchObject({ code: "not_a_member" });
  });
});

describe("[D5-author-verified] who made and changed what", () => {
  const signed = (person: SharedPerson) => {
    const { chainAddress } = person.signer;
    return { kind: "member", id: null, name: null, chainAddress, verified: true };
  };

  test("is who signed it, whatever the service says: of files, folders, and names and places before [S31]", async () => {
    const vault = await client.vaults.create({ name: "authors", type: "shared" });
    const member = await stack.invite("a member");
    await client.vaults.members.add(vault.id, member.signer.chainAddress);
    const [mine, theirs] = [signed(stack.owner), signed(member)];
    const claimed = { kind: "api-key", id: crypto.randomUUID(), name: "another", chainAddress: `0x${"9".repeat(64)}` };
    const liar = { ...claimed, verified: true };
    const lie = lyingOfFiles((file: SaidFile) => ({ ...file, createdBy: liar, updatedBy: liar }));
    const deceived = stack.owner.another({ middleware: [lie] });
    const { file } = await deceived.files.upload({ vaultId: vault.id, name: "a", body: "a" });
    expect([file.createdBy, file.updatedBy]).toEqual([mine, mine]);
    const there = { vaultId: vault.id };
    await member.client.files.update(file.id, { name: "b" }, there);
    const renamed = await deceived.files.get(file.id);
    // Nothing that is signed says who made a file that has changed since.
    expect([renamed.createdBy, renamed.updatedBy]).toEqual([null, theirs]);
    expect((await deceived.files.list({ vaultId: vault.id })).files).toMatchObject([
      { createdBy: null, updatedBy: theirs },
    ]);
    const folder = await member.client.folders.create({ vaultId: vault.id, name: "f" });
    expect([folder.createdBy, folder.updatedBy]).toEqual([theirs, theirs]);
    await client.files.update(file.id, { folderId: folder.id }, there);
    for (const body of ["new", "newer"]) await member.client.files.replace(file.id, { ...there, body });
    const forgetting = client.files.replace(file.id, { ...there, body: "newer", keep: false });
    await expect(forgetting).rejects.toMatchObject({ code: "invalid_request" });
    const lying = lyingAt("files.entries", ({ entries }: { entries: FileEntry[] }) => ({
      nextCursor: null,
      entries: entries.map((entry) => ({ ...entry, author: liar, name: "evil", folderId: crypto.randomUUID() })),
    }));
    const { entries } = await stack.owner.another({ middleware: [lying] }).files.entries(file.id);
    expect(entries.map(({ name, folderId, author, how }) => [name, folderId, author, how])).toEqual([
      ["b", folder.id, theirs, "content"],
      ["b", folder.id, mine, "move"],
      ["b", null, theirs, "rename"],
      ["a", null, mine, "create"],
    ]);
    await member.client.folders.update(folder.id, { name: "g" }, there);
    expect((await other.folders.entries(folder.id)).entries).toMatchObject([
      { name: "g", parentId: null, author: theirs },
      { name: "f", parentId: null, author: theirs },
    ]);
    const keyOnly = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.owner.apiKey } });
    expect(await keyOnly.files.get(file.id)).toMatchObject({ createdBy: null, updatedBy: null });
    expect((await keyOnly.files.list({ vaultId: vault.id })).files).toMatchObject([
      { createdBy: null, updatedBy: null },
    ]);
    for (const entry of (await keyOnly.files.entries(file.id)).entries)
      expect([entry.name, entry.author]).toEqual(["", null]);
    const open = await client.vaults.create({ name: "open", type: "public" });
    const plain = (await deceived.files.upload({ vaultId: open.id, name: "p", body: "p" })).file;
    // In a public vault the service's word is all there is, and it never counts as verified.
    expect(plain.createdBy).toEqual(claimed);
  });

  test("an entry that is another's, damaged, or out of its order is unreadable by itself; a hidden one is an attack [S31]", async () => {
    const vault = await client.vaults.create({ name: "past", type: "shared" });
    const [file, foreign] = [await put(vault, "one"), await put(vault, "foreign")];
    for (const name of ["two", "three"]) await client.files.update(file.id, { name });
    const { shared } = (await read<FileEntry>(`/api/files/${foreign.id}/entries`)).entries[0] as FileEntry;
    let lie = (entries: FileEntry[]) => entries;
    const lying = lyingAt("files.entries", (said: { entries: FileEntry[] }) => ({
      ...said,
      entries: lie(said.entries),
    }));
    const reader = stack.owner.another({ middleware: [lying] });
    await reader.files.get(file.id);
    const seen = async (change: typeof lie) => {
      lie = change;
      const { entries } = await reader.files.entries(file.id);
      return entries.map(({ name, author, unreadable }) =>
        unreadable === undefined ? name : [name, author, unreadable],
      );
    };
    const at = (index: number, change: (entry: FileEntry) => Partial<FileEntry>) => (entries: FileEntry[]) =>
      entries.map((entry, place) => (place === index ? { ...entry, ...change(entry) } : entry));
    expect(await seen((entries) => entries)).toEqual(["three", "two", "one"]);
    expect(await seen(at(1, () => ({ shared })))).toEqual(["three", ["", null, "damaged"], "one"]);
    expect(await seen(at(1, () => ({ shared: null })))).toEqual(["three", ["", null, "not_encrypted"], "one"]);
    const flipped = ({ shared: own }: FileEntry) =>
      own === null ? {} : { shared: { ...own, metadata: flip(own.metadata) } };
    expect(await seen(at(2, flipped))).toEqual(["three", "two", ["", null, "damaged"]]);
    const twice = (entries: FileEntry[]) => entries.map((entry, place) => entries[place === 2 ? 1 : place] ?? entry);
    expect(await seen(twice)).toEqual(["three", "two", ["", null, "damaged"]]);
    const hiding = ([, ...older]: FileEntry[]) => older;
    await expect(seen(hiding)).rejects.toMatchObject({ code: "rolled_back" });
    await expect(seen(() => [])).rejects.toMatchObject({ code: "damaged" });
    const elsewhere = at(1, () => ({ vaultId: crypto.randomUUID() }));
    await expect(seen(elsewhere)).rejects.toMatchObject({ code: "vault_changed" });
  });
});

async function read<Entry>(path: string): Promise<{ readonly entries: Entry[] }> {
  const headers = { authorization: `Bearer ${stack.owner.apiKey}` };
  return (await (await fetch(stack.baseUrl + path, { headers })).json()) as { entries: Entry[] };
}

function flip(base64: string): string {
  const raw = Buffer.from(base64, "base64");
  raw[40] = (raw[40] ?? 0) ^ 1;
  return raw.toString("base64");
}

test("a vault's own name is looked at before an object is paid for that no vault can have", async () => {
  const before = await readHeight(stack);
  for (const name of ["", " a", "a/b", "n".repeat(256)])
    await expect(client.vaults.create({ name, type: "shared" })).rejects.toMatchObject({ code: "invalid_request" });
  expect(await readHeight(stack)).toBe(before);
});

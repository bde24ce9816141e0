/** `client.search` beside a service that reads no names, and one that lies about them. */
import type { File as WireFile } from "@coffer/contract";
import { createClient, type Middleware, type Vault, toRequest } from "@coffer/sdk";
import { beforeAll, describe, expect, it } from "vitest";
import { lyingAt, lyingOfFiles } from "../kit/lying-service.ts";
import { MARCH, namesOf, put, searchScene, SIZE } from "../kit/search-scene.ts";
import { formsOf } from "../kit/secret-forms.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const scene = searchScene();
const { stack } = scene;
let { owner, member, vault, open, folder } = scene;
beforeAll(() => void ({ owner, member, vault, open, folder } = scene));

const named = (person: SharedPerson, query: object = {}) =>
  namesOf(person.client.search({ vaultId: vault.id, ...query }));

describe("client.search", () => {
  it("merges the local index with the service, best first, and no file twice", async () => {
    const page = await owner.client.search({ q: "resume" });
    expect(page).toMatchObject({ complete: true, nextCursor: null, unsearched: [], unreadable: 0 });
    const names = page.files.map(({ name }) => name);
    expect(names).toEqual(["resume open.txt", "resume.txt", "Résumé of March.pdf", "presume nothing.txt"]);
    expect(await namesOf(owner.client.search({ q: "resume", limit: 1 }))).toEqual(names);
    const first = await owner.client.search({ q: "resume", limit: 2 });
    await put(owner.client, open.id, "resume that came later.txt");
    expect(await namesOf(owner.client.search({ q: "resume", cursor: first.nextCursor ?? "" }))).toEqual(names.slice(2));
    await expect(async () => owner.client.search({ cursor: first.nextCursor ?? "" })).rejects.toThrow("cursor");
  });

  it("goes by type, author, size, date and subtree", async () => {
    expect(await named(member, { type: "application/pdf" })).toEqual([MARCH]);
    expect(await named(member, { by: member.signer.chainAddress })).toEqual(["resume.txt"]);
    expect(await named(member, { folderId: folder })).toEqual([MARCH]);
    expect(await named(member, { since: "2999-01-01T00:00:00.000Z" })).toEqual([]);
    expect(await named(member, { minSize: SIZE + 1 })).toEqual([]);
    await expect(named(member, { folderId: crypto.randomUUID(), vaultId: undefined })).rejects.toMatchObject({
      code: "vault_required",
    });
    await expect(named(member, { folderId: crypto.randomUUID() })).rejects.toMatchObject({ code: "not_found" });
    await expect(named(member, { q: "..." })).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("follows every change: new names and places, the trash, folders with all below them, and deletion", async () => {
    const { files, folders } = owner.client;
    const made = await folders.create({ vaultId: vault.id, name: "made" });
    const below = await folders.create({ vaultId: vault.id, name: "below", parentId: made.id });
    const { id } = await put(owner.client, vault.id, "lantern.txt", { folderId: below.id });
    const early = await put(owner.client, vault.id, "lantern early.txt", { folderId: below.id });
    await files.delete(early.id);
    const look = async () => [
      await named(member, { q: "lanter" }),
      await named(member, { q: "lanter", trashed: true }),
    ];
    expect(await look()).toEqual([["lantern.txt"], ["lantern early.txt"]]);
    await folders.delete(made.id);
    expect((await look())[0]).toEqual([]);
    expect((await look())[1]).toHaveLength(2);
    await folders.restore(made.id);
    expect(await look()).toEqual([["lantern.txt"], ["lantern early.txt"]]);
    await folders.update(made.id, { parentId: folder });
    expect(await named(member, { q: "lanter", folderId: folder })).toEqual(["lantern.txt"]);
    await files.update(id, { name: "beacon.txt" });
    expect(await look()).toEqual([[], ["lantern early.txt"]]);
    await files.delete(early.id, { permanent: true });
    await files.delete(id);
    await files.delete(id, { permanent: true });
    expect(await named(member, { q: "beacon", trashed: true })).toEqual([]);
    expect(await look()).toEqual([[], []]);
  });

  it("sends no searched word for a vault with encrypted names, and none at all with localOnly [S33]", async () => {
    const sent: string[] = [];
    const watch: Middleware = async (request, next) => {
      sent.push(`${decodeURIComponent(request.url)} ${await toRequest(request).clone().text()}`);
      return next(request);
    };
    const client = member.another({ middleware: [watch] });
    const words = { q: "Zwölfköpfig march" };
    await client.search({ ...words, vaultId: vault.id, folderId: folder });
    await owner.another({ middleware: [watch] }).search(words, { localOnly: true });
    const log = Buffer.from(sent.join("\n"));
    expect(log.includes("/api/changes")).toBe(true);
    expect(log.includes("/api/files/search")).toBe(false);
    for (const word of [words.q, "Zwölfköpfig", "zwölfköpfig", "zwolfkopfig"])
      for (const { name, bytes } of formsOf(word)) expect(log.includes(bytes), name).toBe(false);
    // The check can fail: a search of everything tells the service, which reads the names of public vaults itself.
    await owner.another({ middleware: [watch] }).search(words);
    expect(sent.join("\n")).toContain("Zwölfköpfig");
    await expect(async () => owner.client.search({ vaultId: open.id }, { localOnly: true })).rejects.toThrow(
      "localOnly",
    );
  });

  it("names what a client without a chain key cannot search, and sends no word for it", async () => {
    const plain = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: owner.apiKey } });
    const page = await plain.search({ q: "presume" });
    expect(page).toMatchObject({ files: [], complete: false, nextCursor: null });
    expect(page.unsearched).toEqual([{ vaultId: vault.id, reason: "shared_vault" }]);
    await expect(async () => plain.search({ vaultId: vault.id })).rejects.toMatchObject({ code: "shared_vault" });
  });

  it("searches vaults with plain names of other accounts at the service", async () => {
    const plain = await owner.client.vaults.create({ name: "plain", type: "shared", plainNames: true });
    await owner.client.vaults.members.add(plain.id, member.signer.chainAddress);
    await put(owner.client, plain.id, "resume in plain.txt");
    for (const { client } of [owner, member])
      expect(await namesOf(client.search({ q: "resume plain" }))).toEqual(["resume in plain.txt"]);
    await owner.client.vaults.delete(plain.id, { force: true });
  });
});

describe("a service that lies", () => {
  it("makes up no name, no place and no file [S33]", async () => {
    const idOf = async (q: string) => (await owner.client.search({ q, vaultId: vault.id })).files[0]?.id ?? "";
    const [moved, copied, honest] = [await idOf("march"), await idOf("resume"), await idOf("presume")];
    const { shared } = (await owner.client.files.get(honest)) as unknown as WireFile;
    const lie = lyingOfFiles((file) => {
      if (file.id === moved) return { ...file, folderId: null };
      return { ...file, name: "march", ...(file.id === copied ? { shared } : {}) };
    });
    const page = await member.another({ middleware: [lie] }).search({ vaultId: vault.id });
    expect(page.files.map(({ id, name }) => [id, name])).toEqual([[honest, "presume nothing.txt"]]);
    expect(page.unreadable).toBe(2);
    const elsewhere = lyingOfFiles((file) => ({ ...file, vaultId: open.id }));
    expect((await member.another({ middleware: [elsewhere] }).search({ vaultId: vault.id })).files).toEqual([]);
  });

  it("makes up no change, and turns none into a hit [S33]", async () => {
    const stranger = (await namesOf(owner.client.search({ vaultId: open.id, q: "resume" }))).length;
    expect(stranger).toBeGreaterThan(0);
    const [file] = (await owner.client.files.list({ vaultId: open.id, limit: 1 })).files;
    const row = { sequence: 1, id: crypto.randomUUID(), kind: "file.uploaded", occurredAt: new Date().toISOString() };
    const object = { type: "file", id: file?.id, vaultId: vault.id, folderId: null, versionId: null, size: 1 };
    const actor = { type: "api-key", id: null, chainAddress: null };
    const made = lyingAt("changes.list", (said: { changes: object[] }) => ({
      ...said,
      changes: said.changes.length > 0 || told ? said.changes : ((told = true), [{ ...row, object, actor }]),
    }));
    let told = false;
    const client = owner.another({ middleware: [made] });
    expect(await namesOf(client.search({ vaultId: vault.id, q: "resume" }))).toEqual([
      ...["resume.txt", MARCH, "presume nothing.txt"],
    ]);
    expect(told).toBe(true);
  });

  it("gets no words by calling a pinned vault public [S33]", async () => {
    const asked: string[] = [];
    const watch: Middleware = (request, next, { endpointId }) => (asked.push(endpointId), next(request));
    const lie = lyingAt("vaults.list", ({ vaults }: { vaults: Vault[] }) => ({
      vaults: vaults.flatMap((each) => (each.id === vault.id ? [{ ...each, type: "public", plainNames: null }] : [])),
      nextCursor: null,
    }));
    const client = member.another({ middleware: [watch, lie] });
    await client.search({ vaultId: vault.id });
    expect(await namesOf(client.search({ q: "march" }))).toEqual([MARCH]);
    expect(asked).not.toContain("files.search");
  });
});

/** The index of names of `client.search` between two runs: built in steps, kept encrypted, deleted with the access. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client, Middleware, Row, Table } from "@coffer/sdk";
import { vaultStores } from "@coffer/sdk/shared";
import { fileStore } from "@coffer/sdk/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MARCH, namesOf, put, searchScene } from "../kit/search-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

type FoundPage = Awaited<ReturnType<Client["search"]>>;

const scene = searchScene();
const { stack } = scene;
let { owner, member, vault } = scene;
beforeAll(() => void ({ owner, member, vault } = scene));
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "coffer-names-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** A client that keeps its indexes in the directory. */
const kept = (person: SharedPerson, middleware: readonly Middleware[] = []): Client =>
  person.another({ middleware, shared: { names: vaultStores(fileStore(directory)).names } });

const indexOf = (vaultId: string): Table => fileStore(directory).table(`names-${vaultId}`);

describe("the index between two runs", () => {
  it("is built step by step, over processes, and never answers before it is whole", async () => {
    const pages: FoundPage[] = [];
    for (let cursor: string | null | undefined; cursor !== null && pages.length < 20;) {
      const page = await kept(member).search({ q: "resume", cursor, limit: 2 }, { buildFor: 0, localOnly: true });
      pages.push(page);
      cursor = page.complete && page.files.length < 2 ? null : page.nextCursor;
    }
    const early = pages.filter(({ complete }) => !complete);
    expect(early.length).toBeGreaterThan(2);
    for (const { files, unsearched } of early)
      expect([files, unsearched]).toEqual([[], [{ vaultId: vault.id, reason: "unfinished" }]]);
    expect(pages.flatMap(({ files }) => files.map(({ name }) => name))).toEqual([
      ...["resume.txt", MARCH, "presume nothing.txt"],
    ]);
  });

  it("is read by the next process, which lists nothing, and holds no name", async () => {
    const asked: string[] = [];
    const watch: Middleware = (request, next, { endpointId }) => (asked.push(endpointId), next(request));
    expect(await namesOf(kept(member, [watch]).search({ q: "march", vaultId: vault.id }))).toEqual([MARCH]);
    expect(asked).toContain("changes.list");
    expect(asked).not.toContain("files.list");
    const [file = ""] = await readdir(directory);
    expect(file).toBe(`names-${vault.id}.table`);
    const bytes = await readFile(join(directory, file));
    for (const part of ["March", "sum", "names 2", vault.id]) expect(bytes.includes(part)).toBe(false);
    expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
  });

  const rows = async (vaultId: string): Promise<readonly Row[]> => (await indexOf(vaultId).page({ limit: 100 })).rows;

  it.each<[what: string, change: (bytes: Buffer) => Uint8Array]>([
    ["cut", (bytes) => bytes.subarray(0, 60)],
    ["empty", () => new Uint8Array(0)],
    ["altered", (bytes) => bytes.with(-20, (bytes.at(-20) ?? 0) ^ 1)],
    ["of a key that nobody has", (bytes) => bytes.with(3, (bytes.at(3) ?? 0) ^ 1)],
  ])("is built again when the head or a page is %s", async (_what, change) => {
    for (const kind of ["head", "page "]) {
      const row = (await rows(vault.id)).find(({ key }) => key.startsWith(kind));
      await indexOf(vault.id).write([{ key: row?.key ?? "", value: change(Buffer.from(row?.value ?? [])) }]);
      expect(await namesOf(kept(member).search({ q: "march", vaultId: vault.id }))).toEqual([MARCH]);
      const asked: string[] = [];
      const watch: Middleware = (request, next, { endpointId }) => (asked.push(endpointId), next(request));
      expect(await namesOf(kept(member, [watch]).search({ q: "march", vaultId: vault.id }))).toEqual([MARCH]);
      expect(asked).not.toContain("files.list");
    }
  });

  it("is refused when its file is damaged, and is not built again before somebody says so", async () => {
    const path = join(directory, `names-${vault.id}.table`);
    const whole = await readFile(path);
    const damaged = whole.with(60, (whole[60] ?? 0) ^ 1);
    await writeFile(path, damaged);
    const search = kept(member).search({ q: "march", vaultId: vault.id });
    await expect(search).rejects.toMatchObject({ code: "configuration", message: expect.stringContaining(path) });
    const everywhere = await kept(member).search({ q: "march" });
    expect([everywhere.complete, everywhere.unsearched]).toEqual([
      false,
      [{ vaultId: vault.id, reason: "configuration" }],
    ]);
    expect(await readFile(path)).toEqual(Buffer.from(damaged));
    await rm(path);
    expect(await namesOf(kept(member).search({ q: "march", vaultId: vault.id }))).toEqual([MARCH]);
    expect(await namesOf(kept(member).search({ q: "march", vaultId: vault.id }))).toEqual([MARCH]);
  });

  it("is built again when it is another vault's, or the feed no longer reaches back so far", async () => {
    const other = await owner.client.vaults.create({ name: "other", type: "shared" });
    await put(owner.client, other.id, "march of others.txt");
    const client = kept(owner);
    expect(await namesOf(client.search({ q: "march", vaultId: other.id }))).toEqual(["march of others.txt"]);
    await indexOf(other.id).clear();
    await indexOf(other.id).write(await rows(vault.id));
    expect(await namesOf(kept(owner).search({ q: "march", vaultId: other.id }))).toEqual(["march of others.txt"]);
    let isGone = true;
    const forget: Middleware = async (request, next, { endpointId }) => {
      const isAsked = endpointId === "changes.list" && isGone && request.url.includes("cursor=");
      if (!isAsked) return next(request);
      isGone = false;
      return Response.json(
        { error: "The cursor is too old" },
        { status: 410, headers: { "x-error-code": "cursor_expired" } },
      );
    };
    expect(await namesOf(kept(owner, [forget]).search({ q: "march", vaultId: other.id }))).toEqual([
      "march of others.txt",
    ]);
    expect(isGone).toBe(false);
    await client.vaults.delete(other.id, { force: true });
    const page = await client.search({ q: "march" }, { localOnly: true });
    expect([page.complete, page.files.map(({ name }) => name)]).toEqual([true, [MARCH]]);
  });

  it("is whole after several processes have written it at once", async () => {
    await rm(join(directory, `names-${vault.id}.table`));
    const clients = Array.from({ length: 4 }, () => kept(member));
    const found = await Promise.all(clients.map((client) => namesOf(client.search({ q: "march", vaultId: vault.id }))));
    expect(found).toEqual([[MARCH], [MARCH], [MARCH], [MARCH]]);
    expect((await readdir(directory)).filter((name) => name.includes(vault.id))).toEqual([`names-${vault.id}.table`]);
    const isListed: string[] = [];
    const watch: Middleware = (request, next, { endpointId }) => (isListed.push(endpointId), next(request));
    expect(await namesOf(kept(member, [watch]).search({ q: "march", vaultId: vault.id }))).toEqual([MARCH]);
    expect(isListed).not.toContain("files.list");
  });

  it("is deleted when access ends, whatever the service lists, and says so", async () => {
    const guest = await stack.signUp("guest");
    await owner.client.vaults.members.add(vault.id, guest.signer.chainAddress);
    const place = await mkdtemp(join(directory, "guest-"));
    const client = guest.another({ shared: { names: vaultStores(fileStore(place)).names } });
    await client.search({ vaultId: vault.id });
    expect(await namesOf(client.search({ q: "march" }))).toEqual([MARCH]);
    expect(await readdir(place)).toHaveLength(1);
    await owner.client.vaults.members.remove(vault.id, guest.signer.chainAddress);
    const page = await client.search({ q: "march" });
    expect(page).toMatchObject({ files: [], complete: false, nextCursor: null });
    expect(page.unsearched.map(({ vaultId }) => vaultId)).toEqual([vault.id]);
    expect(await readdir(place)).toEqual([]);
  });
});

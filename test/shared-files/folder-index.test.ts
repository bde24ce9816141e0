/** Folders of shared vaults from the index of names: what is known is not read again, and what is withheld does not stay so. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client, Middleware } from "@coffer/sdk";
import { downloadFolder, fileStore, syncFolder } from "@coffer/sdk/node";
import { vaultStores } from "@coffer/sdk/shared";
import { expect, test, vi } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack(UNLIMITED);

/** Another process with the same profile; `asked` gets the ids of the endpoints that it calls. */
function processOf(person: SharedPerson, profile: string, middleware: readonly Middleware[] = []) {
  const asked: string[] = [];
  const watch: Middleware = (request, next, { endpointId }) => (asked.push(endpointId), next(request));
  const { names } = vaultStores(fileStore(profile));
  return { asked, client: person.another({ middleware: [watch, ...middleware], shared: { names } }) };
}

const count = (asked: readonly string[], id: string): number => asked.filter((each) => each === id).length;
const LISTS = ["files.list", "folders.list"];

let vaults = 0;

async function vaultWith(client: Client, names: readonly string[]) {
  vaults += 1;
  const { id: vaultId } = await client.vaults.create({ name: `tree ${String(vaults)}`, type: "shared" });
  const { id: folderId } = await client.folders.create({ vaultId, name: "deep" });
  for (const name of names) await client.files.upload({ vaultId, folderId, name, body: name });
  const base = makeDirectory();
  return { vaultId, folderId, copy: join(base, "copy"), profile: join(base, "store") };
}

test("a run without changes lists nothing and reads no file, and one after a change reads that one", async () => {
  const { vaultId, folderId, copy, profile } = await vaultWith(stack.owner.client, ["a.txt", "b.txt", "c.txt"]);
  for (const place of [{ vaultId }, { vaultId, folderId }]) {
    const directory = join(copy, folderId === place.folderId ? "one" : "all");
    await mkdir(directory, { recursive: true });
    const options = { ...place, store: fileStore(profile), direction: "down" } as const;
    const run = async () => {
      const { asked, client } = processOf(stack.owner, profile);
      const { failed, plan } = await syncFolder(client, directory, options);
      expect(failed).toEqual([]);
      return { asked, plan };
    };
    await run();
    const unchanged = await run();
    expect(unchanged.plan).toMatchObject({ unchanged: 3, create: 0, replace: 0 });
    expect(unchanged.asked.filter((id) => LISTS.includes(id) || id.startsWith("files."))).toEqual([]);

    const client = stack.owner.another();
    const [first] = (await client.files.list({ vaultId, folderId, name: "a.txt" })).files;
    const changed = await client.files.replace(first?.id ?? "", { body: `new ${crypto.randomUUID()}` });
    const next = await run();
    expect(next.plan).toMatchObject({ unchanged: 2, replace: 1 });
    expect([count(next.asked, "files.get"), next.asked.filter((id) => LISTS.includes(id))]).toEqual([1, []]);
    expect(changed.file.id).toBe(first?.id);
  }
  // What this machine sends is in the vault's feed as well: a way up asks for no lists either.
  await writeFile(join(copy, "one/a.txt"), "from here");
  const { asked, client } = processOf(stack.owner, profile);
  const up = await syncFolder(client, join(copy, "one"), {
    vaultId,
    folderId,
    store: fileStore(profile),
    direction: "up",
  });
  expect([up.failed, up.plan]).toMatchObject([[], { replace: 1, unchanged: 2 }]);
  expect(asked.filter((id) => LISTS.includes(id))).toEqual([]);
});

/** A service that leaves everything out of the change feed. */
const withhold: Middleware = async (request, next, { endpointId }) => {
  const answer = await next(request);
  if (endpointId !== "changes.list") return answer;
  const body = (await answer.json()) as object;
  return Response.json({ ...body, changes: [] });
};

test("a change that the feed leaves out shows with `full`, and within a day", async () => {
  const { vaultId, copy, folderId, profile } = await vaultWith(stack.owner.client, ["a.txt"]);
  const options = { vaultId, store: fileStore(profile), direction: "down" } as const;
  const run = (more: object = {}) =>
    syncFolder(processOf(stack.owner, profile, [withhold]).client, copy, { ...options, ...more });
  await run();
  for (const [name, more, later] of [
    ["b.txt", { full: true }, 0],
    ["c.txt", {}, 25 * 60 * 60 * 1000],
  ] as const) {
    await stack.owner.client.files.upload({ vaultId, folderId, name, body: name });
    expect((await run()).plan.create).toBe(0);
    // The chain compares its clock with this machine's: only what judges the index's age sees the later time.
    const real = Date.now.bind(Date);
    const clock = vi
      .spyOn(Date, "now")
      .mockImplementation(() => real() + (/remote-tree/.test(new Error("where").stack ?? "") ? later : 0));
    try {
      expect((await run(more)).plan.create).toBe(1);
    } finally {
      clock.mockRestore();
    }
    expect(await readFile(join(copy, "deep", name), "utf8")).toBe(name);
  }
});

test("a removal here is decided by a list of this run, and one there by what was verified", async () => {
  const { vaultId, copy, folderId, profile } = await vaultWith(stack.owner.client, ["a.txt", "b.txt", "c.txt"]);
  const options = { vaultId, store: fileStore(profile) };
  await syncFolder(processOf(stack.owner, profile).client, copy, { ...options, direction: "down" });
  const idOf = async (name: string) => {
    const { files } = await stack.owner.client.files.list({ vaultId, folderId, name });
    return files[0]?.id ?? "";
  };
  await stack.owner.client.files.delete(await idOf("a.txt"));
  const down = processOf(stack.owner, profile);
  const removed = await syncFolder(down.client, copy, { ...options, direction: "down", delete: true });
  expect([removed.failed, removed.plan.remove]).toEqual([[], 1]);
  expect(count(down.asked, "files.list")).toBeGreaterThan(0);
  expect((await readdir(join(copy, "deep"))).sort()).toEqual(["b.txt", "c.txt"]);

  // Somebody changes the file that goes: the condition is the state that was verified.
  await rm(join(copy, "deep/b.txt"));
  const b = await idOf("b.txt");
  let isChanged = false;
  const race: Middleware = async (request, next, { endpointId }) => {
    if (endpointId.startsWith("files.trash") && !isChanged) {
      isChanged = true;
      await stack.owner.client.files.replace(b, { body: "newer" });
    }
    return next(request);
  };
  const up = processOf(stack.owner, profile, [race]);
  const raced = await syncFolder(up.client, copy, { ...options, direction: "up", delete: true });
  expect(raced.failed).toEqual([expect.objectContaining({ path: "deep/b.txt", code: "precondition_failed" })]);
  expect(up.asked.filter((id) => LISTS.includes(id))).toEqual([]);
  expect((await stack.owner.client.files.get(b)).trashedAt).toBeNull();
});

test("what cannot be read has its own line, from the index as from a list", async () => {
  const { vaultId, copy, profile } = await vaultWith(stack.owner.client, ["a.txt", "b.txt"]);
  const { files } = await stack.owner.client.files.list({ vaultId });
  const forged = files.find(({ name }) => name === "a.txt")?.id ?? "";
  const forge: Middleware = async (request, next, { endpointId }) => {
    const answer = await next(request);
    if (endpointId !== "files.list") return answer;
    const body = (await answer.json()) as { files: { id: string; shared: { entry: string } | null }[] };
    for (const file of body.files)
      if (file.id === forged && file.shared !== null) file.shared.entry = body.files.at(-1)?.shared?.entry ?? "";
    for (const file of body.files)
      if (file.id === forged && file.shared !== null) file.shared.entry = file.shared.entry.replace(/....$/, "AAAA");
    return Response.json(body);
  };
  for (const middleware of [[forge], []]) {
    const { asked, client } = processOf(stack.owner, profile, middleware);
    const { failed, files: got } = await downloadFolder(client, copy, { vaultId, store: fileStore(profile) });
    expect(failed).toEqual([expect.objectContaining({ path: `deep/${forged}`, code: "damaged" })]);
    expect(got.map(({ path }) => path)).toEqual(["deep/b.txt"]);
    expect(asked.includes("files.list")).toBe(middleware.length > 0);
  }
});

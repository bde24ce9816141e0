/** Whole folders into and out of a shared vault, whose service is not believed. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Middleware } from "@coffer/sdk";
import { downloadFolder, fileStore, syncFolder, uploadFolder } from "@coffer/sdk/node";
import { expect, test } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { sharedStack, UNLIMITED } from "../kit/shared-scene.ts";

const stack = sharedStack(UNLIMITED);

test("a tree goes into a shared vault and comes back at another client, and only what changed goes again", async () => {
  const { client } = stack.owner;
  const base = makeDirectory();
  const [root, copy, stored] = [join(base, "root"), join(base, "copy"), join(base, "store")];
  await mkdir(join(root, "deep/empty"), { recursive: true });
  for (const [path, content] of [
    ["a.txt", "one"],
    ["deep/b.txt", "two"],
  ] as const)
    await writeFile(join(root, path), content);
  const { id: vaultId } = await client.vaults.create({ name: "trees", type: "shared" });
  const options = { vaultId, store: fileStore(stored) };
  const sent = await uploadFolder(client, root, { ...options, padded: true });
  expect([sent.failed, sent.files.length, sent.folders.length]).toEqual([[], 2, 2]);

  const reader = stack.owner.another();
  expect((await downloadFolder(reader, copy, options)).failed).toEqual([]);
  expect((await readdir(copy, { recursive: true })).sort()).toEqual(["a.txt", "deep", "deep/b.txt", "deep/empty"]);
  expect(await readFile(join(copy, "deep/b.txt"), "utf8")).toBe("two");

  // Without its journal the client has to read what is there: nothing is sent again.
  await rm(stored, { recursive: true });
  const compared = await uploadFolder(client, root, options);
  expect(compared.plan).toMatchObject({ create: 0, replace: 0, unchanged: 2 });
  expect(compared.files.map(({ sha256 }) => sha256).sort()).toEqual(sent.files.map(({ sha256 }) => sha256).sort());

  await writeFile(join(root, "a.txt"), "ONE");
  await rm(join(root, "deep"), { recursive: true });
  const synced = await syncFolder(client, root, { ...options, direction: "up", delete: true });
  expect([synced.failed, synced.plan]).toMatchObject([[], { replace: 1, unchanged: 0, remove: 3 }]);
  const { files } = await reader.files.list({ vaultId });
  expect(files.map(({ name }) => name)).toEqual(["a.txt"]);
});

/** Shows a file in another folder, in lists and by itself. */
const movedTo =
  (fileId: string, folderId: string): Middleware =>
  async (request, next) => {
    const answer = await next(request);
    if (request.method !== "GET" || !/\/api\/files(\/|\?)/.test(request.url)) return answer;
    const body = (await answer.json()) as { file?: Shown; files?: Shown[] };
    for (const shown of [body.file, ...(body.files ?? [])]) if (shown?.id === fileId) shown.folderId = folderId;
    return new Response(JSON.stringify(body), {
      status: answer.status,
      headers: { "content-type": "application/json" },
    });
  };

interface Shown {
  readonly id: string;
  folderId: string | null;
}

test("a place that is not that of the signed entry removes nothing here, for a member and for one who reads no more [S35]", async () => {
  const { client } = stack.owner;
  const mirror = await stack.invite("mirror");
  const base = makeDirectory();
  const copy = join(base, "copy");
  const { id: vaultId } = await client.vaults.create({ name: "places", type: "shared" });
  const { id: deep } = await client.folders.create({ vaultId, name: "deep" });
  const { id: other } = await client.folders.create({ vaultId, name: "other" });
  const { file } = await client.files.upload({ vaultId, folderId: deep, name: "a.txt", body: "one" });
  const { file: gone } = await client.files.upload({ vaultId, name: "gone.txt", body: "gone" });
  for (const name of ["b.txt", "c.txt"]) await client.files.upload({ vaultId, name, body: name });
  await client.vaults.members.add(vaultId, mirror.signer.chainAddress);
  const options = { vaultId, store: fileStore(join(base, "store")), direction: "down", delete: true } as const;
  expect((await syncFolder(mirror.client, copy, options)).failed).toEqual([]);
  const content = () => readFile(join(copy, "deep/a.txt"), "utf8");

  await client.files.delete(gone.id);
  const lying = () => mirror.another({ middleware: [movedTo(file.id, other)] });
  const asMember = await syncFolder(lying(), copy, options);
  expect(asMember.failed.map(({ code, path }) => `${code} ${path}`).sort()).toEqual([
    "damaged deep/a.txt",
    `damaged other/${file.id}`,
  ]);
  expect(asMember.files).toContainEqual(expect.objectContaining({ path: "gone.txt", act: "removed" }));
  expect(await content()).toBe("one");

  // The agent's key still shows it ids and folders, by the service's word alone.
  await client.vaults.members.remove(vaultId, mirror.signer.chainAddress);
  const asStranger = await syncFolder(lying(), copy, options);
  expect([asStranger.plan.remove, await content()]).toEqual([0, "one"]);
});

test("a service that claims to have a file already is not believed", async () => {
  const { client } = stack.owner;
  const base = makeDirectory();
  const root = join(base, "root");
  await mkdir(root);
  await writeFile(join(root, "a.txt"), "new");
  const { id: vaultId } = await client.vaults.create({ name: "claims", type: "shared" });
  await client.files.upload({ vaultId, name: "a.txt", body: "old" });
  // As of a public vault: then its digest would be taken for the content's.
  const claim: Middleware = async (request, next) => {
    const answer = await next(request);
    if (request.method !== "GET" || !request.url.includes("/api/files?")) return answer;
    const text = (await answer.text()).replaceAll(/"sha256":"\w+"/g, `"sha256":"${SHA256_OF_NEW}"`);
    return new Response(text.replaceAll('"encrypted":true', '"encrypted":false'), answer);
  };
  const result = await uploadFolder(stack.owner.another({ middleware: [claim] }), root, {
    vaultId,
    store: fileStore(join(base, "store")),
  });
  expect(result.files).toEqual([]);
  expect(result.failed).toMatchObject([{ path: "a.txt" }]);
});

/** Of "new". */
const SHA256_OF_NEW = "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437";

/** Keys that a client forgets while it writes: nothing leaves it that a key of zeros opens, and later calls open the keys again. */
import { KeyDisposedError, SecretKey, VaultKey } from "@coffer/crypto";
import { forgetKeys, type Client, type Vault } from "@coffer/sdk";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { afterAwait } from "../kit/after-await.ts";
import { keeping, type SentRequest } from "../kit/known-keys.ts";
import { read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import { openToolsHere } from "../kit/tools-here.ts";
import { openedWithZeros } from "../kit/zero-keys.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const stack = sharedStack(UNLIMITED);

let vault: Vault;
let folderId: string;
let fileId: string;
const objectId = () => Buffer.from((vault.chainObjectId ?? "").slice(2), "hex");
beforeAll(async () => {
  const { client } = stack.owner;
  vault = await client.vaults.create({ name: "forgetting", type: "shared" });
  folderId = (await client.folders.create({ name: "folder", vaultId: vault.id })).id;
  fileId = (await client.files.upload({ vaultId: vault.id, name: "file.txt", body: "first" })).file.id;
});

/** Not all of some 300 to 900 in every run; the nightly one takes every one. */
const STEP = FULL ? 1 : 83;
const PATIENCE = FULL ? 900_000 : 60_000;

type Write = (client: Client, name: string) => Promise<unknown>;

describe("keys that are forgotten after the n-th await of a write: it fails, or what it wrote is under the true key [D8]", () => {
  it.each<[string, Write]>([
    ["a new file", (client, name) => client.files.upload({ vaultId: vault.id, name, folderId, body: `of ${name}` })],
    ["a new version", (client, name) => client.files.replace(fileId, { body: `of ${name}` })],
    ["a rename", (client, name) => client.files.update(fileId, { name }, { vaultId: vault.id })],
    ["a folder", (client, name) => client.folders.create({ vaultId: vault.id, name, parentId: folderId })],
  ])("%s", { timeout: PATIENCE }, async (what, write) => {
    const endings = new Set<string>();
    for (let nth = 1; ; nth += STEP) {
      const sent: SentRequest[] = [];
      const client = stack.owner.another({ middleware: [keeping(sent)] });
      // Its keys are open, as in a process that has run for a while.
      await client.files.get(fileId);
      await client.folders.create({ vaultId: vault.id, name: `${what} begun ${nth}`, parentId: folderId });
      sent.length = 0;
      const name = `${what} ${nth}`;
      const { awaits, error } = await afterAwait(
        nth,
        () => write(client, name),
        () => {
          forgetKeys(client);
        },
      );
      endings.add(error === null ? "done" : ((error as { code?: string }).code ?? (error as Error).message));
      expect(await openedWithZeros(objectId(), sent, { names: [name], folderIds: [null, folderId] })).toEqual([]);
      if (awaits < nth) break;
    }
    expect([...endings].sort()).toEqual(["done", "keys_forgotten"]);
    // Another process opens all of it.
    const reader = stack.owner.another();
    const [files, folders] = [
      reader.files.list({ vaultId: vault.id, folderId }),
      reader.folders.list({ vaultId: vault.id }),
    ];
    for await (const { name } of files) expect(name).toMatch(/^a new file \d+$/);
    for await (const { name } of folders) expect(name).not.toBe("");
    expect(await read(reader, fileId)).toMatch(/^first$|^of a new version \d+$/);
  });
});

it("opens the keys again for calls that begin afterwards, and forgets none twice", async () => {
  const client = stack.owner.another();
  forgetKeys(client);
  const { file } = await client.files.upload({ vaultId: vault.id, name: "again.txt", body: "again" });
  forgetKeys(client);
  forgetKeys(client);
  expect(await read(client, file.id)).toBe("again");
});

it("overwrites all of them when the service refuses a tool server's key [D2, D8]", async () => {
  const agent = await stack.invite("agent");
  await stack.owner.client.vaults.members.add(vault.id, agent.signer.chainAddress);
  await using tools = await openToolsHere({ client: agent.client });
  const uses = vi.spyOn(SecretKey.prototype, "whileHeld");
  expect(await tools.call("file_list", { vaultId: vault.id })).toMatchObject({ isError: false });
  const keys = uses.mock.contexts.filter((key) => key instanceof VaultKey);
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) expect(key.reveal()).toHaveLength(32);
  await stack.owner.client.apiKeys.revoke(agent.keyId ?? "");
  await expect.poll(async () => (await tools.call("file_list", { vaultId: vault.id })).code).toBe("signed_out");
  await vi.waitFor(() => {
    for (const key of keys) expect(() => key.reveal()).toThrow(KeyDisposedError);
  });
});

/**
 * Names with characters that are newer than the Unicode version of file-format §9. Each runtime has an NFC of its own for them, so nobody may
 * choose one; whoever finds one all the same reads it and works with it.
 */
import type { Client, File, Vault } from "@coffer/sdk";
import { beforeAll, expect, test, vi } from "vitest";
import { sharedStack, UNLIMITED } from "../../../../../test/kit/shared-scene.ts";

/** Unicode 17.0 sorts these two marks in another order. The last one is in no NFC at all. */
const NAMES = ["a\u1acf\u0316", "a\u{10efa}\u0301", "e\u0301"];

/** Another program's rule for names: it takes everything. */
const another = vi.hoisted(() => ({ isOn: false }));
vi.mock(import("../../http/chosen-name.ts"), async (original) => {
  const { chosenName } = await original();
  return { chosenName: (id, name) => (another.isOn ? name : chosenName(id, name)) };
});

const stack = sharedStack(UNLIMITED);
let client: Client;
let vault: Vault;

beforeAll(async () => {
  ({ client } = stack.owner);
  vault = await client.vaults.create({ name: "newer names", type: "shared" });
});

test("nobody chooses one in a shared vault: for a file, a folder, a new name, out of the trash, or for a vault [S1]", async () => {
  const { file } = await client.files.upload({ vaultId: vault.id, name: "old", body: "b" });
  const folder = await client.folders.create({ vaultId: vault.id, name: "old folder" });
  const [name] = NAMES;
  const refusal = { code: "invalid_request", message: expect.stringContaining("not in Unicode 16.0") as string };
  await expect(client.files.upload({ vaultId: vault.id, name: name ?? "", body: "b" })).rejects.toMatchObject(refusal);
  await expect(client.folders.create({ vaultId: vault.id, name: name ?? "" })).rejects.toMatchObject(refusal);
  await expect(client.files.update(file.id, { name })).rejects.toMatchObject(refusal);
  await expect(client.folders.update(folder.id, { name })).rejects.toMatchObject(refusal);
  await client.files.delete(file.id);
  await expect(client.files.restore(file.id, { name })).rejects.toMatchObject(refusal);
  await expect(client.vaults.create({ name: name ?? "", type: "shared" })).rejects.toMatchObject(refusal);
  // A name that no file can have is refused in the same words, before anything is signed.
  await expect(client.folders.update(folder.id, { name: "a/b" })).rejects.toMatchObject({ code: "invalid_request" });
});

test("one that another member gave keeps nobody from reading, moving, staging and rotating (file-format §9) [M15]", async () => {
  const member = await stack.invite("of another program");
  await client.vaults.members.add(vault.id, member.signer.chainAddress);
  const folder = await client.folders.create({ vaultId: vault.id, name: "folder" });
  const files: File[] = [];
  another.isOn = true;
  for (const name of NAMES)
    files.push((await member.client.files.upload({ vaultId: vault.id, folderId: folder.id, name, body: name })).file);
  another.isOn = false;
  const reader = stack.owner.another();
  const listed = async (folderId: string): Promise<string[]> => {
    const names: string[] = [];
    for await (const { name } of reader.files.list({ vaultId: vault.id, folderId })) names.push(name);
    return names.sort();
  };
  expect(await listed(folder.id)).toEqual([...NAMES].sort());
  const [first, , last] = files;
  expect((await reader.files.list({ vaultId: vault.id, folderId: folder.id, name: "\u00e9" })).files).toMatchObject([
    { id: last?.id, name: "e\u0301" },
  ]);
  expect(await reader.files.update(first?.id ?? "", { folderId: null })).toMatchObject({ name: NAMES[0] });
  // What was removed leaves the names under an old key: the next writer stages them, and a rotation takes all with it.
  await client.vaults.members.remove(vault.id, member.signer.chainAddress);
  await client.files.upload({ vaultId: vault.id, folderId: folder.id, name: "next", body: "n" });
  expect(await client.vaults.rotate(vault.id)).toMatchObject({ failed: [] });
  expect(await listed(folder.id)).toEqual([...NAMES.slice(1), "next"].sort());
  for (const { id, name } of files)
    expect(String(Buffer.from(await (await reader.files.download(id)).bytes()))).toBe(name);
});

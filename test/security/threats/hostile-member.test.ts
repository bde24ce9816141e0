/** What a member who turns hostile can do, to others and to the allowlist, and what the owner gets back (docs/threat-model.md). */
import { addMember, openChain, raiseFloor, removeMember } from "@coffer/chain";
import type { Client, Vault } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { onWire } from "../../kit/lying-service.ts";
import { read, sharedStack } from "../../kit/shared-scene.ts";
import type { SharedPerson } from "../../kit/shared-stack.ts";

const stack = sharedStack();
let owner: Client;
let hostile: SharedPerson;
let victim: SharedPerson;
let vault: Vault;
let fileIds: string[];

beforeAll(async () => {
  owner = stack.owner.client;
  vault = await owner.vaults.create({ name: "team", type: "shared" });
  [hostile, victim] = [await stack.invite("hostile"), await stack.invite("victim")];
  for (const { signer } of [hostile, victim]) await owner.vaults.members.add(vault.id, signer.chainAddress);
  fileIds = [];
  for (const name of ["a", "b", "c"]) fileIds.push(await put(victim.client, `${name}.txt`));
});

async function put(client: Client, name: string): Promise<string> {
  return (await client.files.upload({ vaultId: vault.id, name, body: `content of ${name}` })).file.id;
}

describe("a hostile member", () => {
  test("trashes everything, and the owner restores everything [M2]", async () => {
    for (const id of fileIds) await hostile.client.files.delete(id);
    expect((await owner.files.list({ vaultId: vault.id })).files).toEqual([]);
    expect((await owner.trash.list({ vaultId: vault.id })).files).toHaveLength(3);
    for (const id of fileIds) await owner.files.restore(id);
    expect(await read(victim.client, fileIds[0] ?? "")).toBe("content of a.txt");
  });

  test("overwrites and renames what others wrote, under its own name; what was replaced is served by its version id [M3]", async () => {
    const [id = ""] = fileIds;
    const { versionId } = await victim.client.files.get(id);
    await hostile.client.files.replace(id, { vaultId: vault.id, body: "spoiled" });
    await hostile.client.files.update(id, { name: "spoiled.txt" }, { vaultId: vault.id });
    expect(await read(victim.client, id)).toBe("spoiled");
    expect((await victim.client.files.get(id)).name).toBe("spoiled.txt");
    const headers = { authorization: `Bearer ${stack.owner.apiKey}` };
    const old = await fetch(`${stack.baseUrl}/api/files/${id}/content?versionId=${versionId}`, { headers });
    expect(old.status).toBe(200);
    const address = hostile.signer.chainAddress.slice(2);
    const statement = Buffer.from(onWire(await owner.files.get(id)).shared?.version ?? "", "base64").toString("hex");
    expect(statement).toContain(address);
  });

  test("changes the allowlist in no way: the chain takes neither adding, nor removing, nor the floor from it [M4 R10 D3]", async () => {
    const chain = openChain(stack.network);
    const objectId = vault.chainObjectId ?? "";
    const { signer } = hostile;
    const passing = `0x${"66".repeat(32)}`;
    await owner.vaults.members.add(vault.id, passing);
    await owner.vaults.members.remove(vault.id, passing);
    const before = await chain.readVault(objectId, { maxAge: 0 });
    const thief = `0x${"77".repeat(32)}`;
    for (const attempt of [
      () => addMember(chain, signer, { objectId, chainAddress: thief }),
      () => removeMember(chain, signer, { objectId, chainAddress: victim.signer.chainAddress }),
      () => raiseFloor(chain, signer, { objectId, floor: before.generation }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: "not_owner" });
    expect((await chain.readVault(objectId, { maxAge: 0 })).version).toBe(before.version);
  });

  test("is named in the member list and on the chain, for everybody who asks the chain, before and after its removal [S11 M5 R9]", async () => {
    const anyone = openChain(stack.network);
    const objectId = vault.chainObjectId ?? "";
    const of = async () => anyone.readVault(objectId, { maxAge: 0 });
    expect((await of()).members.map(({ chainAddress }) => chainAddress)).toContain(hostile.signer.chainAddress);
    await owner.vaults.members.remove(vault.id, hostile.signer.chainAddress);
    const { members, former } = await of();
    expect(members.map(({ chainAddress }) => chainAddress)).not.toContain(hostile.signer.chainAddress);
    expect(former.map(({ chainAddress }) => chainAddress)).toContain(hostile.signer.chainAddress);
  });
});

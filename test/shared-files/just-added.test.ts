import { describe, expect, it } from "vitest";
import { sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack();

/** A vault that a reader has just read on the chain, and a member who was added after that. */
async function openScene(name: string): Promise<{
  vaultId: string;
  agent: SharedPerson;
  reader: SharedPerson["client"];
}> {
  const { client } = stack.owner;
  const { id: vaultId } = await client.vaults.create({ name, type: "shared" });
  const agent = await stack.invite(name);
  const reader = stack.owner.another();
  expect(await reader.files.list({ vaultId })).toMatchObject({ files: [] });
  await client.vaults.members.add(vaultId, agent.signer.chainAddress);
  return { vaultId, agent, reader };
}

describe("what a member writes right after it was added", () => {
  it("opens at once to whoever read the vault just before, also where it made the vault key", async () => {
    const { vaultId, agent, reader } = await openScene("just added");
    // The first file of the vault: the agent publishes the record of its key.
    const body = new TextEncoder().encode("hello");
    const { file } = await agent.client.files.upload({ vaultId, name: "a.txt", body });
    const { files } = await reader.files.list({ vaultId });
    expect(files.map(({ name, unreadable }) => [name, unreadable])).toEqual([["a.txt", undefined]]);
    expect(new TextDecoder().decode(await (await reader.files.download(file.id)).bytes())).toBe("hello");
    const next = new TextEncoder().encode("hello again");
    await reader.files.replace(file.id, { body: next });
    expect(new TextDecoder().decode(await (await agent.client.files.download(file.id)).bytes())).toBe("hello again");
  });
});

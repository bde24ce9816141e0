/** Several writers in one folder of a shared vault, who all want the same names (J16). */
import type { Client, Vault } from "@coffer/sdk";
import { beforeAll, expect, test } from "vitest";
import { sharedStack, UNLIMITED } from "../kit/shared-scene.ts";

const WRITERS = 8;
const FILES = process.env["COFFER_TEST_COUNTS"] === "full" ? 50 : 6;

const stack = sharedStack(UNLIMITED);
let vault: Vault;

beforeAll(async () => {
  vault = await stack.owner.client.vaults.create({ name: "busy", type: "shared" });
});

/** Under the first of "name", "name (2)", "name (3)" … that is free. */
async function put(client: Client, folderId: string, name: string, body: Uint8Array): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const free = attempt === 1 ? name : `${name} (${String(attempt)})`;
    try {
      return (await client.files.upload({ vaultId: vault.id, folderId, name: free, body })).file.name;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "name_exists")) throw error;
    }
  }
}

test("every file is stored once under a name of its own, and reads as it was written", async () => {
  const { client } = stack.owner;
  const folder = await client.folders.create({ name: "inbox", vaultId: vault.id });
  const agents = await Promise.all(
    Array.from({ length: WRITERS / 2 }, (_, index) => stack.invite(`writer ${String(index)}`)),
  );
  for (const { signer } of agents) await client.vaults.members.add(vault.id, signer.chainAddress);
  const writers = agents.flatMap((agent) => [agent.client, agent.another()]);
  const stored = await Promise.all(
    writers.map(async (writer, of) => {
      const names: string[] = [];
      for (let index = 0; index < FILES; index += 1)
        names.push(
          await put(writer, folder.id, `report ${String(index)}`, Buffer.from(`${String(of)}/${String(index)}`)),
        );
      return names;
    }),
  );
  const all = stored.flat();
  expect(all).toHaveLength(WRITERS * FILES);
  expect(new Set(all).size).toBe(all.length);
  const listed = new Map<string, string>();
  for await (const { id, name } of client.files.list({ vaultId: vault.id, folderId: folder.id })) listed.set(name, id);
  expect([...listed.keys()].sort()).toEqual([...all].sort());
  for (const [of, names] of stored.entries())
    for (const [index, name] of names.entries()) {
      const download = await client.files.download(listed.get(name) ?? "");
      expect(Buffer.from(await download.bytes()).toString()).toBe(`${String(of)}/${String(index)}`);
    }
});

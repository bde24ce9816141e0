import { expect, it } from "vitest";
import { openService } from "../../connection/service.test-kit.ts";
import { listTree } from "./remote-tree.ts";

const LISTING = { lanes: 1, signal: undefined, refuse: null, isRepeated: false };

it("lists no folder of another vault, and none that is in the trash", async () => {
  const { client } = await openService();
  const [vault, other] = await Promise.all(
    ["tree", "another"].map((name) => client.vaults.create({ name, type: "public" })),
  );
  const vaultId = vault?.id ?? "";
  const elsewhere = await client.folders.create({ vaultId: other?.id ?? "", name: "there" });
  const trashed = await client.folders.create({ vaultId, name: "gone" });
  await client.folders.delete(trashed.id);
  for (const { id: folderId } of [elsewhere, trashed])
    await expect(listTree(client, { vaultId, folderId }, LISTING)).rejects.toThrow("not a folder of this vault");
});

it("says why the list failed when the folder cannot be looked at either", async () => {
  const { connect, client } = await openService();
  const { id: vaultId } = await client.vaults.create({ name: "tree", type: "public" });
  const { id: folderId } = await client.folders.create({ vaultId, name: "in it" });
  const down = connect({
    retry: { baseDelayMs: 1, maxDelayMs: 2 },
    middleware: [(request) => Promise.reject(new TypeError(`no way to ${new URL(request.url).pathname}`))],
  });
  await expect(listTree(down, { vaultId, folderId }, LISTING)).rejects.toMatchObject({ code: "connection_failed" });
});

/** J23: what changed, in a shared vault. */
import assert from "node:assert/strict";
import { runSql } from "../kit/data-directory.ts";
import type { Checks, SharedWorld } from "./run.ts";

export async function sharedChanges({ service }: SharedWorld): Promise<Checks> {
  const owner = await service.signUp();
  const { id: vaultId } = await owner.client.vaults.create({ name: "Followed", type: "shared" });
  const agent = await service.invite(owner, { vaultIds: [vaultId] });
  const member = await service.signUp();
  for (const { address } of [agent, member]) await owner.client.vaults.members.add(vaultId, address);
  const put = (name: string) =>
    agent.client.files.upload({ vaultId, name, body: new TextEncoder().encode("content of the agent") });
  const { file } = await put("plans.txt");
  return {
    "J23-shared": async () => {
      for (const reader of [owner, agent, member]) {
        const { changes } = await reader.client.changes.list({ vaultId, kind: "file" });
        assert.deepEqual(
          changes.map(({ kind, object, name, author }) => [
            kind,
            object.id,
            name,
            author?.chainAddress,
            author?.verified,
          ]),
          [["file.uploaded", file.id, "plans.txt", agent.address, true]],
        );
      }
      const { changes } = await member.client.changes.list({ vaultId });
      assert.deepEqual(new Set(changes.map(({ actor }) => actor.id)), new Set([null]));
      await assert.rejects(async () => member.client.changes.list({ kind: "file", vaultId: crypto.randomUUID() }), {
        code: "not_found",
      });
    },
    "J23-claims": async () => {
      const claim =
        "UPDATE changes SET actor_json = replace(actor_json, ?, ?) WHERE action = 'file.uploaded' AND vault_id = ?";
      await runSql(service.dataDirectory, claim, agent.address, owner.address, vaultId);
      const { changes } = await owner.client.changes.list({ vaultId, kind: "file" });
      assert.deepEqual(
        changes.map(({ actor, author }) => [actor.chainAddress, author]),
        [[owner.address, null]],
      );
    },
  };
}

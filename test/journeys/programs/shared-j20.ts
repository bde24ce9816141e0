/** J20: yesterday's version, in a shared vault. */
import assert from "node:assert/strict";
import { removedAuthorByCommand } from "./commands-shared-files.ts";
import type { Checks, SharedWorld } from "./run.ts";

const CONTENTS = ["first", "the second", "third", "the fourth one", "fifth"];

export async function sharedVersions(world: SharedWorld): Promise<Checks> {
  const { service } = world;
  const owner = await service.signUp();
  const { id: vaultId } = await owner.client.vaults.create({ name: "Yesterday", type: "shared" });
  const agent = await service.invite(owner, { vaultIds: [vaultId] });
  await owner.client.vaults.members.add(vaultId, agent.address);
  const [first = "", ...others] = CONTENTS;
  const { file } = await owner.client.files.upload({ vaultId, name: "report.txt", body: first });
  for (const [at, body] of others.entries())
    await [agent, owner][at % 2]?.client.files.replace(file.id, { vaultId, body });
  const read = async (versionId?: string): Promise<string> =>
    new TextDecoder().decode(await (await owner.client.files.download(file.id, { versionId })).bytes());
  const list = async () => (await owner.client.files.versions(file.id)).versions;
  return {
    ...removedAuthorByCommand(world, owner, agent.address, CONTENTS[1] ?? ""),
    "J20-shared": async () => {
      const versions = await list();
      const signers = [owner.address, agent.address];
      assert.deepEqual(
        versions.map(({ number, size, author }) => [number, size, author?.chainAddress, author?.verified]),
        CONTENTS.map(({ length }, at) => [at + 1, length, signers[at % 2], true]).reverse(),
      );
      assert.equal(await read(versions[1]?.versionId), CONTENTS[3]);
      await owner.client.files.restoreVersion(file.id, versions[1]?.versionId ?? "");
      assert.equal(await read(), CONTENTS[3]);
      const [newest] = await list();
      const { chainAddress } = newest?.author ?? {};
      assert.deepEqual([newest?.number, newest?.how, chainAddress], [6, "restore", owner.address]);
    },
    "J20-removed-author": async () => {
      await owner.client.vaults.members.remove(vaultId, agent.address);
      await owner.client.vaults.rotate(vaultId);
      const theirs = (await list()).find(({ number }) => number === 2);
      assert.deepEqual([theirs?.author?.chainAddress, theirs?.author?.verified], [agent.address, true]);
      assert.equal(await read(theirs?.versionId), CONTENTS[1]);
    },
  };
}

/** J8: a webhook tells of a shared vault without telling what is in it. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { objectAt } from "../kit/account.ts";
import { openWebhookSink, verifyArrived } from "../kit/webhook-sink.ts";
import { openWebhooks } from "../kit/webhooks.ts";
import type { Checks, SharedWorld } from "./run.ts";

export async function sharedEvents({ service, cleanup }: SharedWorld): Promise<Checks> {
  const owner = await service.signUp();
  const receiver = cleanup.use(await openWebhookSink()).receiver();
  const webhook = await openWebhooks(service.baseUrl, owner.apiKey).create(receiver.url, ["*"]);
  const { id: vaultId } = await owner.client.vaults.create({ name: "Quiet", type: "shared" });
  const agent = await service.invite(owner, { vaultIds: [vaultId] });
  await owner.client.vaults.members.add(vaultId, agent.address);
  const canary = `canary-${randomBytes(6).toString("hex")}`;
  const body = new TextEncoder().encode(`the content of ${canary}`);
  return {
    "J8-shared-event": async () => {
      const { file } = await agent.client.files.upload({ vaultId, name: `${canary}.txt`, body });
      const arrived = await receiver.waitFor((one) => one.body.includes(file.versionId));
      const event = verifyArrived(arrived, webhook.secret);
      const { object, actor } = objectAt(event, "data");
      const { type, id, size, encrypted } = objectAt({ object }, "object");
      assert.deepEqual([type, id, size, encrypted], ["file", file.id, file.storedSize, true]);
      assert.equal(objectAt({ actor }, "actor")["chainAddress"], agent.address);
    },
    "J8-no-names": async () => {
      const folder = await owner.client.folders.create({ vaultId, name: `${canary}-folder` });
      const { files } = await owner.client.files.list({ vaultId });
      await owner.client.files.update(files[0]?.id ?? "", { name: `${canary}-renamed`, folderId: folder.id });
      await receiver.waitFor((one) => one.body.includes("file.updated"));
      await receiver.waitFor((one) => one.body.includes(folder.id));
      for (const { body: told } of receiver.arrived) {
        for (const form of [
          canary,
          Buffer.from(canary).toString("base64").slice(0, 20),
          Buffer.from(canary).toString("hex"),
        ])
          assert.ok(!told.includes(form), told);
      }
    },
  };
}

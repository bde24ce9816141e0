/** Methods that know no file and sign, or follow: that they pin nothing and let nothing out is held against them all the same. */
import { randomUUID } from "node:crypto";
import { chainKeySigner, generateChainKey } from "@coffer/sdk";
import { plain, sharedVault } from "./arguments.ts";
import type { Method } from "./method.ts";

export const PEOPLE: Readonly<Record<string, Method>> = {
  "account.linkChain": plain(({ client, world }) => client.account.linkChain(world.owner.signer)),
  "invites.create": async (run) => {
    const { client, world, draw, blame } = run;
    const vaultId = sharedVault(run);
    const { text } = await client.invites.create({ name: draw.word("i"), vaultIds: [vaultId] });
    const object = world.truth.vaults.get(vaultId)?.object ?? "";
    const told = Buffer.from(text.split(".").at(-1) ?? "", "base64url").toString("hex");
    if (!`${text} ${told}`.includes(object)) blame(`the invite tells of another object than ${object}`);
    return undefined;
  },
  "invites.list": plain(({ client }) => client.invites.list()),
  "invites.revoke": plain(({ client }) => client.invites.revoke(randomUUID())),
  "invites.redeem": async ({ client, world, draw }) => {
    const { text } = await world.owner.client.invites.create({
      name: draw.word("i"),
      vaultIds: [world.vaults.mine.id],
    });
    await client.invites.redeem(text, await chainKeySigner((await generateChainKey()).privateKey));
    return undefined;
  },
  "invites.checkAddressProof": plain(async ({ client }) => {
    const { invites } = await client.invites.list();
    for (const invite of invites.slice(0, 3)) await client.invites.checkAddressProof("cofi_x.y", invite);
  }),
  "invites.readText": plain(({ client }) => client.invites.readText("cofi_x.y")),
  "audit.verify": plain(({ client }) => client.audit.verify()),
  "agents.rewind": plain(({ client }) =>
    client.agents.rewind({ keyId: randomUUID(), since: new Date(0).toISOString(), dryRun: true }),
  ),
  "changes.list": plain(({ client }) => client.changes.list({ limit: 20 })),
  "changes.follow": plain(async ({ client }) => {
    const signal = AbortSignal.timeout(50);
    for await (const _ of client.changes.follow({ signal })) break;
  }),
  "events.follow": plain(async ({ client }) => {
    const signal = AbortSignal.timeout(50);
    for await (const _ of client.events.follow({ signal })) break;
  }),
};

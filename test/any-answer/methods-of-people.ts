/** Methods that know no file: that they pin nothing and let nothing out is held against them all the same. */
import { randomBytes, randomUUID } from "node:crypto";
import { chainKeySigner, generateChainKey } from "@coffer/sdk";
import { asked, plain, sharedVault } from "./arguments.ts";
import type { Method } from "./method.ts";

export const PEOPLE: Readonly<Record<string, Method>> = {
  "account.get": plain(({ client }) => client.account.get()),
  "account.update": plain(({ client, draw }) => client.account.update({ name: draw.word("p") })),
  "account.linkChain": plain(({ client, world }) => client.account.linkChain(world.owner.signer)),
  "auth.signup": plain(({ client, draw }) =>
    client.auth.signup({
      email: `${draw.word("p")}@example.com`,
      password: draw.word("a long one "),
      accessCode: draw.word("a"),
    }),
  ),
  "auth.login": plain(({ client, draw }) =>
    client.auth.login({ email: "owner@example.com", password: draw.word("long password ") }),
  ),
  "auth.refresh": plain(({ client, draw }) => client.auth.refresh(draw.word("r"))),
  "auth.logout": plain(({ client, draw }) => client.auth.logout(draw.word("r"))),
  "auth.changePassword": plain(({ client, draw }) =>
    client.auth.changePassword({ currentPassword: draw.word("a long one "), newPassword: draw.word("a long one ") }),
  ),
  "auth.forgotPassword": plain(({ client }) => client.auth.forgotPassword("nobody@example.com")),
  "auth.resetPassword": plain(({ client, draw }) =>
    client.auth.resetPassword({ token: draw.word("t"), newPassword: draw.word("a long one ") }),
  ),
  "auth.verifyEmail": plain(({ client, draw }) => client.auth.verifyEmail(draw.word("t"))),
  "auth.resendVerification": plain(({ client }) => client.auth.resendVerification("nobody@example.com")),
  "auth.checkAccessCode": plain(({ client, draw }) => client.auth.checkAccessCode(draw.word("code"))),
  "sessions.list": plain(({ client }) => client.sessions.list()),
  "sessions.end": plain(({ client }) => client.sessions.end(randomUUID())),
  "identityProvider.authorize": plain(({ client }) => client.identityProvider.authorize()),
  "identityProvider.authorizeZklogin": plain(({ client }) => client.identityProvider.authorizeZklogin({ nonce: "n" })),
  "identityProvider.callback": plain(({ client }) => client.identityProvider.callback({ code: "c", state: "s" })),
  "identityProvider.zkloginToken": plain(({ client }) =>
    client.identityProvider.zkloginToken({ code: "c", state: "s" }),
  ),
  "identityProvider.zkloginAuth": plain(({ client }) =>
    client.identityProvider.zkloginAuth({
      code: "c",
      state: "s",
      maxEpoch: 10,
      randomness: "1",
      ephemeralPublicKey: randomBytes(33).toString("base64"),
    }),
  ),
  "apiKeys.create": plain(({ client, draw }) => client.apiKeys.create({ name: draw.word("k"), expiresInDays: 0.01 })),
  "apiKeys.list": plain(({ client }) => client.apiKeys.list()),
  "apiKeys.get": asked("apiKeys", ({ client }, id) => client.apiKeys.get(id)),
  "apiKeys.revoke": plain(({ client }) => client.apiKeys.revoke(randomUUID())),
  "apiKeys.rotate": plain(({ client }) => client.apiKeys.rotate(randomUUID())),
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
  "development.signup": plain(({ client, draw }) =>
    client.development.signup({ email: `${draw.word("d")}@example.com` }),
  ),
  "billing.get": plain(({ client }) => client.billing.get()),
  "billing.checkout": plain(({ client }) => client.billing.checkout({ plan: "pro" })),
  "billing.changePlan": plain(({ client }) => client.billing.changePlan({ plan: "pro" })),
  "audit.list": plain(({ client }) => client.audit.list({ limit: 20 })),
  "audit.verify": plain(({ client }) => client.audit.verify()),
};

export const WEBHOOKS: Readonly<Record<string, Method>> = {
  "webhooks.create": plain(({ client }) =>
    client.webhooks.create({ url: "http://127.0.0.1:1/", events: ["invite.created"] }),
  ),
  "webhooks.list": plain(({ client }) => client.webhooks.list()),
  "webhooks.get": asked("webhooks", ({ client }, id) => client.webhooks.get(id)),
  "webhooks.update": asked("webhooks", ({ client, draw }, id) =>
    client.webhooks.update(id, { description: draw.word("d") }),
  ),
  "webhooks.delete": plain(({ client }) => client.webhooks.delete(randomUUID())),
  "webhooks.test": plain(({ client, world, draw }) => client.webhooks.test(draw.pick(world.webhookIds))),
  "webhooks.rotateSecret": plain(({ client, world, draw }) =>
    client.webhooks.rotateSecret(draw.pick(world.webhookIds)),
  ),
  "webhooks.deliveries": plain(({ client, world, draw }) => client.webhooks.deliveries(draw.pick(world.webhookIds))),
  "webhooks.delivery": plain(({ client, world, draw }) =>
    client.webhooks.delivery(draw.pick(world.webhookIds), randomUUID()),
  ),
  "webhooks.redeliver": plain(({ client, world, draw }) =>
    client.webhooks.redeliver(draw.pick(world.webhookIds), randomUUID()),
  ),
  "webhooks.recover": plain(({ client, world, draw }) =>
    client.webhooks.recover(draw.pick(world.webhookIds), { since: new Date().toISOString() }),
  ),
  "webhooks.eventKinds": plain(({ client }) => client.webhooks.eventKinds()),
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

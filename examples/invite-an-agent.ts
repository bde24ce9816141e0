/**
 * An owner invites an agent into a shared vault. The agent redeems the invite with a chain key of its own, becomes a
 * member, and works there.
 * Run it: `npm run example -- invite-an-agent`, or copy it into a project of yours. The program checks each claim and
 * ends with 1 at the first that does not hold.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chainKeySigner, createClient, generateChainKey, memoryPins, SdkError } from "@coffer/sdk";
import { fileStore, openSharedVaults, resolveSettings } from "@coffer/sdk/node";
import { sharedVaults } from "@coffer/sdk/shared";

// SERVICE_CONFIG_FILE names a file with the address, the key, the chain key and the network, as `npm start` writes it.
const settings = await resolveSettings();
const { baseUrl, apiKey } = settings;
// The example keeps what it learns about vaults in a folder of its own. Your program keeps it beside your configuration.
const folder = await mkdtemp(join(tmpdir(), "coffer-example-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const opened = await openSharedVaults(settings, fileStore(folder));
if (baseUrl === null || apiKey === null || opened === null) throw new Error("Set SERVICE_CONFIG_FILE.");
const owner = createClient({ baseUrl, credentials: apiKey, sharedVaults: opened });

// The owner makes a vault, and an invite for it alone. The owner hands the text over once, not through the service.
const vault = await owner.vaults.create({ name: `For the agent ${randomUUID()}`, type: "shared" });
const invite = await owner.invites.create({
  name: "build agent",
  scopes: ["files:read", "files:write"],
  vaultIds: [vault.id],
  expiresInHours: 2,
});

// The agent has a chain key of its own, which never leaves its machine, the invite's text, and the owner's network.
const { privateKey } = await generateChainKey();
const signer = await chainKeySigner(privateKey);
const visitor = createClient({ baseUrl });
// Here the client pins the vault of the invite, so the service cannot show another one. `pinStore(fileStore())` keeps pins on disk.
const pins = memoryPins();
const redeemed = await visitor.invites.redeem(invite.text, signer, { pins });
const { network } = opened;
const agent = createClient({
  baseUrl,
  credentials: { apiKey: redeemed.key },
  sharedVaults: sharedVaults({ signer, network, pins }),
});
claim("it has the vault's object before it meets the vault", redeemed.vaults[0]?.chainObjectId === vault.chainObjectId);

const { account, credential } = await agent.account.get();
claim("the key is an agent's, bound to its address", account.accessLevel === "agent");
claim("and the address is the agent's own", credential.chainAddress === signer.chainAddress);
claim("it holds what the invite gave", credential.scopes?.join() === "files:read,files:write");

// An invite opens the service. The vault opens when its owner adds the agent on the chain.
const body = new TextEncoder().encode("built");
const input = { vaultId: vault.id, name: "build.log", contentType: "text/plain", body };
claim("an invited agent is no member yet", (await failureOf(agent.files.upload(input))) === "not_a_member");
// The invite's secret proves the address, so the service cannot put in one of its own.
await owner.vaults.members.add(vault.id, { invite: invite.text }, { label: "build agent" });
const { file } = await agent.files.upload(input);
claim("the member stores a file where it was invited", file.vaultId === vault.id && file.encrypted);
claim("and not elsewhere", (await failureOf(agent.files.upload({ name: "elsewhere", body }))) !== null);
const read = await owner.files.download(file.id);
claim("the owner reads it", new TextDecoder().decode(await read.bytes()) === "built" && read.name === "build.log");
claim("the agent invites nobody itself", (await failureOf(agent.invites.create({ name: "x" }))) === "owner_only");

// The owner sees the agent's address, and that the service did not put in one of its own.
const used = (await owner.invites.list()).invites.find(({ id }) => id === invite.id);
assert.ok(used !== undefined);
claim("the invite is used, by that address", used.status === "used" && used.chainAddress === signer.chainAddress);
claim("the redeemer held the whole text", await owner.invites.checkAddressProof(invite.text, used));
const stranger = await chainKeySigner((await generateChainKey()).privateKey);
claim("an invite works once", (await failureOf(visitor.invites.redeem(invite.text, stranger))) === "invite_ended");

const { fault, entries } = await owner.audit.verify();
claim("the audit log has every act, and its chain is whole", fault === null && entries >= 6);

// This ends its key, and removes it from every shared vault of the account.
const { memberships } = await owner.agents.revoke(redeemed.keyId);
claim("a revoked agent is out of the vault", memberships[0]?.outcome === "removed");
claim("and of the service at once", (await failureOf(agent.account.get())) === "invalid_credential");

await owner.vaults.delete(vault.id, { force: true });
console.log("every claim holds");

/** The code of a call's failure; null when it succeeds. */
async function failureOf(call: PromiseLike<unknown>): Promise<string | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (error instanceof SdkError) return error.code;
    throw error;
  }
}

function claim(sentence: string, holds: boolean): void {
  assert.ok(holds, sentence);
  console.log(`ok  ${sentence}`);
}

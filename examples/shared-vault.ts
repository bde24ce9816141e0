/**
 * A shared vault: what the service sees of it, who can open it, and what removal does.
 * Run it: `npm run example -- shared-vault`, or copy it into a project of yours. The program checks each claim and
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

// The vault is an object on the chain, owned by this address, and a vault of the account at the service.
const vault = await owner.vaults.create({ name: `Research ${randomUUID()}`, type: "shared" });
claim("the vault names its object on the chain", vault.chainObjectId?.startsWith("0x") === true);

const text = "The launch is on the ninth of May.";
const plans = await owner.folders.create({ vaultId: vault.id, name: "plans" });
const { file } = await owner.files.upload({
  vaultId: vault.id,
  folderId: plans.id,
  name: "launch.md",
  contentType: "text/markdown",
  body: new TextEncoder().encode(text),
});
const [listed] = (await owner.files.list({ vaultId: vault.id })).files;
claim("its owner sees names and sizes", listed?.name === "launch.md" && listed.size === text.length);

// The same account without a chain key sees only what the service sees.
const keyless = createClient({ baseUrl, credentials: apiKey });
const [shown] = (await keyless.files.list({ vaultId: vault.id })).files;
claim(
  "the service shows neither name nor type",
  shown?.name === "" && shown.contentType === "application/octet-stream",
);
const headers = { authorization: `Bearer ${apiKey.reveal()}` };
const stored = Buffer.from(await (await fetch(`${baseUrl}/api/files/${file.id}/content`, { headers })).arrayBuffer());
claim("and holds no word of the content", stored.length > text.length && !stored.includes("ninth of May"));

// An agent of the account that is not a member.
const { privateKey } = await generateChainKey();
const signer = await chainKeySigner(privateKey);
const invite = await owner.invites.create({ name: "analyst", vaultIds: [vault.id] });
const pins = memoryPins();
const redeemed = await createClient({ baseUrl }).invites.redeem(invite.text, signer, { pins });
const { network } = opened;
const analyst = createClient({
  baseUrl,
  credentials: { apiKey: redeemed.key },
  sharedVaults: sharedVaults({ signer, network, pins }),
});
claim("a non-member reads nothing", (await failureOf(analyst.files.download(file.id))) === "not_a_member");
const check = await analyst.vaults.checkAccess(vault.id);
claim("and sees which layer is missing", check.chain.cause === "not_a_member" && check.api.cause === "not_a_member");
claim("with the address that the owner has to add", check.chain.nextStep.includes(signer.chainAddress));

// The owner decides on the chain. The service and the key servers follow.
await owner.vaults.members.add(vault.id, signer.chainAddress, { label: "analyst" });
claim("a member reads what was written before it came", (await readText(analyst, file.id)) === text);
const range = { offset: 4, length: 6 };
claim("in parts as well", (await readText(analyst, file.id, range)) === "launch");
const renamed = await analyst.files.update(file.id, { name: "launch-2027.md", folderId: null });
claim("and changes it", renamed.name === "launch-2027.md" && renamed.folderId === null);
const answer = await analyst.files.upload({
  vaultId: vault.id,
  name: "answer.md",
  body: new TextEncoder().encode("Noted."),
});
claim("the owner reads what it writes", (await readText(owner, answer.file.id)) === "Noted.");

// One act over key, chain and service.
const before = (await owner.vaults.get(vault.id)).generation ?? 0;
const revoked = await owner.agents.revoke(redeemed.keyId);
const membership = revoked.memberships.find(({ vaultId }) => vaultId === vault.id);
claim("the removal begins a new generation", membership?.outcome === "removed" && membership.generation > before);
claim("a removed member's key has ended", (await failureOf(analyst.files.download(file.id))) === "invalid_credential");
const later = await owner.files.upload({
  vaultId: vault.id,
  name: "later.md",
  body: new TextEncoder().encode("Alone."),
});
claim("the remaining members open what is written now", (await readText(owner, later.file.id)) === "Alone.");
const members = (await owner.vaults.members.list(vault.id)).items;
claim("and they are the owner alone", members.length === 1 && members[0]?.role === "owner");

await owner.vaults.delete(vault.id, { force: true });
console.log("every claim holds");

async function readText(client: typeof owner, fileId: string, part?: typeof range): Promise<string> {
  const download = await client.files.download(fileId, part === undefined ? {} : { range: part });
  return new TextDecoder().decode(await download.bytes());
}

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

/**
 * A shared vault owned by a wallet: a signer of `@mysten/sui` that is no Ed25519 key, here secp256k1. A zkLogin
 * signer, a multisig or a browser's wallet works the same way. You keep one more key, which signs what you write. If
 * you lose it you can still read, and you name a new one.
 * Run it: `npm run example -- wallet-signer`, or copy it into a project of yours. The program checks each claim and
 * ends with 1 at the first that does not hold.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fromSuiSigner, parseNetworkConfiguration } from "@coffer/chain";
import { createClient, generateChainKey, SdkError, statementSigner, type Signer } from "@coffer/sdk";
import { resolveSettings } from "@coffer/sdk/node";
import { sharedVaults } from "@coffer/sdk/shared";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";

// SERVICE_CONFIG_FILE names a file with the address and the network, as `npm start` writes it.
const { baseUrl, networkFile } = await resolveSettings();
if (baseUrl === null || networkFile === null) throw new Error("Set SERVICE_CONFIG_FILE.");
const network = parseNetworkConfiguration(JSON.parse(await readFile(networkFile, "utf8")));

// The wallet signs transactions and personal messages, and shows its key to nobody.
const wallet = fromSuiSigner(new Secp256k1Keypair());
// Keep this key: `kept.reveal()` is the text to store, in a password manager or a keychain.
const { privateKey: kept } = await generateChainKey();
const signer: Signer = { ...wallet, statements: await statementSigner(kept) };
const open = (apiKey: string, who: Signer) =>
  createClient({ baseUrl, credentials: { apiKey }, sharedVaults: sharedVaults({ signer: who, network }) });

const { apiKey } = await createClient({ baseUrl }).development.signup({ email: `${randomUUID()}@example.com` });
const me = open(apiKey, signer);
const account = await me.account.linkChain(signer);
claim("the service has the wallet's address from its signature", account.chainAddress === signer.chainAddress);
claim("as one that was linked from outside", account.chainAddressSource === "external");

const vault = await me.vaults.create({ name: "Logbook", type: "shared" });
const { file } = await me.files.upload({ vaultId: vault.id, name: "day-1.txt", body: encode("Wind from the west.") });
claim("the wallet's vault opens for it", (await readText(me, file.id)) === "Wind from the west.");

// An agent that signs with a wallet of its own. The invite's text proves its address, and the key that signs for it.
const agentSigner: Signer = {
  ...fromSuiSigner(new Secp256k1Keypair()),
  statements: await statementSigner((await generateChainKey()).privateKey),
};
const invite = await me.invites.create({ name: "mate" });
const { key, keyId } = await createClient({ baseUrl }).invites.redeem(invite.text, agentSigner);
await me.vaults.members.add(vault.id, agentSigner.chainAddress, { invite: invite.text });
const agent = open(key, agentSigner);
await agent.files.replace(file.id, { vaultId: vault.id, body: encode("Wind from the north.") });
claim("it writes under its own name", (await readText(me, file.id)) === "Wind from the north.");
await me.agents.revoke(keyId);
claim("until it is revoked", (await failureOf(readText(agent, file.id))) === "invalid_credential");

// The kept key is lost: the wallet alone can read. Writing needs a key that the vault names.
const reader = open(apiKey, wallet);
claim("without the kept key the wallet reads", (await readText(reader, file.id)) === "Wind from the north.");
const write = reader.files.replace(file.id, { vaultId: vault.id, body: encode("Calm.") });
claim("and does not write", (await failureOf(write)) === "signing_key_missing");
const anew = open(apiKey, { ...wallet, statements: await statementSigner((await generateChainKey()).privateKey) });
await anew.vaults.setSigningKey(vault.id);
await anew.files.replace(file.id, { vaultId: vault.id, body: encode("Calm.") });
claim("until it names a new one in the vault", (await readText(anew, file.id)) === "Calm.");
console.log("every claim holds");

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function readText(client: typeof me, fileId: string): Promise<string> {
  return new TextDecoder().decode(await (await client.files.download(fileId)).bytes());
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

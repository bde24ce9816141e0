/** What people do with shared vaults, done with each kind of signer that is no Ed25519 key. */
import { join } from "node:path";
import { fromSuiSigner } from "@coffer/chain";
import {
  chainKeySigner,
  createClient,
  generateChainKey,
  statementSigner,
  type Client,
  type Signer,
  type Vault,
} from "@coffer/sdk";
import { exportVault, openExport } from "@coffer/sdk/node";
import { sharedVaults } from "@coffer/sdk/shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readAll } from "../kit/changed-export.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openLocalProvider, type LocalProvider } from "../kit/identity-provider.ts";
import { read, sharedStack } from "../kit/shared-scene.ts";
import { sessionOf, signInWithZklogin } from "../kit/zklogin-sign-in.ts";
import { signInForItself } from "./hostile-sign-in.ts";
import { MAX_EPOCH, nodeClient, WALLETS, walletOf, ZKLOGIN_USER, type Wallet } from "./wallets.ts";

const APP_URL = "http://localhost:3000";
let provider: LocalProvider;
beforeAll(async () => {
  provider = await openLocalProvider({ redirectUri: `${APP_URL}/auth/callback` });
});
const stack = sharedStack(() => ({
  environment: {
    SERVICE_APP_URL: APP_URL,
    SERVICE_IDP_ISSUER: provider.issuer,
    SERVICE_IDP_CLIENT_ID: provider.clientId,
    SERVICE_IDP_CLIENT_SECRET: String(provider.clientSecret),
    SERVICE_PROVER: "development",
  },
}));
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
});

/** What differs between schemes is in the first tests of a life; the rest is done by the two that differ most, and by all in full counts. */
const BRIEF = new Set(process.env["COFFER_TEST_COUNTS"] === "full" ? [] : ["secp256k1", "secp256r1", "a passkey"]);

describe.each(WALLETS)("somebody with %s", (name, open) => {
  let wallet: Wallet;
  let vault: Vault;
  let fileId: string;
  let agent: Client;
  let keyId: string;

  beforeAll(async () => {
    wallet = await open({ stack, provider });
  });

  test("owns a vault that names the key of its statements, writes and reads in it", async () => {
    const { client, signer } = wallet;
    vault = await client.vaults.create({ name: `of ${name}`, type: "shared" });
    const [owner] = (await client.vaults.members.list(vault.id)).items;
    expect(owner).toMatchObject({ chainAddress: signer.chainAddress, role: "owner" });
    ({
      file: { id: fileId },
    } = await client.files.upload({ vaultId: vault.id, name: "plan.txt", body: "buy the boat" }));
    expect((await client.files.update(fileId, { name: "plans.txt" })).name).toBe("plans.txt");
    const again = wallet.open();
    expect(await read(again, fileId)).toBe("buy the boat");
    expect(await read(again, fileId, { range: { offset: 4, length: 3 } })).toBe("the");
    expect((await again.files.get(fileId)).name).toBe("plans.txt");
  });

  test("is told that nothing is amiss", async () => {
    const { api, chain, keyServers, clock, key } = await wallet.client.vaults.checkAccess(vault.id);
    expect([api, chain, keyServers, clock, key].map(({ state }) => state)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
  });

  test("is a member of somebody else's vault, and takes it over", async () => {
    const owner = stack.owner.client;
    const other = await owner.vaults.create({ name: `with ${name}`, type: "shared" });
    const { file } = await owner.files.upload({ vaultId: other.id, name: "a.txt", body: "from the owner" });
    const { signer, client } = wallet;
    await expect(read(client, file.id)).rejects.toMatchObject({ code: "not_found" });
    const signingKey = signer.statements?.publicKey;
    await owner.vaults.members.add(other.id, signer.chainAddress, { signingKey });
    expect(await read(client, file.id)).toBe("from the owner");
    await client.files.replace(file.id, { vaultId: other.id, body: "from the member" });
    expect(await read(owner, file.id)).toBe("from the member");
    await owner.vaults.offerOwnership(other.id, signer.chainAddress);
    expect(await client.vaults.acceptOwnership(other.id)).toMatchObject({ outcome: "done", generation: 2 });
    expect(await read(client, file.id)).toBe("from the member");
  });

  test("deletes a file, and a vault with all that lies in it, by proofs of its address", async () => {
    const { client } = wallet;
    const spare = await client.vaults.create({ name: `spare of ${name}`, type: "shared" });
    const put = (fileName: string) => client.files.upload({ vaultId: spare.id, name: fileName, body: "soon gone" });
    const [{ file: gone }, { file: left }] = [await put("gone.txt"), await put("left.txt")];
    expect(await client.files.delete(gone.id, { permanent: true })).toBeNull();
    expect(await client.vaults.delete(spare.id, { force: true, permanent: true })).toBeNull();
    for (const { id } of [gone, left]) await expect(client.files.get(id)).rejects.toMatchObject({ code: "not_found" });
  });

  if (BRIEF.has(name)) return;

  test("invites an agent with a key of its own, which reads and writes", async () => {
    const { client } = wallet;
    const signer = await chainKeySigner((await generateChainKey()).privateKey);
    const { text } = await client.invites.create({ name: "agent" });
    const redeemed = await createClient({ baseUrl: stack.baseUrl }).invites.redeem(text, signer);
    keyId = redeemed.keyId;
    const opened = sharedVaults({ signer, network: stack.network });
    agent = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: redeemed.key }, sharedVaults: opened });
    await client.vaults.members.add(vault.id, signer.chainAddress);
    expect(await read(agent, fileId)).toBe("buy the boat");
    await agent.files.replace(fileId, { vaultId: vault.id, body: "sell the boat" });
    expect(await read(client, fileId)).toBe("sell the boat");
  });

  test("ends the agent in one act, writes under new keys, and encrypts the old files again", async () => {
    const { client } = wallet;
    const { memberships } = await client.agents.revoke(keyId);
    expect(memberships).toContainEqual(expect.objectContaining({ outcome: "removed", generation: 2 }));
    await expect(read(agent, fileId)).rejects.toMatchObject({ code: "invalid_credential" });
    const { file } = await client.files.upload({ vaultId: vault.id, name: "later.txt", body: "alone" });
    expect(await read(client, file.id)).toBe("alone");
    expect(await client.vaults.rotate(vault.id)).toMatchObject({ failed: [] });
    expect(await read(wallet.open(), fileId)).toBe("sell the boat");
  });

  test("exports it, and opens the export without the service", async () => {
    const directory = makeDirectory();
    const bundle = join(directory, "bundle");
    await exportVault(wallet.client, vault.id, bundle);
    const opened = await openExport(bundle, { signer: wallet.signer, network: stack.network });
    expect(Buffer.from(await readAll(opened, fileId)).toString()).toBe("sell the boat");
  });

  test("who lost the key of its statements reads on, is told what is missing, and names a new one [Z3]", async () => {
    const { statements: _lost, ...rest } = wallet.signer;
    const reader = wallet.open(rest);
    expect(await read(reader, fileId)).toBe("sell the boat");
    await expect(reader.files.replace(fileId, { vaultId: vault.id, body: "never" })).rejects.toMatchObject({
      code: "signing_key_missing",
      nextStep: expect.stringContaining("statementSigner") as unknown,
    });
    const { privateKey } = await generateChainKey();
    const renewed: Signer = { ...rest, statements: await statementSigner(privateKey) };
    const again = wallet.open(renewed);
    expect(await again.vaults.setSigningKey(vault.id)).toMatchObject({ outcome: "done" });
    await again.files.replace(fileId, { vaultId: vault.id, body: "signed anew" });
    expect(await read(wallet.open(), fileId)).toBe("signed anew");
    wallet = { ...wallet, signer: renewed, client: again };
  });

  if (name !== "zkLogin") return;

  test("trusts service and identity provider together: who has a sign-in and the salt is the user, for a key of its own [Z5]", async () => {
    const place = { baseUrl: stack.baseUrl, provider, client: nodeClient(stack) };
    const { salt } = await signInWithZklogin(place, ZKLOGIN_USER, { maxEpoch: MAX_EPOCH });
    const taken = { user: ZKLOGIN_USER, salt, maxEpoch: MAX_EPOCH };
    const service = fromSuiSigner(await signInForItself(provider, place.client, taken));
    expect(service.chainAddress).toBe(wallet.signer.chainAddress);
    expect(await read(wallet.open(service), fileId)).toBe("signed anew");
    // Another salt is another address: the identity provider alone is a stranger.
    const guessed = { ...taken, salt: "1" };
    const stranger = fromSuiSigner(await signInForItself(provider, place.client, guessed));
    expect(stranger.chainAddress).not.toBe(wallet.signer.chainAddress);
    await expect(read(wallet.open(stranger), fileId)).rejects.toMatchObject({ code: "not_a_member" });
  });

  test("whose sign-in has ended is told to sign in again, and then everything is as it was [Z4]", async () => {
    const { client, signer } = wallet;
    while (stack.localnet.advanceEpoch() <= MAX_EPOCH);
    const ended = {
      code: "sign_in_ended",
      message: expect.stringMatching(/good until epoch 2, and the chain is in epoch 3/) as unknown,
      nextStep: expect.stringContaining("Sign in again") as unknown,
    };
    // What is open in this process stays open: no key server is asked.
    expect(await read(client, fileId)).toBe("signed anew");
    await expect(read(wallet.open(), fileId)).rejects.toMatchObject(ended);
    await expect(client.vaults.create({ name: "too late", type: "shared" })).rejects.toMatchObject(ended);
    await expect(client.vaults.members.add(vault.id, stack.owner.signer.chainAddress)).rejects.toMatchObject(ended);
    const check = await wallet.open(signer).vaults.checkAccess(vault.id);
    expect(check.chain.state).toBe("ok");
    expect(check.key).toMatchObject({ state: "failed", cause: "sign_in_ended" });

    const place = { baseUrl: stack.baseUrl, provider, client: nodeClient(stack) };
    const renewed = await signInWithZklogin(place, ZKLOGIN_USER, { maxEpoch: MAX_EPOCH + 5 });
    expect(renewed.chainAddress).toBe(signer.chainAddress);
    // The key of the statements is kept: it has no epochs.
    const again = walletOf(stack, { ...signer, ...fromSuiSigner(renewed.signer) }, sessionOf(renewed.tokens));
    expect(await read(again.client, fileId)).toBe("signed anew");
    await again.client.files.replace(fileId, { vaultId: vault.id, body: "in a new epoch" });
    expect(await read(again.open(), fileId)).toBe("in a new epoch");
    await again.client.vaults.members.add(vault.id, stack.owner.signer.chainAddress);
    expect(await read(stack.owner.client, fileId)).toBe("in a new epoch");
  });
});

/** Agents whose chain addresses are no Ed25519 keys: what they prove when they redeem, and what the owner's client makes of it. */
import { readFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { createClient, type Client, type Vault } from "@coffer/sdk";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { beforeAll, describe, expect, test } from "vitest";
import { sharedStack } from "../kit/shared-scene.ts";
import { lyingAt } from "../kit/lying-service.ts";
import { zkloginUserOf } from "../kit/zklogin-user.ts";
import { twoOfThree } from "../kit/sui-signers.ts";
import { walletOf, withStatements, type Wallet } from "./wallets.ts";

const stack = sharedStack();
let vault: Vault;
let owner: Client;
let anyone: Client;
beforeAll(async () => {
  owner = stack.owner.client;
  anyone = createClient({ baseUrl: stack.baseUrl });
  vault = await owner.vaults.create({ name: "with wallets", type: "shared" });
});

/** A wallet that redeemed an invite, with the invite's text and what the owner sees of it. */
async function redeem(signer: Wallet["signer"]) {
  const invite = await owner.invites.create({ name: "wallet" });
  const redeemed = await anyone.invites.redeem(invite.text, signer);
  const [used] = (await owner.invites.list({ limit: 1 })).invites;
  if (used === undefined) throw new Error("no invite");
  return { text: invite.text, used, wallet: walletOf(stack, signer, { apiKey: redeemed.key }) };
}

describe("an agent with a wallet", () => {
  test("is a member that writes at once when the owner gives the invite's text: its proof covers the key of its statements", async () => {
    const signer = await withStatements(twoOfThree());
    const { text, used, wallet } = await redeem(signer);
    const key = Buffer.from(signer.statements?.publicKey ?? []).toString("base64");
    expect(used).toMatchObject({ chainAddress: signer.chainAddress, signingKey: key });
    expect(await owner.invites.checkAddressProof(text, used)).toBe(true);
    await owner.vaults.members.add(vault.id, signer.chainAddress, { invite: text });
    const { file } = await wallet.client.files.upload({ vaultId: vault.id, name: "w.txt", body: Buffer.from("hi") });
    expect(Buffer.from(await (await owner.files.download(file.id)).bytes()).toString()).toBe("hi");
  });

  test("cannot be given another key, or another address, by the service [Z2]", async () => {
    const signer = await withStatements(new Secp256k1Keypair());
    const { text, used } = await redeem(signer);
    const forged = randomBytes(32).toString("base64");
    for (const signingKey of [forged, null, "", "AAAA", `${forged}${forged}`])
      expect(await owner.invites.checkAddressProof(text, { ...used, signingKey })).toBe(false);
    // What the service answers is not what was proven: nothing is signed.
    for (const more of [{ signingKey: forged }, { signingKey: null }]) {
      const lie = lyingAt("invites.list", () => ({ invites: [{ ...used, ...more }], nextCursor: null }));
      const lied = stack.owner.another({ middleware: [lie] });
      const adding = lied.vaults.members.add(vault.id, signer.chainAddress, { invite: text });
      await expect(adding).rejects.toMatchObject({ code: "address_invalid" });
    }
    const other = (await withStatements(new Secp256k1Keypair())).chainAddress;
    const adding = owner.vaults.members.add(vault.id, other, { invite: text });
    await expect(adding).rejects.toMatchObject({ code: "address_invalid" });
    const members = (await owner.vaults.members.list(vault.id)).items;
    expect(members.map(({ chainAddress }) => chainAddress)).not.toContain(other);
    expect(members.map(({ chainAddress }) => chainAddress)).not.toContain(signer.chainAddress);
  });

  test("whose key nobody vouches for reads, and writes when it has named the key itself [Z2 E1]", async () => {
    const signer = await withStatements(new Secp256k1Keypair());
    const { wallet } = await redeem(signer);
    const { effect } = await owner.vaults.members.add(vault.id, signer.chainAddress);
    expect(effect).toContain("The vault has no signing key for it, so it cannot write or rename until");
    expect(await readFile("docs/threat-model.md", "utf8")).toContain(effect);
    const body = Buffer.from("later");
    const upload = () => wallet.client.files.upload({ vaultId: vault.id, name: "later.txt", body });
    await expect(upload()).rejects.toMatchObject({ code: "signing_key_missing" });
    await wallet.client.vaults.setSigningKey(vault.id);
    await upload();
    const again = await owner.vaults.members.add(vault.id, signer.chainAddress);
    expect(again.effect).toMatch(/It can write, rename and trash\.$/);
  });
});

describe("an agent who signs with zkLogin", () => {
  test("redeems while its sign-in lasts; afterwards, and while the node is away, the invite stays as it was [Z4]", async () => {
    const user = zkloginUserOf("agent", 1);
    const { used } = await redeem(user);
    expect(used).toMatchObject({ status: "used", chainAddress: user.chainAddress, signingKey: null });

    const { text } = await owner.invites.create({ name: "late" });
    const { node } = stack.localnet.faults;
    node.down = true;
    const once = createClient({ baseUrl: stack.baseUrl, retry: { limit: 0 } });
    const away = zkloginUserOf("away", 1);
    await expect(once.invites.redeem(text, away)).rejects.toMatchObject({ code: "chain_unavailable", status: 503 });
    node.down = false;
    while (stack.localnet.advanceEpoch() < 2);
    await expect(anyone.invites.redeem(text, away)).rejects.toMatchObject({
      code: "signature_invalid",
      message: expect.stringContaining("sign in again") as unknown,
    });
    const again = zkloginUserOf("away", 9);
    expect(await anyone.invites.redeem(text, again)).toMatchObject({ chainAddress: away.chainAddress });
  });
});

test("somebody with an account links a zkLogin address by its signature, and binds a key to another one", async () => {
  const { apiKey } = await anyone.development.signup({ email: "linked@example.com" });
  const me = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey } });
  const [own, agent] = [zkloginUserOf("linked", 9), zkloginUserOf("bound", 9)];
  const account = await me.account.linkChain(own);
  expect(account).toMatchObject({ chainAddress: own.chainAddress, chainAddressSource: "external" });
  const bound = await me.apiKeys.create({ name: "bound", signer: agent });
  expect(bound.chainAddress).toBe(agent.chainAddress);
  const { credential } = await createClient({
    baseUrl: stack.baseUrl,
    credentials: { apiKey: bound.key },
  }).account.get();
  expect(credential.chainAddress).toBe(agent.chainAddress);
  // A sign-in of somebody else vouches for nobody but them.
  const thief = { ...zkloginUserOf("thief", 9), chainAddress: own.chainAddress };
  await expect(me.apiKeys.create({ name: "stolen", signer: thief })).rejects.toMatchObject({
    code: "signature_invalid",
  });
});

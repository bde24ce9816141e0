import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { describe, expect, it } from "vitest";
import { createKey, signUp, type NewAccount } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, objectIn, textIn, TIMESTAMP } from "../kit/answers.ts";
import { newChainKey, type ChainKey } from "../kit/chain.ts";
import { runSql } from "../kit/data-directory.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const newKey = (): ChainKey => newChainKey(service().server.baseUrl);
const join = (): Promise<NewAccount> => signUp(service().server.baseUrl);

async function challenge(key: string): Promise<string> {
  return textIn(fieldsAt(await service().ask("POST", "/api/account/link-chain/challenge", { key }), 200), "nonce");
}

const link = (key: string, body: object) => service().ask("POST", "/api/account/link-chain", { key, body });

async function linkTo(account: NewAccount, chain: ChainKey) {
  return link(account.apiKey, await chain.linking(account.id, await challenge(account.apiKey)));
}

async function levelOf(key: string): Promise<unknown> {
  return (await service().account(key))["accessLevel"];
}

describe("link-chain", () => {
  it("links the address that signed the challenge, as external [D4-link-chain S5.7-link-chain S2.6-chain-address-source S1-identified-by]", async () => {
    const account = await join();
    const chain = newKey();
    const asked = await service().ask("POST", "/api/account/link-chain/challenge", { key: account.apiKey, body: {} });
    const { nonce, expiresAt, ...more } = fieldsAt(asked, 200);
    expect(more).toEqual({});
    expect(expiresAt).toEqual(expect.stringMatching(TIMESTAMP));
    expect(Math.abs(Date.parse(String(expiresAt)) - Date.now() - 600_000)).toBeLessThan(60_000);
    const answer = await link(account.apiKey, await chain.linking(account.id, String(nonce)));
    const linked = { id: account.id, chainAddress: chain.address, chainAddressSource: "external" };
    expect(objectIn(fieldsAt(answer, 200), "account")).toMatchObject(linked);
    expect(await service().account(account.apiKey)).toMatchObject({ ...linked, accessLevel: "owner" });
  });

  it("takes a challenge once, within 10 minutes, from the credential that asked for it [D4-link-chain]", async () => {
    const account = await join();
    const other = await createKey(service().server.baseUrl, account.apiKey, { name: "other" });
    const chain = newKey();
    const foreign = await chain.linking(account.id, await challenge(other.key));
    expectError(await link(account.apiKey, foreign), 400, "token_invalid");
    const late = await chain.linking(account.id, await challenge(account.apiKey));
    const age = "UPDATE chain_challenges SET expires_at = ? WHERE account_id = ? AND credential LIKE ?";
    const { credential } = fieldsAt(await service().ask("GET", "/api/account", { key: account.apiKey }), 200);
    const id = textIn(credential as Record<string, unknown>, "id");
    await runSql(service().dataDirectory, age, Date.now() - 1, account.id, `%${id}%`);
    expectError(await link(account.apiKey, late), 400, "token_invalid");
    expectError(await link(account.apiKey, await chain.linking(account.id, "made-up")), 400, "token_invalid");
    const good = await chain.linking(account.id, await challenge(account.apiKey));
    expectStatus(await link(account.apiKey, good), 200);
    expectError(await link(account.apiKey, good), 400, "token_invalid");
  });

  it("refuses a signature of another address, account or text [D4-link-chain]", async () => {
    const account = await join();
    const [chain, thief] = [newKey(), newKey()];
    const wrong = [
      async (nonce: string) => ({ ...(await chain.linking(account.id, nonce)), chainAddress: thief.address }),
      (nonce: string) => chain.linking(service().owner.id, nonce),
      async (nonce: string) => ({ ...(await chain.linking(account.id, nonce)), signature: await chain.sign(nonce) }),
    ];
    for (const make of wrong)
      expectError(await link(account.apiKey, await make(await challenge(account.apiKey))), 400, "signature_invalid");
    expect((await service().account(account.apiKey))["chainAddress"]).toBeNull();
  });

  it("takes wallets of other schemes, and no signature of one for another's address [D4-link-chain]", async () => {
    for (const pair of [new Secp256k1Keypair(), new Secp256r1Keypair()]) {
      const account = await join();
      const wallet = newChainKey(service().server.baseUrl, "localnet", pair);
      const stolen = {
        ...(await wallet.linking(account.id, await challenge(account.apiKey))),
        chainAddress: newKey().address,
      };
      expectError(await link(account.apiKey, stolen), 400, "signature_invalid");
      const linked = objectIn(fieldsAt(await linkTo(account, wallet), 200), "account");
      expect(linked).toMatchObject({ chainAddress: wallet.address, chainAddressSource: "external" });
    }
  });

  it("says what is missing for a zkLogin signature where the service reads no chain, and keeps the challenge [D4-link-chain]", async () => {
    const account = await join();
    const chain = newKey();
    const nonce = await challenge(account.apiKey);
    const signature = Buffer.from([5, ...new Uint8Array(1400)]).toString("base64");
    expectError(await link(account.apiKey, { chainAddress: chain.address, signature, nonce }), 501, "not_configured");
    expectStatus(await link(account.apiKey, await chain.linking(account.id, nonce)), 200);
  });

  it("leaves an invited agent an agent: its address cannot become the owner's [D4-level-agent-for-ever]", async () => {
    const agent = await service().inviteAgent();
    const { owner } = service();
    expectError(await linkTo(owner, agent.chain), 409, "address_conflict");
    expect(await levelOf(agent.key)).toBe("agent");
  });

  it("is 409 for an address that another account linked [D4-link-other-account]", async () => {
    const [first, second] = [await join(), await join()];
    const chain = newKey();
    expectStatus(await linkTo(first, chain), 200);
    expectError(await linkTo(second, chain), 409, "address_conflict");
    expect((await service().account(second.apiKey))["chainAddress"]).toBeNull();
  });
});

describe("an API key with a chain address", () => {
  it("needs a proof of possession for an address that is not the account's own [S2.4-chain-address D4-keys-create-chain]", async () => {
    const account = await join();
    const { baseUrl } = service().server;
    const ask = (body: object) =>
      service().ask("POST", "/api/auth/api-keys", { key: account.apiKey, body: { name: "bound", ...body } });
    const [chain, thief] = [newKey(), newKey()];
    const chainAddress = chain.address;
    expectError(await ask({ chainAddress }), 400, "signature_invalid");
    expectError(await ask({ chainAddress, addressProof: await thief.proving(account.id) }), 400, "signature_invalid");
    const elsewhere = await chain.proving(service().owner.id);
    expectError(await ask({ chainAddress, addressProof: elsewhere }), 400, "signature_invalid");
    const old = await chain.proving(account.id, Date.now() - 6 * 60_000);
    expectError(await ask({ chainAddress, addressProof: old }), 400, "clock_skew");
    const made = fieldsAt(await ask({ chainAddress, addressProof: await chain.proving(account.id) }), 201);
    expect(made["chainAddress"]).toBe(chainAddress);
    expect(await levelOf(textIn(made, "key"))).toBe("agent");
    const own = newKey();
    expectStatus(await linkTo(account, own), 200);
    const bound = await createKey(baseUrl, account.apiKey, { name: "own", chainAddress: own.address });
    expect(await levelOf(bound.key)).toBe("owner");
  });

  it("of the owner's address, or without one, is the owner's [D4-level-owner S2.6-agent-key S2.6-access-level]", async () => {
    const account = await join();
    const { baseUrl } = service().server;
    const plain = await createKey(baseUrl, account.apiKey, { name: "plain" });
    expectStatus(await linkTo(account, newKey()), 200);
    const own = { name: "own", chainAddress: (await service().account(account.apiKey))["chainAddress"] };
    const bound = await createKey(baseUrl, account.apiKey, own);
    expect([await levelOf(plain.key), await levelOf(bound.key)]).toEqual(["owner", "owner"]);
  });
});

/** Vault keys through the whole local network: the real Move module decides, over HTTP and in process. */
import {
  addMember,
  createVault,
  fromSuiSigner,
  locateVault,
  openChain,
  removeMember,
  sealVaultKeyWrap,
  type Chain,
  type NetworkConfiguration,
  type SealKeyWrap,
  type VaultObjects,
} from "@coffer/chain";
import type { KeyBinding } from "@coffer/crypto";
import { openLocalnet, type Localnet } from "@coffer/localnet";
import { parseSerializedSignature } from "@mysten/sui/cryptography";
import { MultiSigPublicKey } from "@mysten/sui/multisig";
import { fromHex, toHex } from "@mysten/sui/utils";
import { publicKeyFromRawBytes } from "@mysten/sui/verify";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { keypairOf } from "../kit/key-wrap-bench.ts";
import { putLargestVault } from "../kit/large-vault.ts";
import { zkloginUserOf } from "../kit/zklogin-user.ts";

const [owner, member, stranger] = [1, 2, 3].map((fill) => fromSuiSigner(keypairOf(fill))) as [User, User, User];
type User = ReturnType<typeof fromSuiSigner>;

const key = new Uint8Array(32).fill(42);
let localnet: Localnet;
let network: NetworkConfiguration;
let chain: Chain;
let objectId: string;
let first: { sealedKey: Uint8Array; place: KeyBinding };

beforeAll(async () => {
  localnet = await openLocalnet();
  await localnet.listen();
  network = localnet.network();
  chain = openChain(network);
  ({ objectId } = (await createVault(chain, owner, {})).vault);
  await addMember(chain, owner, { objectId, chainAddress: member.chainAddress });
  const place = placeIn(1n);
  first = { sealedKey: await wrapOf(owner).wrap(key, place), place };
});
afterEach(() => {
  for (const index of [0, 1, 2]) Object.assign(localnet.faults.keyServer(index), { down: false, stale: false });
  localnet.faults.node.stale = false;
});
afterAll(async () => await localnet.close());

describe("over HTTP", () => {
  it("reads what the chain says of all key servers in two requests, before it is needed if it is told to", async () => {
    const reads: string[] = [];
    const counted = openChain(network, {
      fetch: (input, init) => {
        reads.push(String(input instanceof Request ? input.url : input).replace(/^.*\//, ""));
        return fetch(input, init);
      },
    });
    const { client, clock } = counted;
    const wrap = () => sealVaultKeyWrap({ client, clock, network, signer: owner, vaultObjects: vaultObjectsOf(chain) });
    expect(await wrap().unwrap([first])).toEqual([key]);
    const both = ["BatchGetObjects", "BatchGetObjects"];
    expect(reads.splice(0)).toEqual(both);
    const prepared = wrap();
    prepared.prepare();
    await vi.waitFor(() => expect(reads).toEqual(both), 10_000);
    expect(await prepared.unwrap([first])).toEqual([key]);
    expect(reads).toEqual(both);
  });

  it("fails as it would have, when what it was told to read cannot be read", async () => {
    const asked = new Error("no way to the node");
    const { client, clock } = openChain(network, { fetch: () => Promise.reject(asked) });
    const wrap = sealVaultKeyWrap({ client, clock, network, signer: owner, vaultObjects: vaultObjectsOf(chain) });
    wrap.prepare();
    await expect(wrap.unwrap([first])).rejects.toMatchObject({ code: "chain_unavailable" });
    wrap.close();
    wrap.prepare();
    await expect(wrap.unwrap([first])).rejects.toThrow("closed");
  });

  it("a member opens what the owner sealed, each key server asked once; a stranger is told that it is none [W5 K2]", async () => {
    const before = asked();
    expect(await wrapOf(member).unwrap([first])).toEqual([key]);
    expect(asked()).toEqual(before.map((count) => count + 1));
    localnet.faults.keyServer(1).down = true;
    expect(await wrapOf(owner).unwrap([first])).toEqual([key]);
    await expect(wrapOf(stranger).unwrap([first])).rejects.toMatchObject({ code: "not_a_member" });
    localnet.faults.keyServer(0).down = true;
    await expect(wrapOf(owner).unwrap([first])).rejects.toMatchObject({
      code: "key_servers_unavailable",
      message: expect.stringMatching(/2 of 3 shares are needed.*1 of 3.*cannot be reached.*2 of 3.*cannot be reached/),
    });
    expect((await wrapOf(owner).checkKeyServers()).map(({ state }) => state)).toEqual(["failed", "failed", "ok"]);
  });
});

it("the last of a thousand members opens several keys, one in a request: a key server's budget covers no more", async () => {
  const people = { owner: owner.chainAddress, last: member.chainAddress };
  const large = await putLargestVault(localnet, people);
  const items = [];
  for (const generation of [1n, 2n, 3000n]) {
    const place = { ...placeIn(generation), vault: fromHex(large.objectId) };
    items.push({ sealedKey: await wrapOf(owner).wrap(key, place), place });
  }
  const before = asked();
  expect(await wrapOf(member).unwrap(items)).toEqual([key, key, key]);
  expect(asked()).toEqual(before.map((count) => count + 3));
  // The owner stands before the members, and is asked for at once.
  expect(await wrapOf(owner).unwrap(items)).toEqual([key, key, key]);
  expect(asked()).toEqual(before.map((count) => count + 4));
});

describe("a zkLogin user", () => {
  it("opens as a member, until the ephemeral key has ended [Z4]", async () => {
    const user = zkloginUserOf("alice", 1);
    await addMember(chain, owner, { objectId, chainAddress: user.chainAddress });
    const wrap = wrapOf(user);
    expect(await wrap.unwrap([first])).toEqual([key]);
    while (localnet.advanceEpoch() < 2);
    const ended = { code: "sign_in_ended", message: expect.stringMatching(/until epoch 1.*epoch 2\. Sign in again/) };
    await expect(wrapOf(user).unwrap([first])).rejects.toMatchObject(ended);
    // Its session would last; key servers check the signature each time.
    await expect(wrap.unwrap([first])).rejects.toMatchObject(ended);
  });
});

it("a multisig that zkLogin signs for is told that nothing here can check it", async () => {
  const user = zkloginUserOf("multi", 9);
  const parsed = parseSerializedSignature(await user.signPersonalMessage(new Uint8Array([1])));
  if (parsed.signatureScheme !== "ZkLogin") throw new Error("not a zkLogin signature");
  const publicKey = publicKeyFromRawBytes("ZkLogin", parsed.publicKey);
  const multisig = MultiSigPublicKey.fromPublicKeys({ threshold: 1, publicKeys: [{ publicKey, weight: 1 }] });
  const signer = {
    ...user,
    chainAddress: multisig.toSuiAddress(),
    signPersonalMessage: async (message: Uint8Array) =>
      multisig.combinePartialSignatures([await user.signPersonalMessage(message)]),
  };
  await expect(wrapOf(signer).unwrap([first])).rejects.toMatchObject({
    code: "wrong_chain_key",
    message: expect.stringMatching(/multisig/) as unknown,
  });
});

describe("after a removal", () => {
  it("key servers that have not seen it open nothing that was sealed since [K4]", async () => {
    for (const index of [0, 1, 2]) localnet.faults.keyServer(index).stale = true;
    const { vault } = await removeMember(chain, owner, { objectId, chainAddress: member.chainAddress });
    expect(vault.generation).toBe(2n);
    const later = { sealedKey: await wrapOf(owner).wrap(key, placeIn(2n)), place: placeIn(2n) };
    await expect(wrapOf(member).unwrap([later])).rejects.toMatchObject({ code: "not_a_member" });

    for (const index of [0, 1, 2]) localnet.faults.keyServer(index).stale = false;
    await expect(wrapOf(member).unwrap([later])).rejects.toMatchObject({ code: "not_a_member" });
    await expect(wrapOf(member).unwrap([first])).rejects.toMatchObject({ code: "not_a_member" });
    expect(await wrapOf(owner).unwrap([first, later])).toEqual([key, key]);
  });
});

function wrapOf(user: User, at = network): SealKeyWrap {
  const { client, clock } = chain;
  return sealVaultKeyWrap({ client, clock, network: at, signer: user, vaultObjects: vaultObjectsOf(chain) });
}

function vaultObjectsOf(from: Chain): VaultObjects {
  return { locate: async (vault) => locateVault(await from.readVault(`0x${toHex(vault)}`), owner.chainAddress) };
}

function placeIn(generation: bigint, creator = owner): KeyBinding {
  return { vault: fromHex(objectId), generation, after: 0n, creator: fromHex(creator.chainAddress) };
}

function asked(): number[] {
  return [0, 1, 2].map((index) => localnet.keyServerRequests(index).fetchKey);
}

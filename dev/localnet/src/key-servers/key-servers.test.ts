import { stat } from "node:fs/promises";
import { join } from "node:path";
import { NoAccessError, SealClient, SessionKey } from "@mysten/seal";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { toHex } from "@mysten/sui/utils";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openAllowlistChain, PACKAGE, VAULT, type AllowlistChain } from "../../../../test/kit/allowlist-chain.ts";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { startKeyServers, type KeyServers } from "./index.ts";

const ORIGIN = "http://localnet.invalid";
const SECRET = new TextEncoder().encode("an opened secret");
const AGGREGATOR = 3;

const chain: AllowlistChain = openAllowlistChain();
const [member, stranger] = [new Ed25519Keypair(), new Ed25519Keypair()];
let servers: KeyServers;
let sealed: Uint8Array;
const identity = new Uint8Array(56);

beforeAll(async () => {
  servers = await startKeyServers(chain.access, {});
  await servers.announce(ORIGIN);
  const { encryptedObject } = await sealClient(0).encrypt({
    packageId: PACKAGE,
    id: toHex(identity),
    threshold: 2,
    data: SECRET,
  });
  sealed = encryptedObject;
  chain.members.add(member.toSuiAddress());
});

afterEach(() => {
  for (let index = 0; index < 9; index += 1) {
    Object.assign(servers.faults(index), { down: false, stale: false, wrongKey: false });
    Object.assign(servers.requests(index), { service: 0, fetchKey: 0 });
  }
});

describe("key servers, asked by the unmodified SealClient", () => {
  it("prove possession of their keys, give a member what it asks for, each asked once, and refuse a stranger", async () => {
    const seal = sealClient(0, { verifyKeyServers: true });
    expect(await open(member, seal)).toEqual(SECRET);
    expect([0, 1, 2].map((index) => servers.requests(index))).toEqual(Array(3).fill({ service: 1, fetchKey: 1 }));
    await expect(open(stranger)).rejects.toThrow(NoAccessError);
  });

  it("refuse to decide by a node that is two minutes behind", async () => {
    for (const index of [0, 1, 2]) servers.faults(index).stale = true;
    chain.skew = 121_000;
    await expect(open(member)).rejects.toThrow("Internal server error");
    chain.skew = 0;
  });
});

describe("the committee", () => {
  it("opens with three of five members, behind one aggregator that sees no key, and not with two", async () => {
    const seal = sealClient(1);
    const message = { packageId: PACKAGE, id: toHex(identity), threshold: 1, data: SECRET };
    const { encryptedObject } = await seal.encrypt(message);
    servers.faults(AGGREGATOR + 1).down = true;
    servers.faults(AGGREGATOR + 2).wrongKey = true;
    expect(await open(member, seal, encryptedObject)).toEqual(SECRET);
    expect(servers.requests(AGGREGATOR).fetchKey).toBe(1);
    await expect(open(stranger, sealClient(1), encryptedObject)).rejects.toThrow(NoAccessError);
    servers.faults(AGGREGATOR + 5).down = true;
    await expect(open(member, sealClient(1), encryptedObject)).rejects.toThrow("Internal server error");
  });
});

describe("the seed of the master keys", () => {
  it("is kept for the owner of the directory alone, so that a restart answers for the same objects", async () => {
    const directory = makeDirectory();
    const first = (await startKeyServers(chain.access, { directory })).sets();
    expect((await startKeyServers(chain.access, { directory })).sets()).toEqual(first);
    expect(servers.sets()[0]).not.toEqual(first[0]);
    expect((await stat(join(directory, "key-server-seed"))).mode & 0o777).toBe(0o600);
  });
});

/** For the set of that number; one that has cached nothing. */
function sealClient(set: number, options: { verifyKeyServers?: boolean } = {}): SealClient {
  return new SealClient({
    suiClient: chain.client,
    serverConfigs: servers.sets()[set]?.servers.map((server) => ({ ...server })) ?? [],
    fetch: async (input, init) => await servers.handle(new Request(input, init)),
    ...options,
  });
}

async function open(user: Ed25519Keypair, seal = sealClient(0), data = sealed): Promise<Uint8Array> {
  const address = user.toSuiAddress();
  const session = { address, packageId: PACKAGE, ttlMin: 10, signer: user, suiClient: chain.client };
  const sessionKey = await SessionKey.create(session);
  return await seal.decrypt({ data, sessionKey, txBytes: await approval() });
}

async function approval(): Promise<Uint8Array> {
  const transaction = new Transaction();
  const vault = { objectId: VAULT, initialSharedVersion: 1, mutable: false };
  transaction.moveCall({
    target: `${PACKAGE}::vault::seal_approve`,
    arguments: [transaction.pure.vector("u8", [...identity]), transaction.sharedObjectRef(vault)],
  });
  return await transaction.build({ onlyTransactionKind: true });
}

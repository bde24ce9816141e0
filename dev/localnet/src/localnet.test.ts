import { fromBase64, toBase64 } from "@mysten/bcs";
import { MODULES } from "@coffer/chain/package";
import { messageWithIntent } from "@mysten/sui/cryptography";
import { requestSuiFromFaucetV2 } from "@mysten/sui/faucet";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { MultiSigPublicKey } from "@mysten/sui/multisig";
import { Transaction } from "@mysten/sui/transactions";
import { blake2b } from "@noble/hashes/blake2.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Localnet, openLocalnet } from "./localnet.ts";

/** The end of a membership that has none. */
const NO_END = (1n << 64n) - 1n;

let localnet: Localnet;
let url: string;
let clients: Record<"text over HTTP" | "binary over HTTP" | "in process", SuiGrpcClient>;

beforeAll(async () => {
  localnet = await openLocalnet();
  ({ url } = await localnet.listen());
  clients = {
    "text over HTTP": new SuiGrpcClient({ network: "localnet", baseUrl: url }),
    "binary over HTTP": new SuiGrpcClient({ network: "localnet", baseUrl: url, format: "binary" }),
    "in process": new SuiGrpcClient({ network: "localnet", baseUrl: "http://localnet.invalid", fetch: localnet.fetch }),
  };
});
afterAll(() => localnet.close());

const packageId = () => localnet.network().originalPackageId;
const client = () => clients["in process"];
const NOBODY = `0x${"ab".repeat(32)}`;
const NO_KEY: number[] = [];

function call(
  name: string,
  build: (tx: Transaction) => Parameters<Transaction["moveCall"]>[0]["arguments"],
): Transaction {
  const tx = new Transaction();
  tx.moveCall({ target: `${packageId()}::vault::${name}`, arguments: build(tx) ?? [] });
  return tx;
}

const create = () => call("create", (tx) => [tx.pure.vector("u8", NO_KEY), tx.pure.bool(false)]);
/** `last`: the digest of the owner's last act, as base64 (the vault's `last`). */
const add = (vault: string, member: string, last: string) =>
  call("add", (tx) => [
    ...[tx.object(vault), tx.pure.address(member), tx.pure.vector("u8", NO_KEY)],
    ...[tx.pure.u64(NO_END), tx.pure.vector("u8", Buffer.from(last, "base64")), tx.object.clock()],
  ]);
const remove = (vault: string, member: string) =>
  call("remove", (tx) => [tx.object(vault), tx.pure.address(member), tx.object.clock()]);

async function createVault(signer: Ed25519Keypair, through = client()): Promise<string> {
  const result = await through.signAndExecuteTransaction({
    transaction: create(),
    signer,
    include: { effects: true, objectTypes: true },
  });
  const types = Object.entries(result.Transaction?.objectTypes ?? {});
  return types.find(([, type]) => type.endsWith("::vault::Vault"))![0];
}

async function readVault(id: string, through = client()) {
  const { object } = await through.core.getObject({ objectId: id, include: { json: true } });
  return object.json as { generation: string; last: string; members: { chain_address: string }[] };
}

/** Bytes and signature, ready to send. */
async function signed(transaction: Transaction, signer: Ed25519Keypair) {
  transaction.setSenderIfNotSet(signer.toSuiAddress());
  const bytes = await transaction.build({ client: client() });
  return { bytes, signature: (await signer.signTransaction(bytes)).signature };
}

const send = (bytes: Uint8Array, ...signatures: string[]) =>
  client().executeTransaction({ transaction: bytes, signatures, include: { effects: true } });

describe("the unmodified SuiGrpcClient", () => {
  it.each(["text over HTTP", "binary over HTTP", "in process"] as const)(
    "creates, adds, removes, reads: %s",
    async (how) => {
      const through = clients[how];
      const owner = new Ed25519Keypair();
      const vault = await createVault(owner, through);
      const added = await through.signAndExecuteTransaction({
        transaction: add(vault, NOBODY, (await readVault(vault, through)).last),
        signer: owner,
        include: { events: true, effects: true, balanceChanges: true },
      });
      expect(added.Transaction?.events.map(({ eventType }) => eventType)).toEqual([
        `${packageId()}::vault::MemberAdded`,
      ]);
      expect(added.Transaction?.effects.changedObjects.map(({ idOperation }) => idOperation)).toEqual(["None", "None"]);
      expect(added.Transaction?.balanceChanges[0]?.address).toBe(owner.toSuiAddress());
      await through.waitForTransaction({ digest: added.Transaction!.digest });
      expect((await readVault(vault, through)).members.map((member) => member.chain_address)).toEqual([NOBODY]);
      await through.signAndExecuteTransaction({ transaction: remove(vault, NOBODY), signer: owner });
      expect(await readVault(vault, through)).toMatchObject({ members: [], generation: "2" });
    },
  );

  it("learns which chain it is and how fresh its node is", async () => {
    const { response } = await client().ledgerService.getServiceInfo({});
    expect(response.chainId).toBe(localnet.network().chainId);
    expect(Math.abs(Number(response.timestamp!.seconds) * 1000 - Date.now())).toBeLessThan(30_000);
    const { response: checkpoint } = await client().ledgerService.getCheckpoint({
      checkpointId: { oneofKind: undefined },
      readMask: { paths: ["summary.timestamp"] },
    });
    expect(checkpoint.checkpoint?.summary?.timestamp?.seconds).toBeGreaterThan(0n);
    expect((await client().core.getReferenceGasPrice()).referenceGasPrice).toBe("1000");
  });

  it("sees the package, its functions, and objects that are not there", async () => {
    const { object } = await client().core.getObject({ objectId: packageId() });
    expect(object).toMatchObject({ type: "package", version: "1", owner: { $kind: "Immutable" } });
    const { function: approve } = await client().core.getMoveFunction({
      packageId: packageId(),
      moduleName: "vault",
      name: "seal_approve",
    });
    expect(approve).toMatchObject({ isEntry: true, visibility: "private" });
    expect(approve.parameters.map(({ reference }) => reference)).toEqual([
      null,
      "immutable",
      null,
      "immutable",
      "immutable",
    ]);
    await expect(client().core.getObject({ objectId: NOBODY })).rejects.toMatchObject({ code: "notExists" });
    const { response } = await client().movePackageService.getPackage({ packageId: packageId() });
    // As on every Sui chain: the module's own address is the package's id, and not zero as in the committed bytes.
    expect(toBase64(response.package!.modules[0]!.contents!)).not.toBe(MODULES[0]);
  });

  it("answers with the fields that were asked for and no others", async () => {
    const ask = (paths: string[]) => client().ledgerService.getObject({ objectId: packageId(), readMask: { paths } });
    const { response } = await ask(["object_id", "owner.kind"]);
    expect(response.object).toMatchObject({ objectId: packageId(), owner: { kind: 4 } });
    expect([response.object?.digest, response.object?.bcs, response.object?.package]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("says what it does not serve", async () => {
    await expect(client().nameService.lookupName({ name: "a.sui" })).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
    await expect(client().core.resolveNameServiceAddress({ name: "a.sui" })).rejects.toThrow(/has no/);
  });
});

describe("the unmodified faucet client", () => {
  it("gets coins over HTTP, and coins split, merge and go to others", async () => {
    const purse = new Ed25519Keypair();
    const gift = await requestSuiFromFaucetV2({ host: url, recipient: purse.toSuiAddress() });
    expect(gift.coins_sent).toHaveLength(1);
    await localnet.faucet(purse.toSuiAddress(), 5n);
    const tx = new Transaction();
    const [a, b] = tx.splitCoins(tx.gas, [7, 8]);
    tx.mergeCoins(a, [b]);
    tx.transferObjects([a], NOBODY);
    const sent = await client().signAndExecuteTransaction({ transaction: tx, signer: purse });
    expect(sent.$kind).toBe("Transaction");
    expect((await client().core.getBalance({ owner: NOBODY })).balance.balance).toBe("15");
    expect((await client().core.listCoins({ owner: purse.toSuiAddress() })).objects).toHaveLength(2);
  });

  it("refuses what is no address", async () => {
    await expect(requestSuiFromFaucetV2({ host: url, recipient: "0xzz" })).rejects.toThrow(/addresses/);
  });
});

describe("signatures", () => {
  it("refuses a forged one, one for another purpose, one by somebody else, and none", async () => {
    const [owner, eve] = [new Ed25519Keypair(), new Ed25519Keypair()];
    const { bytes, signature } = await signed(create(), owner);
    const forged = fromBase64(signature);
    forged[10]! ^= 1;
    await expect(send(bytes, toBase64(forged))).rejects.toThrow(/Invalid user signature/);
    // The right key over the same bytes as a personal message.
    const intent = blake2b(messageWithIntent("PersonalMessage", bytes), { dkLen: 32 });
    const wrongIntent = new Uint8Array([0, ...(await owner.sign(intent)), ...owner.getPublicKey().toRawBytes()]);
    await expect(send(bytes, toBase64(wrongIntent))).rejects.toThrow(/Invalid user signature/);
    await expect(send(bytes, (await eve.signTransaction(bytes)).signature)).rejects.toThrow(/did not sign/);
    await expect(send(bytes)).rejects.toThrow(/Expected 1 signatures/);
    await expect(send(bytes, signature, signature)).rejects.toThrow(/Expected 1 signatures/);
    expect((await send(bytes, signature)).$kind).toBe("Transaction");
  });

  it("takes secp256k1, secp256r1 and multisig", async () => {
    const [k1, r1] = [new Secp256k1Keypair(), new Secp256r1Keypair()];
    for (const signer of [k1, r1]) {
      expect((await client().signAndExecuteTransaction({ transaction: create(), signer })).$kind).toBe("Transaction");
    }
    const publicKey = MultiSigPublicKey.fromPublicKeys({
      threshold: 2,
      publicKeys: [k1, r1].map((signer) => ({ publicKey: signer.getPublicKey(), weight: 1 })),
    });
    const tx = create();
    tx.setSender(publicKey.toSuiAddress());
    const bytes = await tx.build({ client: client() });
    const parts = await Promise.all([k1, r1].map(async (signer) => (await signer.signTransaction(bytes)).signature));
    await expect(send(bytes, publicKey.combinePartialSignatures(parts.slice(0, 1)))).rejects.toThrow(/signature/);
    expect((await send(bytes, publicKey.combinePartialSignatures(parts))).$kind).toBe("Transaction");
  });

  it("needs the sponsor's as well as the sender's", async () => {
    const [owner, sponsor] = [new Ed25519Keypair(), new Ed25519Keypair()];
    const tx = create();
    tx.setSender(owner.toSuiAddress());
    tx.setGasOwner(sponsor.toSuiAddress());
    const bytes = await tx.build({ client: client() });
    const [byOwner, bySponsor] = [await owner.signTransaction(bytes), await sponsor.signTransaction(bytes)];
    await expect(send(bytes, byOwner.signature)).rejects.toThrow(/Expected 2 signatures/);
    await expect(send(bytes, byOwner.signature, byOwner.signature)).rejects.toThrow(/did not sign/);
    expect((await send(bytes, byOwner.signature, bySponsor.signature)).$kind).toBe("Transaction");
    expect((await client().core.listCoins({ owner: owner.toSuiAddress() })).objects).toEqual([]);
  });
});

describe("objects", () => {
  it("refuses a version that is no longer current, and answers a repeated transaction as before", async () => {
    const owner = new Ed25519Keypair();
    const vault = await createVault(owner);
    const { last } = await readVault(vault);
    const first = await signed(add(vault, NOBODY, last), owner);
    const stale = await signed(add(vault, `0x${"cd".repeat(32)}`, last), owner);
    const once = await send(first.bytes, first.signature);
    expect(once.$kind).toBe("Transaction");
    await expect(send(stale.bytes, stale.signature)).rejects.toThrow(/unavailable for consumption/);
    const twice = await send(first.bytes, first.signature);
    expect(twice.Transaction?.digest).toBe(once.Transaction?.digest);
    expect((await readVault(vault)).members).toHaveLength(1);
  });

  it("refuses another's coin, a shared object as an owned one, and &mut on what was taken to read", async () => {
    const [owner, eve] = [new Ed25519Keypair(), new Ed25519Keypair()];
    const vault = await createVault(owner);
    const [coin] = (await client().core.listCoins({ owner: owner.toSuiAddress() })).objects;
    const steal = new Transaction();
    steal.transferObjects([steal.object(coin!.objectId)], eve.toSuiAddress());
    await expect(signed(steal, eve)).rejects.toThrow(/owned by account address/);
    const { object } = await client().core.getObject({ objectId: vault });
    const owned = call("leave", (tx) => [
      tx.objectRef({ objectId: vault, version: object.version, digest: object.digest }),
      tx.object.clock(),
    ]);
    owned.setGasBudget(10_000_000);
    await expect(signed(owned, eve)).rejects.toThrow(/Shared object/);
    const initialSharedVersion = (object.owner as { Shared: { initialSharedVersion: string } }).Shared
      .initialSharedVersion;
    const reading = call("add", (tx) => [
      tx.sharedObjectRef({ objectId: vault, initialSharedVersion, mutable: false }),
      tx.pure.address(NOBODY),
      tx.pure.vector("u8", NO_KEY),
      tx.pure.u64(NO_END),
      tx.pure.vector("u8", new Uint8Array(32)),
      tx.object.clock(),
    ]);
    await expect(signed(reading, owner)).rejects.toThrow(/mutable reference/);
  });

  it("tells an abort by its place and code, and charges gas for it", async () => {
    const [owner, eve] = [new Ed25519Keypair(), new Ed25519Keypair()];
    const vault = await createVault(owner);
    await expect(signed(add(vault, NOBODY, (await readVault(vault)).last), eve)).rejects.toThrow(
      /abort code: 1.*assert_owner/s,
    );
    // Funded by the attempt above.
    const { object } = await client().core.getObject({ objectId: vault });
    const initialSharedVersion = (object.owner as { Shared: { initialSharedVersion: string } }).Shared
      .initialSharedVersion;
    // Complete, so that nothing is simulated first.
    const tx = call("add", (inner) => [
      inner.sharedObjectRef({ objectId: vault, initialSharedVersion, mutable: true }),
      inner.pure.address(NOBODY),
      inner.pure.vector("u8", NO_KEY),
      inner.pure.u64(NO_END),
      inner.pure.vector("u8", new Uint8Array(32)),
      inner.object.clock(),
    ]);
    tx.setGasBudget(20_000_000);
    tx.setGasPrice(1000);
    tx.setSender(eve.toSuiAddress());
    const [coin] = (await client().core.listCoins({ owner: eve.toSuiAddress() })).objects;
    tx.setGasPayment([coin!]);
    const before = object.version;
    const bytes = await tx.build({ client: client() });
    const failed = await send(bytes, (await eve.signTransaction(bytes)).signature);
    expect(failed.FailedTransaction?.status.error).toMatchObject({
      $kind: "MoveAbort",
      command: 0,
      MoveAbort: { abortCode: "1", location: { module: "vault", functionName: "assert_owner" } },
    });
    expect((await readVault(vault)).members).toEqual([]);
    expect(BigInt((await client().core.getObject({ objectId: vault })).object.version)).toBeGreaterThan(BigInt(before));
    expect(BigInt((await client().core.getBalance({ owner: eve.toSuiAddress() })).balance.balance)).toBeLessThan(
      BigInt(coin!.balance),
    );
  });

  it("runs no private function, none that is not there, and no arguments of another type", async () => {
    const owner = new Ed25519Keypair();
    const vault = await createVault(owner);
    await expect(
      signed(
        call("find", () => []),
        owner,
      ),
    ).rejects.toThrow(/neither public nor an entry function/);
    await expect(
      signed(
        call("nope", () => []),
        owner,
      ),
    ).rejects.toThrow(/Function not found/);
    await expect(
      signed(
        call("leave", () => []),
        owner,
      ),
    ).rejects.toThrow(/takes 2 arguments/);
    const wrong = call("raise_floor", (tx) => [tx.object(vault), tx.pure.bool(true)]);
    await expect(signed(wrong, owner)).rejects.toThrow(/cannot be read as u64/);
    const foreign = new Transaction();
    foreign.moveCall({ target: "0x2::coin::zero", typeArguments: ["0x2::sui::SUI"] });
    await expect(signed(foreign, owner)).rejects.toThrow(/has no 0x2::coin::zero/);
  });

  it("simulates as anybody, without signature and without gas", async () => {
    const owner = new Ed25519Keypair();
    const vault = await createVault(owner);
    const id = [...Buffer.from(vault.slice(2), "hex"), ...Buffer.alloc(7), 1, ...Buffer.alloc(24)];
    const approve = (sender: string) => {
      const tx = call("seal_approve", (inner) => [
        inner.pure.vector("u8", id),
        ...[inner.object(vault), inner.pure.u64(0), inner.object.clock()],
      ]);
      tx.setSender(sender);
      return client().core.simulateTransaction({ transaction: tx, include: { effects: true } });
    };
    expect((await approve(owner.toSuiAddress())).$kind).toBe("Transaction");
    expect((await approve(NOBODY)).FailedTransaction?.status.error).toMatchObject({ MoveAbort: { abortCode: "13" } });
    const kind = call("seal_approve", (inner) => [
      inner.pure.vector("u8", id),
      ...[inner.object(vault), inner.pure.u64(0), inner.object.clock()],
    ]);
    const bytes = await kind.build({ client: client(), onlyTransactionKind: true });
    const BUDGET = 500_000_000n;
    expect(localnet.chain.simulateAs(owner.toSuiAddress(), bytes.slice(1), BUDGET)).toEqual({ outcome: "succeeded" });
    expect(localnet.chain.simulateAs(NOBODY, bytes.slice(1), BUDGET)).toMatchObject({ outcome: "aborted", code: 13n });
    expect(localnet.chain.simulateAs(NOBODY, bytes, BUDGET)).toMatchObject({ outcome: "invalid" });
  });
});

describe("publishing", () => {
  const publish = (modules: readonly string[]) => {
    const tx = new Transaction();
    const cap = tx.publish({ modules: [...modules], dependencies: ["0x1", "0x2"] });
    tx.moveCall({ target: "0x2::package::make_immutable", arguments: [cap] });
    return tx;
  };

  it("publishes the committed package and makes it immutable in one transaction; its vaults work", async () => {
    const owner = new Ed25519Keypair();
    const result = await client().signAndExecuteTransaction({
      transaction: publish(MODULES),
      signer: owner,
      include: { effects: true, objectTypes: true },
    });
    const published = result.Transaction?.effects.changedObjects.find(
      ({ outputState }) => outputState === "PackageWrite",
    );
    expect(Object.values(result.Transaction?.objectTypes ?? {}).join()).not.toMatch(/UpgradeCap/);
    const tx = new Transaction();
    tx.moveCall({
      target: `${published!.objectId}::vault::create`,
      arguments: [tx.pure.vector("u8", NO_KEY), tx.pure.bool(true)],
    });
    const made = await client().signAndExecuteTransaction({
      transaction: tx,
      signer: owner,
      include: { objectTypes: true },
    });
    expect(Object.values(made.Transaction!.objectTypes)).toContain(`${published!.objectId}::vault::Vault`);
  });

  it("refuses any other bytes, and an UpgradeCap that nobody takes [P1]", async () => {
    const owner = new Ed25519Keypair();
    const other = fromBase64(MODULES[0]!);
    other[other.length - 1]! ^= 1;
    await expect(signed(publish([toBase64(other)]), owner)).rejects.toThrow(/no bytecode verifier/);
    const kept = new Transaction();
    kept.publish({ modules: [...MODULES], dependencies: ["0x1", "0x2"] });
    await expect(signed(kept, owner)).rejects.toThrow(/without the drop ability/);
  });
});

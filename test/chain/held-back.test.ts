/** Signed transactions that somebody keeps: a node that answers nothing, or a crash. What they are good for, and until when. */
import {
  acceptOwnership,
  addMember,
  type Chain,
  createVault,
  encodeCreation,
  fromSuiSigner,
  offerOwnership,
  openChain,
  removeMember,
  resumeCreation,
  setSigningKey,
  setUntil,
  type SignedTransaction,
  type TransactionSigner,
  type VaultAct,
} from "@coffer/chain";
import { type Localnet, openLocalnet } from "@coffer/localnet";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { bcs } from "@mysten/sui/bcs";
import { Transaction, type TransactionArgument } from "@mysten/sui/transactions";
import { fromHex } from "@mysten/sui/utils";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

let localnet: Localnet;
beforeAll(async () => {
  localnet = await openLocalnet({ autoFund: false });
});
afterAll(() => localnet.close());

const wait = () => Promise.resolve();
const open = (carry: typeof fetch = localnet.fetch): Chain => openChain(localnet.network(), { fetch: carry, wait });
const refusal = (code: string): unknown => expect.objectContaining({ name: "ChainError", code });

async function person(): Promise<TransactionSigner> {
  const signer = fromSuiSigner(new Ed25519Keypair());
  await localnet.faucet(signer.chainAddress);
  return signer;
}

/** A node that executes nothing of what it is sent, and keeps it. */
function holding(): { readonly chain: Chain; readonly release: () => Promise<Response> } {
  const held: Request[] = [];
  const chain = open(async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.endsWith("/ExecuteTransaction")) return localnet.fetch(request);
    held.push(request.clone());
    throw new TypeError("fetch failed");
  });
  // Each sending is the same bytes.
  return { chain, release: () => localnet.fetch(held[0]!.clone()) };
}

const NO_END = (1n << 64n) - 1n;
const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const NO_KEY = bcs.byteVector().serialize(new Uint8Array());

type OwnerAct = (chain: Chain, owner: TransactionSigner, objectId: string) => Promise<VaultAct>;

/**
 * A vault whose owner signed `given` at a node that kept it, and then did `taken` at an honest one. Answers what
 * releases the kept transaction, and the vault after it.
 */
async function heldBack(given: OwnerAct, taken: readonly OwnerAct[], prepare: readonly OwnerAct[] = []) {
  const owner = await person();
  const { objectId } = (await createVault(open(), owner, {})).vault;
  for (const act of prepare) await act(open(), owner, objectId);
  const { chain, release } = holding();
  await expect(given(chain, owner, objectId)).rejects.toEqual(refusal("transaction_unknown"));
  // The coin that it pays with is not used meanwhile: the next ones are paid for with a larger one.
  await localnet.faucet(owner.chainAddress, 500_000_000_000n);
  for (const act of taken) await act(open(), owner, objectId);
  return {
    objectId,
    released: async () => {
      await release();
      return open().readVault(objectId);
    },
  };
}

const add =
  (chainAddress: string, endsAt?: bigint): OwnerAct =>
  (chain, owner, objectId) =>
    addMember(chain, owner, { objectId, chainAddress, ...(endsAt === undefined ? {} : { endsAt }) });
const until =
  (chainAddress: string, endsAt: bigint | null): OwnerAct =>
  (chain, owner, objectId) =>
    setUntil(chain, owner, { objectId, chainAddress, endsAt });
const remove =
  (chainAddress: string): OwnerAct =>
  (chain, owner, objectId) =>
    removeMember(chain, owner, { objectId, chainAddress });
const offer =
  (chainAddress: string | null): OwnerAct =>
  (chain, owner, objectId) =>
    offerOwnership(chain, owner, { objectId, chainAddress });

const FIRST_END = (Math.ceil(Date.now() / 900_000) + 4) * 900_000;
/** So many quarters of an hour after an end that is still to come. */
const quarters = (count: number): bigint => BigInt(FIRST_END + count * 900_000);

it("N7: an addition that was held back lets nobody in again after a removal, in the epochs in which it is valid [N7]", async () => {
  const anna = (await person()).chainAddress;
  const { released } = await heldBack(add(anna), [add(anna), remove(anna)]);
  expect((await released()).members).toEqual([]);
});

it("N7: an extension that was held back does not undo that an end was shortened [N7]", async () => {
  const anna = (await person()).chainAddress;
  const { released } = await heldBack(until(anna, null), [until(anna, quarters(1))], [add(anna, quarters(3))]);
  expect((await released()).members).toMatchObject([{ chainAddress: anna, endsAt: quarters(1) }]);
});

it("N7: an offer that was held back gives nobody the vault after another one took its place [N7]", async () => {
  const [anna, ben] = [await person(), await person()];
  const { objectId, released } = await heldBack(offer(anna.chainAddress), [offer(ben.chainAddress)]);
  expect((await released()).offered).toBe(ben.chainAddress);
  await expect(acceptOwnership(open(), anna, { objectId })).rejects.toEqual(refusal("not_offered"));
});

/** A signed transaction of the owner, kept: calls of the package on the vault, one after the other. */
async function keptCalls(
  keypair: Ed25519Keypair,
  objectId: string,
  calls: (transaction: Transaction) => readonly (readonly [name: string, ...values: TransactionArgument[]])[],
): Promise<() => Promise<void>> {
  const chain = open();
  const { initialSharedVersion } = await chain.readVault(objectId);
  const transaction = new Transaction();
  const shared = { objectId, initialSharedVersion: String(initialSharedVersion), mutable: true };
  for (const [name, ...values] of calls(transaction))
    transaction.moveCall({
      target: `${chain.network.latestPackageId}::vault::${name}`,
      arguments: [
        ...[transaction.sharedObjectRef(shared), ...values],
        transaction.sharedObjectRef({ objectId: "0x6", initialSharedVersion: "1", mutable: false }),
      ],
    });
  transaction.setSender(keypair.toSuiAddress());
  const bytes = await transaction.build({ client: chain.client });
  const { signature } = await keypair.signTransaction(bytes);
  await localnet.faucet(keypair.toSuiAddress(), 500_000_000_000n);
  return async () => {
    await chain.client.core.executeTransaction({ transaction: bytes, signatures: [signature] }).catch(() => undefined);
  };
}

it("N7: a held transaction that takes and then gives lets nobody in again: its own taking is no act that it may name [N7]", async () => {
  const keypair = new Ed25519Keypair();
  const owner = fromSuiSigner(keypair);
  await localnet.faucet(owner.chainAddress);
  const [anna, ben] = [(await person()).chainAddress, (await person()).chainAddress];
  const scene = async () => {
    const { objectId, last } = (await createVault(open(), owner, {})).vault;
    const release = await keptCalls(keypair, objectId, ({ pure }) => [
      ["remove", pure.address(anna)],
      ["add", pure.address(anna), pure(NO_KEY), pure.u64(NO_END), pure(bcs.byteVector().serialize(fromHex(last)))],
    ]);
    const members = async () => (await open().readVault(objectId)).members.map(({ chainAddress }) => chainAddress);
    return { objectId, release, members };
  };
  const [alone, late] = [await scene(), await scene()];
  // Where the owner has not acted since, it does what it says.
  await alone.release();
  expect(await alone.members()).toEqual([anna]);
  await addMember(open(), owner, { objectId: late.objectId, chainAddress: ben });
  await late.release();
  expect(await late.members()).toEqual([ben]);
});

/** A node that says something else of the owner's last act. */
function lyingOf(chain: Chain, last: () => string): Chain {
  return { ...chain, readVault: async (...asked) => ({ ...(await chain.readVault(...asked)), last: last() }) };
}

it("N7: a node that lies about the owner's last act gets nothing signed that the chain executes [N7]", async () => {
  const owner = await person();
  const { objectId } = (await createVault(open(), owner, {})).vault;
  const beforeSend = vi.fn(() => Promise.resolve());
  const lie = lyingOf(open(), () => "ab".repeat(32));
  const added = addMember(lie, owner, { objectId, chainAddress: (await person()).chainAddress }, { beforeSend });
  await expect(added).rejects.toEqual(refusal("act_outdated"));
  expect(beforeSend).not.toHaveBeenCalled();
});

it("N7: a signing key that was held back replaces no later one [N7]", async () => {
  const owner = await person();
  const { objectId } = (await createVault(open(), owner, { signingKey: key(1) })).vault;
  const set = (chain: Chain, byte: number) => setSigningKey(chain, owner, { objectId, signingKey: key(byte) });
  const { chain, release } = holding();
  await expect(set(chain, 2)).rejects.toEqual(refusal("transaction_unknown"));
  await localnet.faucet(owner.chainAddress, 500_000_000_000n);
  await set(open(), 3);
  await release();
  expect((await open().readVault(objectId)).owner.signingKey).toEqual(key(3));
});

it("N19: a removal that was held back removes who was added again since, and the owner sees it [N19]", async () => {
  const anna = (await person()).chainAddress;
  const { released } = await heldBack(remove(anna), [remove(anna), add(anna)], [add(anna)]);
  expect(await released()).toMatchObject({ members: [], generation: 3n });
});

it("N7: what was held back is void after the next epoch, whatever the owner has done since [N7]", async () => {
  const anna = (await person()).chainAddress;
  const { released } = await heldBack(add(anna), []);
  localnet.advanceEpoch();
  localnet.advanceEpoch();
  expect((await released()).members).toEqual([]);
});

it("a node that names a later epoch gets nothing that is executed now, nor for longer than two epochs [N8]", async () => {
  const owner = await person();
  const lie = { epoch: 30n };
  const chain = open();
  const honest = chain.client.ledgerService.getServiceInfo.bind(chain.client.ledgerService);
  Object.assign(chain.client.ledgerService, {
    getServiceInfo: async () => {
      const { response } = await honest({});
      return { response: { ...response, epoch: (response.epoch ?? 0n) + lie.epoch } };
    },
  });
  await expect(createVault(chain, owner, {})).rejects.toEqual(refusal("transaction_failed"));
});

/** A creation that was signed and kept, and never sent. */
async function keptCreation(owner: TransactionSigner): Promise<SignedTransaction> {
  const kept: SignedTransaction[] = [];
  const beforeSend = (_digest: string, signed: SignedTransaction): Promise<void> => {
    kept.push(signed);
    return Promise.reject(new Error("killed"));
  };
  await expect(createVault(open(), owner, {}, { beforeSend })).rejects.toThrow("killed");
  return kept[0]!;
}

it("an unfinished creation goes on with its own transaction, which makes one object however often it is sent", async () => {
  const owner = await person();
  const text = encodeCreation(await keptCreation(owner));
  const first = await resumeCreation(open(), owner.chainAddress, {}, text);
  const again = await resumeCreation(open(), owner.chainAddress, {}, text);
  expect([first?.owner.chainAddress, again?.objectId]).toEqual([owner.chainAddress, first?.objectId]);
  // Long after it was executed, the vault that it made is still the one.
  localnet.advanceEpoch();
  localnet.advanceEpoch();
  expect((await resumeCreation(open(), owner.chainAddress, {}, text))?.objectId).toBe(first?.objectId);
});

it("an unfinished creation is begun anew when it is void: the first transaction never makes a second object [N9]", async () => {
  const owner = await person();
  const signed = await keptCreation(owner);
  localnet.advanceEpoch();
  localnet.advanceEpoch();
  expect(await resumeCreation(open(), owner.chainAddress, {}, encodeCreation(signed))).toBeNull();
  const { client } = open();
  const send = client.core.executeTransaction({ transaction: signed.bytes, signatures: [signed.signature] });
  await expect(send).rejects.toThrow("Transaction Expired");
});

it("an unfinished creation is begun anew when its coin was spent otherwise, and asked for again while nobody answers", async () => {
  const owner = await person();
  const text = encodeCreation(await keptCreation(owner));
  const { chain } = holding();
  await expect(resumeCreation(chain, owner.chainAddress, {}, text)).rejects.toEqual(refusal("transaction_unknown"));
  await createVault(open(), owner, {});
  expect(await resumeCreation(open(), owner.chainAddress, {}, text)).toBeNull();
});

it("what a journal holds is sent only when it is the creation that is wanted, by whom it is wanted", async () => {
  const owner = await person();
  const eve = await person();
  const text = encodeCreation(await keptCreation(owner));
  const resume = (wanted: object, by = owner, kept = text) => resumeCreation(open(), by.chainAddress, wanted, kept);
  for (const kept of ["", "{}", "null", text.slice(1), text.replace("transaction", "transactions")])
    expect(await resume({}, owner, kept)).toBeNull();
  expect(await resume({ plainNames: true })).toBeNull();
  expect(await resume({ signingKey: new Uint8Array(32) })).toBeNull();
  expect(await resume({}, eve)).toBeNull();
  expect(await resume({})).not.toBeNull();
});

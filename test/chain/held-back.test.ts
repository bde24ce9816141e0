/** Signed transactions that somebody keeps: a node that answers nothing, or a crash. What they are good for, and until when. */
import {
  acceptOwnership,
  addMember,
  type Chain,
  createVault,
  encodeUnfinished,
  fromSuiSigner,
  offerOwnership,
  openChain,
  removeMember,
  resumeCreation,
  setUntil,
  type SignedTransaction,
  type TransactionSigner,
  type VaultAct,
} from "@coffer/chain";
import { type Localnet, openLocalnet } from "@coffer/localnet";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, expect, it } from "vitest";

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

/** Whole quarters of an hour from now on. */
const quarters = (count: number): bigint => BigInt((Math.ceil(Date.now() / 900_000) + count) * 900_000);

it("N7: an addition that was held back lets nobody in again after a removal, in the epochs in which it is valid", async () => {
  const anna = (await person()).chainAddress;
  const { released } = await heldBack(add(anna), [add(anna), remove(anna)]);
  expect((await released()).members).toEqual([]);
});

it("N7: an extension that was held back does not undo that an end was shortened", async () => {
  const anna = (await person()).chainAddress;
  const { released } = await heldBack(until(anna, null), [until(anna, quarters(1))], [add(anna, quarters(3))]);
  expect((await released()).members).toMatchObject([{ chainAddress: anna, endsAt: quarters(1) }]);
});

it("N7: an offer that was held back gives nobody the vault after another one took its place", async () => {
  const [anna, ben] = [await person(), await person()];
  const { objectId, released } = await heldBack(offer(anna.chainAddress), [offer(ben.chainAddress)]);
  expect((await released()).offered).toBe(ben.chainAddress);
  await expect(acceptOwnership(open(), anna, { objectId })).rejects.toEqual(refusal("not_offered"));
});

it("N7: what was held back is void after the next epoch, whatever the owner has done since", async () => {
  const anna = (await person()).chainAddress;
  const { released } = await heldBack(add(anna), []);
  localnet.advanceEpoch();
  localnet.advanceEpoch();
  expect((await released()).members).toEqual([]);
});

it("a node that names a later epoch gets nothing that is executed now, nor for longer than two epochs", async () => {
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
  const text = encodeUnfinished(await keptCreation(owner));
  const first = await resumeCreation(open(), owner.chainAddress, {}, text);
  const again = await resumeCreation(open(), owner.chainAddress, {}, text);
  expect([first?.owner.chainAddress, again?.objectId]).toEqual([owner.chainAddress, first?.objectId]);
  // Long after it was executed, the vault that it made is still the one.
  localnet.advanceEpoch();
  localnet.advanceEpoch();
  expect((await resumeCreation(open(), owner.chainAddress, {}, text))?.objectId).toBe(first?.objectId);
});

it("an unfinished creation is begun anew when it is void: the first transaction never makes a second object", async () => {
  const owner = await person();
  const signed = await keptCreation(owner);
  localnet.advanceEpoch();
  localnet.advanceEpoch();
  expect(await resumeCreation(open(), owner.chainAddress, {}, encodeUnfinished(signed))).toBeNull();
  const { client } = open();
  const send = client.core.executeTransaction({ transaction: signed.bytes, signatures: [signed.signature] });
  await expect(send).rejects.toThrow("Transaction Expired");
});

it("an unfinished creation is begun anew when its coin was spent otherwise, and asked for again while nobody answers", async () => {
  const owner = await person();
  const text = encodeUnfinished(await keptCreation(owner));
  const { chain } = holding();
  await expect(resumeCreation(chain, owner.chainAddress, {}, text)).rejects.toEqual(refusal("transaction_unknown"));
  await createVault(open(), owner, {});
  expect(await resumeCreation(open(), owner.chainAddress, {}, text)).toBeNull();
});

it("what a journal holds is sent only when it is the creation that is wanted, by whom it is wanted", async () => {
  const owner = await person();
  const eve = await person();
  const text = encodeUnfinished(await keptCreation(owner));
  const resume = (wanted: object, by = owner, kept = text) => resumeCreation(open(), by.chainAddress, wanted, kept);
  for (const kept of ["", "{}", "null", text.slice(1), text.replace("transaction", "transactions")])
    expect(await resume({}, owner, kept)).toBeNull();
  expect(await resume({ plainNames: true })).toBeNull();
  expect(await resume({ signingKey: new Uint8Array(32) })).toBeNull();
  expect(await resume({}, eve)).toBeNull();
  expect(await resume({})).not.toBeNull();
});

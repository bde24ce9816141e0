/** Signed transactions that somebody keeps: a node that answers nothing, or a crash. What they are good for, and until when. */
import {
  addMember,
  type Chain,
  createVault,
  encodeUnfinished,
  fromSuiSigner,
  openChain,
  removeMember,
  resumeCreation,
  type SignedTransaction,
  type TransactionSigner,
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

async function heldAdd(owner: TransactionSigner) {
  const member = (await person()).chainAddress;
  const { objectId } = (await createVault(open(), owner, {})).vault;
  const { chain, release } = holding();
  const act = { objectId, chainAddress: member };
  await expect(addMember(chain, owner, act)).rejects.toEqual(refusal("transaction_unknown"));
  // The coin that it pays with is not used meanwhile: the next ones are paid for with a larger one.
  await localnet.faucet(owner.chainAddress, 500_000_000_000n);
  await addMember(open(), owner, act);
  await removeMember(open(), owner, act);
  const members = async () =>
    (await open().readVault(objectId)).members.map(({ chainAddress }) => chainAddress === member);
  expect(await members()).toEqual([]);
  return { release, members };
}

it("an addition that was held back lets nobody in again after the next epoch", async () => {
  const owner = await person();
  const [soon, late] = [await heldAdd(owner), await heldAdd(await person())];
  // Until then the chain takes it, which is what makes the rest of this test worth something.
  localnet.advanceEpoch();
  await soon.release();
  expect(await soon.members()).toEqual([true]);
  localnet.advanceEpoch();
  await late.release();
  expect(await late.members()).toEqual([]);
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

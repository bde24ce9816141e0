import {
  acceptOwnership,
  addMember,
  type Chain,
  createVault,
  findCreatedVault,
  fromSuiSigner,
  leave,
  type NetworkConfiguration,
  offerOwnership,
  openChain,
  publishPackage,
  raiseFloor,
  removeMember,
  renew,
  setSigningKey,
  sweep,
  type TransactionSigner,
  type VaultObject,
} from "@coffer/chain";
import { NO_END } from "@coffer/crypto";
import { type Localnet, openLocalnet } from "@coffer/localnet";
import type { SuiClientTypes } from "@mysten/sui/client";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, expect, it } from "vitest";

/** What an open entry without an end has besides. */
const OPEN = { endsAt: NO_END, until: 0n, replacedKeys: 0 } as const;

let localnet: Localnet;
/** Each test has people of its own: what one of them does is nobody else's gas or vault. */
interface People {
  readonly owner: TransactionSigner;
  readonly anna: TransactionSigner;
  readonly ben: TransactionSigner;
  readonly eve: TransactionSigner;
}

beforeAll(async () => {
  localnet = await openLocalnet();
});
afterAll(() => localnet.close());

const open = (network: NetworkConfiguration = localnet.network()): Chain =>
  openChain(network, { fetch: localnet.fetch, clock: () => Date.now() });
const person = (): TransactionSigner => fromSuiSigner(new Ed25519Keypair());
const people = (): People => ({ owner: person(), anna: person(), ben: person(), eve: person() });
const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const NO_KEY = new Uint8Array();
const refusal = (code: string): unknown => expect.objectContaining({ name: "ChainError", code });

async function vaultOf({ owner, anna, ben }: People): Promise<{ chain: Chain; objectId: string; vault: VaultObject }> {
  const chain = open();
  const { objectId } = (await createVault(chain, owner, { signingKey: key(1) })).vault;
  await addMember(chain, owner, { objectId, chainAddress: anna.chainAddress, signingKey: key(2) });
  const { vault } = await addMember(chain, owner, { objectId, chainAddress: ben.chainAddress });
  return { chain, objectId, vault };
}

it("acts within one epoch, and says so, where the network's protocol knows no longer window", async () => {
  await using older = await openLocalnet({ validEpochs: 1 });
  const [owner, anna] = [person(), person()];
  const chain = openChain(older.network(), { fetch: older.fetch });
  const warnings = [expect.objectContaining({ code: "valid_one_epoch" })];
  const created = await createVault(chain, owner, {});
  expect(created).toMatchObject({ outcome: "done", warnings });
  const { objectId } = created.vault;
  expect(await addMember(chain, owner, { objectId, chainAddress: anna.chainAddress })).toMatchObject({ warnings });
  expect((await createVault(open(), owner, {})).warnings).toEqual([]);
});

it("sweeps who has ended once an act has marked them, and has nothing to do before and after", async () => {
  let ahead = 0;
  const clock = (): number => Date.now() + ahead;
  await using net = await openLocalnet({ clock });
  const [owner, anna] = [person(), person()];
  const chain = openChain(net.network(), { fetch: net.fetch, clock });
  const { objectId, base } = (await createVault(chain, owner, {})).vault;
  const endsAt = BigInt(Math.ceil((clock() + 1000) / 900_000) * 900_000);
  await addMember(chain, owner, { objectId, chainAddress: anna.chainAddress, signingKey: key(2), endsAt });
  ahead = Number(endsAt) - Date.now();
  expect(await sweep(chain, owner, { objectId })).toMatchObject({ outcome: "already", digest: null });
  await renew(chain, owner, { objectId, base });
  const swept = await sweep(chain, owner, { objectId });
  expect(swept).toMatchObject({ outcome: "done", vault: { members: [], former: [{ endsAt }] } });
  expect(await sweep(chain, owner, { objectId })).toMatchObject({ outcome: "already", digest: null });
});

it("creates a vault that belongs to its signer, and finds it by the digest that was stored before", async () => {
  const { owner } = people();
  const chain = open();
  const digests: string[] = [];
  const created = await createVault(
    chain,
    owner,
    { signingKey: key(1), plainNames: true },
    { beforeSend: async (digest) => void digests.push(digest) },
  );
  expect(created).toMatchObject({ outcome: "done", digest: digests[0] });
  expect(created.vault).toMatchObject({
    generation: 1n,
    floor: 1n,
    plainNames: true,
    offered: null,
    members: [],
    former: [],
  });
  expect(created.vault.owner).toEqual({ chainAddress: owner.chainAddress, signingKey: key(1), since: 1n, ...OPEN });
  expect(await findCreatedVault(open(), digests[0]!)).toMatchObject({ objectId: created.vault.objectId });
  expect(await findCreatedVault(open(), "11111111111111111111111111111111")).toBeNull();
});

type Answer = { readonly Transaction?: { readonly effects?: SuiClientTypes.TransactionEffects } };

/** A node that says of what a transaction made, a vault or a package, that it is another object. Gives back what undoes it. */
function substitute(core: object, objectId: string): () => void {
  const names = ["executeTransaction", "getTransaction"];
  const honest = names.map((name) => Reflect.get(core, name) as (options: unknown) => Promise<Answer>);
  const hostile = honest.map(
    (ask) =>
      async function (this: unknown, options: unknown): Promise<Answer> {
        const answer = await ask.call(this, options);
        for (const changed of answer.Transaction?.effects?.changedObjects ?? [])
          if (changed.outputOwner?.$kind === "Shared" || changed.outputState === "PackageWrite")
            Object.assign(changed, { objectId });
        return answer;
      },
  );
  const install = (methods: readonly unknown[]) => names.forEach((name, at) => Reflect.set(core, name, methods[at]));
  install(hostile);
  return () => install(honest);
}

it("takes no other vault for the one it created, whatever the node says", async () => {
  const { owner, eve } = people();
  const { vault: eves } = await createVault(open(), eve, {});
  const chain = open();
  substitute(chain.client.core, eves.objectId);
  const digests: string[] = [];
  const beforeSend = async (digest: string): Promise<void> => void digests.push(digest);
  await expect(createVault(chain, owner, {}, { beforeSend })).rejects.toEqual(refusal("vault_changed"));
  await expect(findCreatedVault(chain, digests[0]!)).rejects.toEqual(refusal("vault_changed"));
  expect((await findCreatedVault(open(), digests[0]!))?.owner.chainAddress).toBe(owner.chainAddress);
});

it("adds members once, with and without a signing key", async () => {
  const everybody = people();
  const { owner, anna, ben, eve } = everybody;
  const { chain, objectId, vault } = await vaultOf(everybody);
  expect(vault.members).toEqual([
    { chainAddress: anna.chainAddress, signingKey: key(2), since: 1n, ...OPEN },
    { chainAddress: ben.chainAddress, signingKey: NO_KEY, since: 1n, ...OPEN },
  ]);
  const again = await addMember(chain, owner, { objectId, chainAddress: anna.chainAddress });
  expect(again).toMatchObject({ outcome: "already", digest: null });
  await expect(addMember(chain, anna, { objectId, chainAddress: eve.chainAddress })).rejects.toEqual(
    refusal("not_owner"),
  );
  await expect(addMember(chain, owner, { objectId, chainAddress: owner.chainAddress })).rejects.toEqual(
    refusal("is_owner"),
  );
});

it("removes members, raises the generation, and says who was a member when", async () => {
  const everybody = people();
  const { owner, anna, eve } = everybody;
  const { chain, objectId } = await vaultOf(everybody);
  const removed = await removeMember(chain, owner, { objectId, chainAddress: anna.chainAddress });
  expect(removed).toMatchObject({ outcome: "done", vault: { generation: 2n } });
  expect(removed.vault.former).toEqual([
    { chainAddress: anna.chainAddress, signingKey: key(2), since: 1n, until: 1n, endsAt: NO_END },
  ]);
  const again = await removeMember(chain, owner, { objectId, chainAddress: anna.chainAddress });
  expect(again).toMatchObject({ outcome: "already", vault: { generation: 2n } });
  await expect(removeMember(chain, eve, { objectId, chainAddress: anna.chainAddress })).resolves.toMatchObject({
    outcome: "already",
  });
  const back = await addMember(chain, owner, { objectId, chainAddress: anna.chainAddress });
  expect(back.vault.members.at(-1)).toMatchObject({ chainAddress: anna.chainAddress, since: 2n });
});

it("lets members leave and set their keys", async () => {
  const everybody = people();
  const { owner, anna, ben, eve } = everybody;
  const { chain, objectId } = await vaultOf(everybody);
  const first = await setSigningKey(chain, ben, { objectId, signingKey: key(3) });
  expect(first.vault.generation).toBe(1n);
  expect(await setSigningKey(chain, ben, { objectId, signingKey: key(3) })).toMatchObject({ outcome: "already" });
  const second = await setSigningKey(chain, anna, { objectId, signingKey: key(4) });
  expect(second.vault.generation).toBe(2n);
  expect(second.vault.former).toEqual([
    { chainAddress: anna.chainAddress, signingKey: key(2), since: 1n, until: 1n, endsAt: NO_END },
  ]);
  await expect(setSigningKey(chain, eve, { objectId, signingKey: key(9) })).rejects.toEqual(refusal("not_a_member"));
  await expect(setSigningKey(chain, ben, { objectId, signingKey: key(9).subarray(1) })).rejects.toEqual(
    refusal("signing_key_invalid"),
  );
  expect((await leave(chain, ben, { objectId })).vault.generation).toBe(3n);
  expect(await leave(chain, ben, { objectId })).toMatchObject({ outcome: "already" });
  await expect(leave(chain, owner, { objectId })).rejects.toEqual(refusal("is_owner"));
});

it("hands a vault over, or takes the offer back", async () => {
  const everybody = people();
  const { owner, anna, ben } = everybody;
  const { chain, objectId } = await vaultOf(everybody);
  expect((await offerOwnership(chain, owner, { objectId, chainAddress: ben.chainAddress })).vault.offered).toBe(
    ben.chainAddress,
  );
  expect((await offerOwnership(chain, owner, { objectId, chainAddress: null })).vault.offered).toBeNull();
  await expect(acceptOwnership(chain, ben, { objectId })).rejects.toEqual(refusal("not_offered"));
  await offerOwnership(chain, owner, { objectId, chainAddress: anna.chainAddress });
  const accepted = await acceptOwnership(chain, anna, { objectId, signingKey: key(7) });
  expect(accepted.vault).toMatchObject({ generation: 2n, offered: null });
  expect(accepted.vault.owner).toEqual({ chainAddress: anna.chainAddress, signingKey: key(7), since: 2n, ...OPEN });
  expect(accepted.vault.former.map((former) => former.chainAddress)).toEqual([owner.chainAddress, anna.chainAddress]);
  expect(await acceptOwnership(chain, anna, { objectId })).toMatchObject({ outcome: "already" });
  await expect(removeMember(chain, owner, { objectId, chainAddress: ben.chainAddress })).rejects.toEqual(
    refusal("not_owner"),
  );
});

it("leaves nobody it removes an offer of the ownership, member or not", async () => {
  const { owner, eve } = people();
  const chain = open();
  const { objectId } = (await createVault(chain, owner, {})).vault;
  await offerOwnership(chain, owner, { objectId, chainAddress: eve.chainAddress });
  const act = { objectId, chainAddress: eve.chainAddress };
  expect(await removeMember(chain, owner, act)).toMatchObject({ outcome: "done", vault: { offered: null } });
  expect(await removeMember(chain, owner, act)).toMatchObject({ outcome: "already" });
  await expect(acceptOwnership(open(), eve, { objectId })).rejects.toEqual(refusal("not_offered"));
});

it("raises the floor up to the generation, and never lowers it", async () => {
  const everybody = people();
  const { owner, anna } = everybody;
  const { chain, objectId } = await vaultOf(everybody);
  await expect(raiseFloor(chain, owner, { objectId, floor: 2n })).rejects.toEqual(refusal("floor_invalid"));
  await removeMember(chain, owner, { objectId, chainAddress: anna.chainAddress });
  expect((await raiseFloor(chain, owner, { objectId, floor: 2n })).vault.floor).toBe(2n);
  expect(await raiseFloor(chain, owner, { objectId, floor: 1n })).toMatchObject({
    outcome: "already",
    vault: { floor: 2n },
  });
  await expect(raiseFloor(chain, anna, { objectId, floor: 3n })).rejects.toEqual(refusal("not_owner"));
});

it("does an act once when two programs race for it, and says so to both", async () => {
  const everybody = people();
  const { owner, anna, eve } = everybody;
  const { objectId } = await vaultOf(everybody);
  const act = { objectId, chainAddress: eve.chainAddress };
  // Programs of one address build the very same transaction where they choose the same coin: then both have done it.
  const added = await Promise.all([addMember(open(), owner, act), addMember(open(), owner, act)]);
  expect(new Set(added.map(({ digest }) => digest).filter((digest) => digest !== null)).size).toBe(1);
  expect(added.map(({ vault }) => vault.members.length)).toEqual([3, 3]);
  // One program sends one after the other.
  const chain = open();
  const gone = { objectId, chainAddress: anna.chainAddress };
  const removed = await Promise.all([removeMember(chain, owner, gone), removeMember(chain, owner, gone)]);
  expect(removed.map(({ outcome }) => outcome).sort()).toEqual(["already", "done"]);
  expect(new Set(removed.map(({ vault }) => vault.generation))).toEqual(new Set([2n]));
});

it("sends different transactions of one address from two programs, though they choose the same coin", async () => {
  const { owner } = people();
  const vaults = [await createVault(open(), owner, {}), await createVault(open(), owner, {})];
  const acts = vaults.map(({ vault: { objectId } }) => ({ objectId, chainAddress: person().chainAddress }));
  const added = await Promise.all(acts.map((act) => addMember(open(), owner, act)));
  expect(added.map(({ vault }) => vault.members.length)).toEqual([1, 1]);
});

it("adds different members at once from one program, and each once from two: the slower one is told to look again", async () => {
  const { owner } = people();
  const chain = open();
  const { objectId } = (await createVault(chain, owner, {})).vault;
  const strangers = (): { objectId: string; chainAddress: string }[] =>
    [person(), person(), person()].map(({ chainAddress }) => ({ objectId, chainAddress }));
  await Promise.all(strangers().map((act) => addMember(chain, owner, act)));
  expect((await open().readVault(objectId)).members).toHaveLength(3);
  const outdated: unknown[] = [];
  for (let acts = strangers(); acts.length > 0;) {
    const done = await Promise.allSettled(acts.map((act) => addMember(open(), owner, act)));
    for (const each of done) if (each.status === "rejected") outdated.push(each.reason);
    acts = acts.filter((_, at) => done[at]?.status === "rejected");
  }
  for (const reason of outdated) expect(reason).toEqual(refusal("act_outdated"));
  expect((await open().readVault(objectId)).members).toHaveLength(6);
});

it("refuses another network, package and vault before anything is signed", async () => {
  const { owner } = people();
  const signed: Uint8Array[] = [];
  const watched = {
    ...owner,
    signTransaction: async (bytes: Uint8Array) => (signed.push(bytes), owner.signTransaction(bytes)),
  };
  const network = localnet.network();
  const elsewhere = { ...network, chainId: "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S" };
  await expect(createVault(open(elsewhere), watched, {})).rejects.toEqual(refusal("network_changed"));
  const framework = `0x${"0".repeat(63)}2`;
  const replaced = { ...network, originalPackageId: framework, latestPackageId: framework };
  await expect(createVault(open(replaced), watched, {})).rejects.toEqual(refusal("network_changed"));
  const objectId = `0x${"5".repeat(64)}`;
  await expect(leave(open(), watched, { objectId })).rejects.toEqual(refusal("vault_not_found"));
  expect(signed).toEqual([]);
});

it("names an address that cannot pay", async () => {
  const poor = await openLocalnet({ autoFund: false });
  try {
    const chain = openChain(poor.network(), { fetch: poor.fetch });
    await expect(createVault(chain, person(), {})).rejects.toEqual(refusal("no_gas"));
    const rich = person();
    await poor.faucet(rich.chainAddress);
    await expect(createVault(chain, rich, {})).resolves.toMatchObject({ outcome: "done" });
  } finally {
    await poor.close();
  }
});

it("works over loopback as in process", async () => {
  const { url } = await localnet.listen();
  const chain = openChain({ ...localnet.network(), grpcUrl: url });
  const { vault } = await createVault(chain, person(), {});
  expect((await open().readVault(vault.objectId)).generation).toBe(1n);
});

it("publishes the package for good, and writes down a network that works [P1]", async () => {
  const network = localnet.network();
  const [first] = network.keyServerSets;
  const target = { network: network.network, grpcUrl: network.grpcUrl, keyServerSets: [first!] };
  const publisher = person();
  const { configuration } = await publishPackage(target, publisher, { fetch: localnet.fetch });
  expect(configuration.originalPackageId).not.toBe(network.originalPackageId);
  expect(configuration.keyServerSets[0]!.servers).toEqual(first!.servers);
  const { objectId } = (await createVault(open(configuration), publisher, {})).vault;
  await expect(open().readVault(objectId)).rejects.toEqual(refusal("vault_changed"));
});

it("takes no other package for the one it published: another may have the same code, and somebody who can change it [P2]", async () => {
  const network = localnet.network();
  const [first] = network.keyServerSets;
  const target = { network: network.network, grpcUrl: "http://127.0.0.1:9", keyServerSets: [first!] };
  const restore = substitute(Object.getPrototypeOf(open().client.core) as object, network.originalPackageId);
  const published = publishPackage(target, person(), { fetch: localnet.fetch }).finally(restore);
  await expect(published).rejects.toEqual(refusal("network_changed"));
});

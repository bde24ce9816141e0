import {
  addMember,
  type Chain,
  createVault,
  findMember,
  fromSuiSigner,
  leave,
  LAG_MS,
  openChain,
  removeMember,
  setSigningKey,
  type TransactionSigner,
} from "@coffer/chain";
import { type Localnet, openLocalnet } from "@coffer/localnet";
import { bcs } from "@mysten/sui/bcs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";

let localnet: Localnet;
let now = 1_800_000_000_000;

beforeAll(async () => {
  localnet = await openLocalnet({ clock: () => now });
});
beforeEach(() => {
  Object.assign(localnet.faults.node, { down: false, slow: 0, stale: false });
});
afterAll(() => localnet.close());

/** Does not really wait between two tries. */
const open = (): Chain =>
  openChain(localnet.network(), { fetch: localnet.fetch, clock: () => now, wait: () => Promise.resolve() });
const person = (): TransactionSigner => fromSuiSigner(new Ed25519Keypair());
const refusal = (code: string): unknown => expect.objectContaining({ name: "ChainError", code });
const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

it("refuses a node that stands still, and one that shows what was before its own transaction", async () => {
  const [chain, owner, anna] = [open(), person(), person()];
  const { objectId } = (await createVault(chain, owner, {})).vault;
  await addMember(chain, owner, { objectId, chainAddress: anna.chainAddress });
  localnet.faults.node.stale = true;
  await expect(chain.readVault(objectId, { maxAge: 0 })).resolves.toMatchObject({ generation: 1n });
  now += LAG_MS + 1;
  await expect(open().readVault(objectId)).rejects.toEqual(refusal("chain_stale"));
  localnet.faults.node.stale = false;
  const { vault } = await removeMember(open(), owner, { objectId, chainAddress: anna.chainAddress });
  await expect(open().readVault(objectId, { minGeneration: vault.generation })).resolves.toMatchObject({
    generation: 2n,
  });
});

it("reads again what it remembers, when somebody tells of a later generation", async () => {
  const [owner, anna] = [person(), person()];
  const warm = open();
  const { objectId } = (await createVault(warm, owner, {})).vault;
  await addMember(warm, owner, { objectId, chainAddress: anna.chainAddress });
  localnet.faults.node.stale = true;
  const lagging = open();
  expect((await lagging.readVault(objectId)).generation).toBe(1n);
  localnet.faults.node.stale = false;
  await removeMember(warm, owner, { objectId, chainAddress: anna.chainAddress });
  expect((await lagging.readVault(objectId, { hintedGeneration: 2n })).generation).toBe(2n);
});

it("names a node that is down, and works again when it is back", async () => {
  const [chain, owner] = [open(), person()];
  localnet.faults.node.down = true;
  await expect(createVault(chain, owner, {})).rejects.toEqual(refusal("chain_unavailable"));
  localnet.faults.node.down = false;
  await expect(createVault(chain, owner, {})).resolves.toMatchObject({ outcome: "done" });
});

const member = bcs.struct("Member", { chainAddress: bcs.Address, signingKey: bcs.byteVector(), since: bcs.u64() });
const former = bcs.struct("Former", {
  chainAddress: bcs.Address,
  signingKey: bcs.byteVector(),
  since: bcs.u64(),
  until: bcs.u64(),
});
const vaultBcs = bcs.struct("Vault", {
  id: bcs.Address,
  generation: bcs.u64(),
  floor: bcs.u64(),
  plainNames: bcs.bool(),
  owner: member,
  offered: bcs.option(bcs.Address),
  members: bcs.vector(member),
  former: bcs.vector(former),
});

it("reads and changes the largest vault: the oldest former entry gives way to a removal", async () => {
  const [chain, owner, anna] = [open(), person(), person()];
  const address = (kind: string, at: number): string => `0x${kind.repeat(28)}${at.toString(16).padStart(8, "0")}`;
  const objectId = address("da", 1);
  const contents = vaultBcs
    .serialize({
      id: objectId,
      generation: 3000,
      floor: 1,
      plainNames: false,
      owner: { chainAddress: owner.chainAddress, signingKey: key(1), since: 1 },
      offered: anna.chainAddress,
      members: Array.from({ length: 1000 }, (_, at) => ({
        chainAddress: at === 999 ? anna.chainAddress : address("bb", at),
        signingKey: key(2),
        since: 1,
      })),
      former: Array.from({ length: 2000 }, (_, at) => ({
        chainAddress: address("cc", at),
        signingKey: key(3),
        since: at,
        until: at + 1,
      })),
    })
    .toBytes();
  expect(contents.length).toBeLessThan(250_000);
  const { originalPackageId } = localnet.network();
  await localnet.chain.putObject({
    id: objectId,
    type: `${originalPackageId}::vault::Vault`,
    owner: { kind: "shared", initialVersion: 1n },
    contents,
  });
  const full = addMember(chain, owner, { objectId, chainAddress: person().chainAddress });
  await expect(full).rejects.toEqual(refusal("members_full"));
  const left = await leave(chain, anna, { objectId });
  expect(left.vault).toMatchObject({ generation: 3001n, offered: null });
  expect(left.vault.members).toHaveLength(999);
  expect(left.vault.former).toHaveLength(2000);
  expect(left.vault.former[0]).toMatchObject({ chainAddress: address("cc", 1) });
  expect(left.vault.former[1999]).toMatchObject({ chainAddress: anna.chainAddress, since: 1n, until: 3000n });
  const { vault } = await setSigningKey(chain, owner, { objectId, signingKey: key(9) });
  expect(findMember(vault, owner.chainAddress)).toMatchObject({ signingKey: key(9), since: 3002n });
});

it("limits how often one address replaces its key: nobody pushes the others out of the record", async () => {
  const [chain, owner] = [open(), person()];
  const { objectId } = (await createVault(chain, owner, { signingKey: key(1) })).vault;
  for (let at = 0; at < 16; at++) await setSigningKey(chain, owner, { objectId, signingKey: key(2 + at) });
  const seventeenth = setSigningKey(chain, owner, { objectId, signingKey: key(100) });
  await expect(seventeenth).rejects.toEqual(refusal("too_many_keys"));
});

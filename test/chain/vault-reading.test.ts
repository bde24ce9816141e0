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
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { putLargestVault, strangerAt } from "../kit/large-vault.ts";

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
  await expect(open().readVault(objectId)).rejects.toEqual(refusal("clock_skew"));
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

it("reads and changes the largest vault: the oldest former entry gives way to a removal", async () => {
  const [chain, owner, anna] = [open(), person(), person()];
  const people = { owner: owner.chainAddress, last: anna.chainAddress };
  const { objectId, bytes } = await putLargestVault(localnet, people);
  expect(bytes).toBeLessThan(256_000);
  const full = addMember(chain, owner, { objectId, chainAddress: person().chainAddress });
  await expect(full).rejects.toEqual(refusal("members_full"));
  const left = await leave(chain, anna, { objectId });
  expect(left.vault).toMatchObject({ generation: 3001n, offered: null });
  expect(left.vault.members).toHaveLength(999);
  expect(left.vault.former).toHaveLength(1800);
  expect(left.warnings).toMatchObject([{ code: "former_nearly_full" }]);
  expect(left.vault.former[1]).toMatchObject({ chainAddress: strangerAt("cc", 1) });
  expect(left.vault).toMatchObject({ oldest: 1n });
  expect(left.vault.former[0]).toMatchObject({ chainAddress: anna.chainAddress, since: 1n, until: 3000n });
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

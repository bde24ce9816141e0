/** What each act costs in a vault of one member and in the largest one, by the localnet's gas: Sui's cost tables at a price of 1,000 MIST. */
import {
  acceptOwnership,
  addMember,
  type Chain,
  fromSuiSigner,
  leave,
  offerOwnership,
  openChain,
  raiseFloor,
  removeMember,
  renew,
  setSigningKey,
  setUntil,
  sweep,
  type TransactionSigner,
  type VaultAct,
} from "@coffer/chain";
import { VAULT_OBJECT_LIMITS, vaultObjectType } from "@coffer/contract";
import { openLocalnet } from "@coffer/localnet";
import { bcs } from "@mysten/sui/bcs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, it } from "vitest";

const END_STEP = 900_000;
const NO_END = (1n << 64n) - 1n;
const entry = { chainAddress: bcs.Address, signingKey: bcs.byteVector(), since: bcs.u64() };
const Member = bcs.struct("Member", { ...entry, endsAt: bcs.u64(), until: bcs.u64(), replacedKeys: bcs.u8() });
const Former = bcs.struct("Former", { ...entry, until: bcs.u64(), endsAt: bcs.u64() });
const Vault = bcs.struct("Vault", {
  id: bcs.Address,
  generation: bcs.u64(),
  floor: bcs.u64(),
  base: bcs.u64(),
  plainNames: bcs.bool(),
  owner: Member,
  offered: bcs.option(bcs.Address),
  members: bcs.vector(Member),
  former: bcs.vector(Former),
  oldest: bcs.u64(),
  last: bcs.byteVector(),
  before: bcs.byteVector(),
});

const person = (): TransactionSigner => fromSuiSigner(new Ed25519Keypair());
const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const addressOf = (index: number): string => `0x${(index + 1000).toString(16).padStart(64, "0")}`;
const localnet = await openLocalnet();
afterAll(() => localnet.close());
const chain: Chain = openChain(localnet.network(), { fetch: localnet.fetch });
const [owner, last] = [person(), person()];
for (const { chainAddress } of [owner, last]) await localnet.faucet(chainAddress, 1_000_000_000_000n);
const soon = BigInt(Math.ceil((Date.now() + 60_000) / END_STEP) * END_STEP);

interface Size {
  readonly members: number;
  readonly former: number;
  /** Whether the ends of all others have come, and nothing has marked them yet. */
  readonly ended?: boolean;
  /** Whether an act has marked them. */
  readonly marked?: boolean;
}

const SMALL: Size = { members: 1, former: 0 };
const LARGE: Size = { members: VAULT_OBJECT_LIMITS.members, former: VAULT_OBJECT_LIMITS.former };

let vaults = 0;

/** A vault whose last member is `last`, as an act of the module would have left it. */
async function vaultOf({ members, former, ended = false, marked = false }: Size): Promise<string> {
  vaults += 1;
  const id = `0x${(vaults + 0xff000000).toString(16).padStart(64, "0")}`;
  const entryOf = (chainAddress: string) => ({ chainAddress, signingKey: key(1), since: 1n });
  const open = { endsAt: NO_END, until: 0n, replacedKeys: 0 };
  const others = { ...open, endsAt: ended || marked ? BigInt(END_STEP) : NO_END, until: marked ? 1n : 0n };
  const listed = Array.from({ length: members - 1 }, (_, at) => ({ ...entryOf(addressOf(at)), ...others }));
  const closed = Array.from({ length: former }, (_, at) => ({
    ...entryOf(addressOf(at + 5000)),
    until: 1n,
    endsAt: NO_END,
  }));
  const contents = Vault.serialize({
    id,
    generation: 2n,
    floor: 1n,
    base: 1n,
    plainNames: false,
    offered: null,
    oldest: 0n,
    last: key(8),
    before: key(9),
    owner: { ...entryOf(owner.chainAddress), ...open },
    members: [...listed, { ...entryOf(last.chainAddress), ...open, endsAt: soon + BigInt(END_STEP) }],
    former: closed,
  }).toBytes();
  const type = vaultObjectType(chain.network.originalPackageId);
  await localnet.chain.putObject({ id, type, owner: { kind: "shared", initialVersion: 1n }, contents });
  // What was stored is paid for once, as in any vault.
  await offerOwnership(chain, owner, { objectId: id, chainAddress: last.chainAddress });
  return id;
}

type Act = (objectId: string) => Promise<VaultAct>;

const ACTS: Readonly<Record<string, Act>> = {
  add: (objectId) => addMember(chain, owner, { objectId, chainAddress: addressOf(9999), signingKey: key(3) }),
  extend: (objectId) => setUntil(chain, owner, { objectId, ...last, endsAt: null }),
  shorten: (objectId) => setUntil(chain, owner, { objectId, ...last, endsAt: soon }),
  remove: (objectId) => removeMember(chain, owner, { objectId, ...last }),
  leave: (objectId) => leave(chain, last, { objectId }),
  set_signing_key: (objectId) => setSigningKey(chain, last, { objectId, signingKey: key(7) }),
  renew: (objectId) => renew(chain, owner, { objectId, base: 1n }),
  sweep: (objectId) => sweep(chain, last, { objectId }),
  offer_ownership: (objectId) => offerOwnership(chain, owner, { objectId, chainAddress: addressOf(9999) }),
  withdraw_offer: (objectId) => offerOwnership(chain, owner, { objectId, chainAddress: null }),
  accept_ownership: (objectId) => acceptOwnership(chain, last, { objectId, signingKey: key(7) }),
  raise_floor: (objectId) => raiseFloor(chain, owner, { objectId, floor: 2n }),
};

/** Of a transaction, in SUI: what it computed, and the budget that was named for it from a simulation. */
async function costOf(name: string, size: Size): Promise<{ readonly computed: number; readonly budget: number }> {
  const act = ACTS[name];
  if (act === undefined) throw new TypeError(`no such act: ${name}`);
  const { digest } = await act(await vaultOf(size));
  const include = { effects: true, transaction: true } as const;
  const { Transaction: done } = await chain.client.core.getTransaction({ digest: digest ?? "", include });
  const budget = Number(done?.transaction.gasData.budget);
  return { computed: Number(done?.effects.gasUsed.computationCost) / 1e9, budget: budget / 1e9 };
}

const README = readFileSync(path.join(import.meta.dirname, "../../packages/chain/README.md"), "utf8");
/** In SUI. */
const CEILING = Number(/refuses to sign a budget above ([\d.]+) SUI/.exec(README)?.[1]);

/** The rows of the table in the README of `@coffer/chain`: act, one member, 1,000 members, 1,000 of whom the ends have come. */
const TABLE = [...README.matchAll(/^\| `([a-z_]+)` +\| ([\d.]+|-) +\| ([\d.]+|-) +\| ([\d.]+) +\|$/gm)].map(
  ([, name = "", ...costs]) => ({ name, costs }),
);

it("lists every act in the README", () => {
  expect(TABLE.map(({ name }) => name)).toEqual(Object.keys(ACTS));
});

/** In the largest vault these come near the ceiling first. */
const CHOSEN =
  process.env["COFFER_TEST_COUNTS"] === "full" ? TABLE : TABLE.filter(({ name }) => /^(?:add|renew|sweep)$/.test(name));

it.each(CHOSEN)("$name costs what the README says, and less than the ceiling", { timeout: 60_000 }, async (row) => {
  // A full list takes nobody before somebody's end has come, and only what is marked is swept.
  const large = row.name === "add" ? { ...LARGE, members: LARGE.members - 1 } : LARGE;
  const ended = row.name === "sweep" ? { ...LARGE, marked: true } : { ...LARGE, ended: true };
  const measured: string[] = [];
  for (const [at, size] of [SMALL, large, ended].entries()) {
    if (row.costs[at] === "-") {
      measured.push("-");
      continue;
    }
    const { computed, budget } = await costOf(row.name, size);
    measured.push(computed.toFixed(3));
    // A third above it is left for prices that rise.
    expect(budget * 1.33).toBeLessThan(CEILING);
  }
  expect(measured).toEqual(row.costs);
});

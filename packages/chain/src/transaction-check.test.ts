import { NO_END } from "@coffer/crypto";
import { bcs } from "@mysten/sui/bcs";
import { Inputs, type Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { checkBuiltTransaction, MAX_GAS_BUDGET } from "./transaction-check.ts";
import { ChainError } from "./errors.ts";
import { toTransaction, vaultCalls } from "./vault-functions.ts";
import type { VaultObject } from "./vault-object.ts";

const address = (byte: string): string => `0x${byte.repeat(32)}`;
const [PACKAGE, VAULT, OWNER, ANNA, EVE] = ["01", "02", "03", "0a", "0e"].map(address) as [
  string,
  string,
  string,
  string,
  string,
];
const COIN = { objectId: address("cc"), version: "7", digest: toBase58(new Uint8Array(32).fill(1)) };
const during = (minEpoch: string, maxEpoch: string, chain = COIN.digest, nonce = 7) => ({
  ValidDuring: { minEpoch, maxEpoch, chain, nonce, minTimestamp: null, maxTimestamp: null },
});
const NEXT_EPOCH = during("3", "4");
const vault = { objectId: VAULT, initialSharedVersion: 5n } as VaultObject;

const LAST = "ef".repeat(32);

let kind: Uint8Array;
const add = (member = ANNA): Transaction =>
  toTransaction(vaultCalls.add(vault, member, new Uint8Array(), NO_END, LAST), PACKAGE);

async function build(transaction: Transaction, gas: { owner?: string; budget?: bigint; coins?: (typeof COIN)[] } = {}) {
  transaction.setSenderIfNotSet(OWNER);
  if (transaction.getData().expiration === null) transaction.setExpiration(NEXT_EPOCH);
  transaction.setGasOwner(gas.owner ?? OWNER);
  transaction.setGasBudget(gas.budget ?? 5_000_000n);
  transaction.setGasPrice(1000);
  transaction.setGasPayment(gas.coins ?? [COIN]);
  return transaction.build();
}

beforeAll(async () => {
  kind = await add().build({ onlyTransactionKind: true });
});

const refusal = expect.objectContaining({ code: "transaction_refused" });

it("takes what was asked for, at the signer's own cost", async () => {
  expect(MAX_GAS_BUDGET).toBe(3_500_000_000n);
  checkBuiltTransaction(await build(add()), kind, OWNER, NEXT_EPOCH);
  checkBuiltTransaction(await build(add(), { budget: MAX_GAS_BUDGET }), kind, OWNER, NEXT_EPOCH);
});

it("refuses another member, vault, function or package, and an input that is read only [N5]", async () => {
  const others = [
    add(EVE),
    toTransaction(vaultCalls.add({ ...vault, objectId: EVE }, ANNA, new Uint8Array(), NO_END, LAST), PACKAGE),
    toTransaction(
      vaultCalls.add({ ...vault, initialSharedVersion: 6n }, ANNA, new Uint8Array(), NO_END, LAST),
      PACKAGE,
    ),
    toTransaction(vaultCalls.add(vault, ANNA, new Uint8Array(32), NO_END, LAST), PACKAGE),
    toTransaction(vaultCalls.add(vault, ANNA, new Uint8Array(), NO_END, "00".repeat(32)), PACKAGE),
    toTransaction(vaultCalls.remove(vault, ANNA), PACKAGE),
    toTransaction(vaultCalls.add(vault, ANNA, new Uint8Array(), NO_END, LAST), EVE),
  ];
  for (const other of others) {
    const bytes = await build(other);
    expect(() => checkBuiltTransaction(bytes, kind, OWNER, NEXT_EPOCH)).toThrow(refusal);
  }
});

it("refuses further commands: nothing else is signed along", async () => {
  const more = add();
  more.transferObjects([more.splitCoins(more.gas, [1000])[0]], EVE);
  const stolen = add();
  stolen.transferObjects([stolen.object(Inputs.ObjectRef(COIN))], EVE);
  for (const other of [more, stolen]) {
    const bytes = await build(other, { coins: [{ ...COIN, objectId: address("cd") }] });
    expect(() => checkBuiltTransaction(bytes, kind, OWNER, NEXT_EPOCH)).toThrow(refusal);
  }
});

it("refuses another sender, another payer, a budget beyond 3.5 SUI, one coin twice", async () => {
  const foreign = add();
  foreign.setSender(EVE);
  for (const bytes of [
    await build(foreign),
    await build(add(), { owner: EVE }),
    await build(add(), { budget: MAX_GAS_BUDGET + 1n }),
    await build(add(), { coins: [COIN, COIN] }),
  ])
    expect(() => checkBuiltTransaction(bytes, kind, OWNER, NEXT_EPOCH)).toThrow(refusal);
});

it("refuses what is valid for longer, earlier or later, on another chain, or for ever [N7]", async () => {
  for (const expiration of [
    ...[during("3", "5"), during("2", "4"), during("4", "4"), during("3", "4", toBase58(new Uint8Array(32)))],
    ...[during("3", "4", COIN.digest, 8), { Epoch: 4 }, { None: true as const }],
  ]) {
    const other = add();
    other.setExpiration(expiration);
    const bytes = await build(other);
    expect(() => checkBuiltTransaction(bytes, kind, OWNER, NEXT_EPOCH)).toThrow(refusal);
  }
});

it("refuses what is no transaction, or has bytes left over, with nothing of it in the message", async () => {
  const bytes = await build(add());
  for (const bad of [new Uint8Array(), bytes.subarray(0, -1), Uint8Array.of(...bytes, 0)])
    expect(() => checkBuiltTransaction(bad, kind, OWNER, NEXT_EPOCH)).toThrow(refusal);
  expect(() => checkBuiltTransaction(bytes, kind, EVE, NEXT_EPOCH)).toThrow(
    /^The transaction that the chain node built names another sender/,
  );
});

it("lets no changed byte through but those of gas", async () => {
  const bytes = await build(add());
  const original = bcs.TransactionData.parse(bytes).V1;
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const bad = bytes.slice();
      bad[at] = bad[at]! ^ change;
      try {
        checkBuiltTransaction(bad, kind, OWNER, NEXT_EPOCH);
      } catch (error) {
        expect(error).toBeInstanceOf(ChainError);
        return;
      }
      const { kind: left, sender, gasData, expiration } = bcs.TransactionData.parse(bad).V1;
      expect([left, sender, expiration]).toEqual([original.kind, original.sender, original.expiration]);
      expect(gasData.owner).toBe(OWNER);
    }),
    { numRuns: process.env["COFFER_TEST_COUNTS"] === "full" ? 5000 : 200 },
  );
});

import { NO_END } from "@coffer/crypto";
import { bcs } from "@mysten/sui/bcs";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { TransactionDataBuilder } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import { verifyTransactionSignature } from "@mysten/sui/verify";
import { expect, it } from "vitest";
import { execute, type Executor } from "./execution.ts";
import { fromSuiSigner } from "./signer.ts";
import { toTransaction, vaultCalls } from "./vault-functions.ts";
import type { VaultObject } from "./vault-object.ts";

const id = (byte: string): string => `0x${byte.repeat(32)}`;
const PACKAGE = id("ab");
const CHAIN = toBase58(new Uint8Array(32).fill(9));
const keypair = new Ed25519Keypair();
const vault = { objectId: id("02"), initialSharedVersion: 5n } as VaultObject;
const add = (member = id("0a")) =>
  toTransaction(vaultCalls.add(vault, member, new Uint8Array(), NO_END, "ef".repeat(32)), PACKAGE);

const coded = (code: string): Error => Object.assign(new Error("said by the node"), { code });
const SUCCESS = { success: true, error: null };
const ABORTED = {
  success: false,
  error: {
    $kind: "MoveAbort",
    message: "",
    MoveAbort: { abortCode: "3", location: { package: PACKAGE, module: "vault" } },
  },
};

/** A node that fills in gas, and does with what it is sent what the test wants. */
function fakeNode() {
  const state = {
    sent: [] as { bytes: Uint8Array; signature: string }[],
    signed: 0,
    epoch: 41n,
    chainId: CHAIN,
    balance: "1000000000",
    status: SUCCESS as object,
    known: false,
    /** What the node does to the transaction before it is signed. */
    tamper: (_data: TransactionDataBuilder): void => undefined,
    /** Throws, or not, for the n-th submission. */
    onSend: (_count: number): void => undefined,
    waits: [] as number[],
  };
  const core = {
    resolveTransactionPlugin: () => async (data: TransactionDataBuilder, _: unknown, next: () => Promise<void>) => {
      data.gasData = {
        owner: data.sender,
        budget: "5000000",
        price: "1000",
        payment: [{ objectId: id("cc"), version: "7", digest: toBase58(new Uint8Array(32).fill(1)) }],
      };
      state.tamper(data);
      await next();
    },
    executeTransaction: async ({ transaction, signatures }: { transaction: Uint8Array; signatures: string[] }) => {
      state.sent.push({ bytes: transaction, signature: signatures[0]! });
      state.onSend(state.sent.length);
      return { $kind: "Transaction", Transaction: executed(transaction) };
    },
    getTransaction: async () => {
      if (!state.known) throw Object.assign(new Error("no"), { reason: "notFound" });
      return { $kind: "Transaction", Transaction: executed(state.sent[0]!.bytes) };
    },
    waitForTransaction: async () => ({}),
    getBalance: async () => ({ balance: { balance: state.balance } }),
  };
  const executed = (bytes: Uint8Array): object => ({
    digest: TransactionDataBuilder.getDigestFromBytes(bytes),
    status: state.status,
    effects: { changedObjects: [] },
  });
  const ledgerService = {
    getServiceInfo: async () => ({
      response: { chainId: state.chainId, epoch: state.epoch, timestamp: { seconds: 1n, nanos: 0 } },
    }),
  };
  const executor: Executor = {
    client: { core, ledgerService } as unknown as SuiGrpcClient,
    network: { originalPackageId: PACKAGE, latestPackageId: PACKAGE, chainId: CHAIN },
    wait: async (milliseconds) => void state.waits.push(milliseconds),
  };
  const own = fromSuiSigner(keypair);
  const signer = {
    ...own,
    signTransaction: (bytes: Uint8Array) => {
      state.signed++;
      return own.signTransaction(bytes);
    },
  };
  return { state, executor, signer };
}

const refusal = (code: string): unknown => expect.objectContaining({ name: "ChainError", code });

it("signs what was asked for, and sends it once", async () => {
  const { state, executor, signer } = fakeNode();
  const { digest } = await execute(executor, signer, add);
  const [{ bytes, signature }] = state.sent as [{ bytes: Uint8Array; signature: string }];
  await verifyTransactionSignature(bytes, signature, { address: keypair.toSuiAddress() });
  const parsed = bcs.TransactionData.parse(bytes).V1;
  expect(parsed.sender).toBe(keypair.toSuiAddress());
  expect(parsed.kind.ProgrammableTransaction?.commands).toHaveLength(1);
  expect([state.sent.length, digest]).toEqual([1, TransactionDataBuilder.getDigestFromBytes(bytes)]);
});

it("signs nothing that a node changed", async () => {
  for (const tamper of [
    (data: TransactionDataBuilder) => void (data.commands[0]!.MoveCall!.function = "remove"),
    (data: TransactionDataBuilder) => void data.commands.push(data.commands[0]!),
    (data: TransactionDataBuilder) => void (data.gasData.budget = "50000000000"),
    (data: TransactionDataBuilder) => void (data.sender = id("0e")),
    (data: TransactionDataBuilder) => void (data.expiration = null),
    (data: TransactionDataBuilder) => void (data.expiration!.ValidDuring!.maxEpoch = "43"),
  ]) {
    const { state, executor, signer } = fakeNode();
    state.tamper = tamper;
    await expect(execute(executor, signer, add)).rejects.toEqual(refusal("transaction_refused"));
    expect([state.signed, state.sent.length]).toEqual([0, 0]);
  }
});

it("signs what is void after the next epoch, on this chain alone, and no two transactions that are the same", async () => {
  const { state, executor, signer } = fakeNode();
  await execute(executor, signer, add);
  await execute(executor, signer, add);
  const [one, other] = state.sent.map(({ bytes }) => bcs.TransactionData.parse(bytes).V1.expiration.ValidDuring!);
  const forOne = { minEpoch: "41", maxEpoch: "42", minTimestamp: null, maxTimestamp: null, chain: CHAIN };
  expect([one, other]).toEqual([expect.objectContaining(forOne), expect.objectContaining(forOne)]);
  expect(one!.nonce).not.toBe(other!.nonce);
  state.chainId = toBase58(new Uint8Array(32).fill(8));
  await expect(execute(executor, signer, add)).rejects.toEqual(refusal("network_changed"));
  expect(state.signed).toBe(2);
});

it("tells the digest before it sends, and sends nothing when that could not be stored", async () => {
  const { state, executor, signer } = fakeNode();
  const told: string[] = [];
  const beforeSend = async (digest: string): Promise<void> => {
    expect(state.sent).toHaveLength(0);
    told.push(digest);
  };
  expect((await execute(executor, signer, add, { beforeSend })).digest).toBe(told[0]);
  const full = async (): Promise<void> => Promise.reject(new Error("disk full"));
  await expect(execute(executor, signer, add, { beforeSend: full })).rejects.toThrow("disk full");
  expect(state.sent).toHaveLength(1);
});

it("sends the same bytes again when an answer is lost", async () => {
  const { state, executor, signer } = fakeNode();
  state.onSend = (count) => {
    if (count < 3) throw coded("UNAVAILABLE");
  };
  await execute(executor, signer, add);
  expect(new Set(state.sent.map(({ bytes }) => Buffer.from(bytes).toString("hex"))).size).toBe(1);
  expect([state.sent.length, state.signed]).toEqual([3, 1]);
});

it("finds what was executed though the answer was lost", async () => {
  const { state, executor, signer } = fakeNode();
  state.onSend = () => {
    state.known = true;
    throw new TypeError("fetch failed");
  };
  await execute(executor, signer, add);
  expect(state.sent).toHaveLength(1);
});

it("builds nothing anew when what it sent before may have been executed: its own coin and object are the cause then", async () => {
  for (const shown of [true, false]) {
    const { state, executor, signer } = fakeNode();
    state.onSend = (count) => {
      if (count === 1) throw coded("UNAVAILABLE");
      // The node shows it late.
      state.known = shown;
      throw coded("INVALID_ARGUMENT");
    };
    const executing = execute(executor, signer, add);
    if (shown) await executing;
    else await expect(executing).rejects.toEqual(refusal("transaction_unknown"));
    expect([state.sent.length, state.signed]).toEqual([2, 1]);
  }
});

it("says that it does not know when nothing is heard", async () => {
  const { state, executor, signer } = fakeNode();
  state.onSend = () => {
    throw coded("DEADLINE_EXCEEDED");
  };
  await expect(execute(executor, signer, add)).rejects.toEqual(refusal("transaction_unknown"));
  expect([state.sent.length, state.signed]).toEqual([3, 1]);
});

it("builds again what a node refused, as another program's coin can be the cause; then gives up", async () => {
  const { state, executor, signer } = fakeNode();
  state.onSend = (count) => {
    if (count === 1) throw coded("INVALID_ARGUMENT");
  };
  await execute(executor, signer, add);
  expect(state.signed).toBe(2);
  state.onSend = () => {
    throw coded("INVALID_ARGUMENT");
  };
  await expect(execute(executor, signer, add)).rejects.toEqual(refusal("transaction_failed"));
  expect(state.signed).toBe(5);
});

it("names the abort of an executed transaction, and does not repeat it", async () => {
  const { state, executor, signer } = fakeNode();
  state.status = ABORTED;
  await expect(execute(executor, signer, add)).rejects.toEqual(refusal("already_member"));
  expect(state.sent).toHaveLength(1);
});

it("tells an address without SUI by its balance, whatever words the node uses", async () => {
  const { state, executor, signer } = fakeNode();
  state.tamper = () => {
    throw new Error("words of a later release");
  };
  await expect(execute(executor, signer, add)).rejects.toEqual(refusal("transaction_failed"));
  state.balance = "0";
  await expect(execute(executor, signer, add)).rejects.toEqual(refusal("no_gas"));
});

it("runs one transaction of an address at a time, also after a failure", async () => {
  const { state, executor, signer } = fakeNode();
  let running = 0;
  const beforeSend = async (): Promise<void> => {
    expect(++running).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    if (state.sent.length === 1) throw new Error("disk full");
  };
  const all = await Promise.allSettled([1, 2, 3, 4].map(() => execute(executor, signer, add, { beforeSend })));
  expect(all.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
});

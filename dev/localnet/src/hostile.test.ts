/** Bytes from outside: whatever comes is answered with a status, and nothing of it stays. */
import { GrpcTypes, SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Localnet, openLocalnet } from "./localnet.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 5000 : 200;
const INTERNAL = 13;
const METHODS = [
  "LedgerService/GetServiceInfo",
  "LedgerService/GetObject",
  "LedgerService/BatchGetObjects",
  "LedgerService/GetTransaction",
  "LedgerService/GetCheckpoint",
  "LedgerService/GetEpoch",
  "StateService/GetBalance",
  "StateService/ListOwnedObjects",
  "MovePackageService/GetPackage",
  "MovePackageService/GetFunction",
  "SignatureVerificationService/VerifySignature",
  "TransactionExecutionService/ExecuteTransaction",
  "TransactionExecutionService/SimulateTransaction",
];

let localnet: Localnet;
let transaction: Uint8Array;
let signature: string;
beforeAll(async () => {
  localnet = await openLocalnet();
  const client = new SuiGrpcClient({ network: "localnet", baseUrl: "http://localnet.invalid", fetch: localnet.fetch });
  const owner = new Ed25519Keypair();
  const tx = new Transaction();
  const target = `${localnet.network().originalPackageId}::vault::create`;
  tx.moveCall({ target, arguments: [tx.pure.vector("u8", []), tx.pure.bool(false)] });
  tx.setSender(owner.toSuiAddress());
  transaction = await tx.build({ client });
  ({ signature } = await owner.signTransaction(transaction));
});
afterAll(() => localnet.close());

/** Status and frames of an answer. */
async function post(method: string, message: Uint8Array, type = "application/grpc-web+proto"): Promise<number> {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  const body = new Uint8Array(Buffer.concat([header, message]));
  const url = `http://localnet.invalid/sui.rpc.v2.${method}`;
  const answer = Buffer.from(
    await (await localnet.fetch(url, { method: "POST", body, headers: { "content-type": type } })).arrayBuffer(),
  );
  const status = /grpc-status:(\d+)/.exec(answer.toString("latin1"))?.[1];
  return Number(status);
}

const bytes = fc.uint8Array({ maxLength: 300 });

it("answers random bytes to every method with a status that blames them", async () => {
  const before = localnet.chain.checkpointTime();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...METHODS), bytes, async (method, message) => {
      expect(await post(method, message)).not.toBe(INTERNAL);
    }),
    { numRuns: RUNS },
  );
  expect(localnet.chain.checkpointTime()).toBeGreaterThanOrEqual(before);
});

it("refuses every mutated transaction, signed or simulated, without executing it", async () => {
  const { ExecuteTransactionRequest, SimulateTransactionRequest } = GrpcTypes;
  const value = new Uint8Array(Buffer.from(signature, "base64"));
  await fc.assert(
    fc.asyncProperty(fc.nat(transaction.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
      const mutated = Uint8Array.from(transaction, (byte, index) => (index === at ? byte ^ change : byte));
      const sent = { transaction: { bcs: { value: mutated } } };
      const execute = ExecuteTransactionRequest.create({ ...sent, signatures: [{ bcs: { value } }] });
      const status = await post(
        "TransactionExecutionService/ExecuteTransaction",
        ExecuteTransactionRequest.toBinary(execute),
      );
      expect([0, INTERNAL]).not.toContain(status);
      const simulated = SimulateTransactionRequest.toBinary(SimulateTransactionRequest.create(sent));
      expect(await post("TransactionExecutionService/SimulateTransaction", simulated)).not.toBe(INTERNAL);
    }),
    { numRuns: RUNS },
  );
});

it("simulates random and mutated bytes as anybody without throwing", () => {
  const sender = `0x${"ab".repeat(32)}`;
  fc.assert(
    fc.property(bytes, (random) => {
      expect(localnet.chain.simulateAs(sender, random, 500_000_000n).outcome).not.toBe("aborted");
    }),
    { numRuns: RUNS },
  );
});

it("refuses frames that are cut, compressed, too long, or of another method", async () => {
  const url = "http://localnet.invalid/sui.rpc.v2.LedgerService/GetServiceInfo";
  const headers = { "content-type": "application/grpc-web+proto" };
  const send = async (body: Uint8Array<ArrayBuffer>) =>
    (await localnet.fetch(url, { method: "POST", body, headers })).text();
  expect(await send(new Uint8Array(4))).toContain("grpc-status:3");
  expect(await send(new Uint8Array([0, 0, 0, 0, 9, 1]))).toContain("grpc-status:3");
  expect(await send(new Uint8Array([1, 0, 0, 0, 0]))).toContain("grpc-status:3");
  expect(await send(new Uint8Array(2 * 1024 * 1024))).toContain("grpc-status:8");
  expect(await post("LedgerService/constructor", new Uint8Array())).toBe(12);
  expect((await localnet.fetch("http://localnet.invalid/")).status).toBe(404);
});

it("reads no more of what the faucet is asked than a request can have", async () => {
  let read = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      read += 4096;
      if (read > 1024 * 1024) controller.close();
      else controller.enqueue(new Uint8Array(4096).fill(0x20));
    },
  });
  const init: RequestInit & { readonly duplex: "half" } = { method: "POST", body: endless, duplex: "half" };
  expect((await localnet.fetch("http://localnet.invalid/v2/gas", init)).status).toBe(400);
  expect(read).toBeLessThan(64 * 1024);
});

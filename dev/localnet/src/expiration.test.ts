/** How long a signed transaction is valid: as full nodes check it (sui-types, `validity_check`). */
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Localnet, openLocalnet } from "./localnet.ts";

const EPOCH = 5;
const signer = new Ed25519Keypair();
let localnet: Localnet;
let client: SuiGrpcClient;

beforeAll(async () => {
  localnet = await openLocalnet();
  client = new SuiGrpcClient({ network: "localnet", baseUrl: "http://localnet.invalid", fetch: localnet.fetch });
  while (localnet.advanceEpoch() < EPOCH);
});
afterAll(() => localnet.close());

const during = (minEpoch: number | null, maxEpoch: number | null, more: object = {}) => ({
  ValidDuring: {
    minEpoch,
    maxEpoch,
    minTimestamp: null,
    maxTimestamp: null,
    chain: localnet.network().chainId,
    nonce: 1,
    ...more,
  },
});

/** Built with the client's own words, and signed: the node's answer is what the expiration alone decides. */
async function send(expiration: Parameters<Transaction["setExpiration"]>[0]) {
  const transaction = new Transaction();
  transaction.moveCall({
    target: `${localnet.network().originalPackageId}::vault::create`,
    arguments: [transaction.pure.vector("u8", []), transaction.pure.bool(false)],
  });
  transaction.setSender(signer.toSuiAddress());
  const built = Transaction.from(await transaction.build({ client }));
  built.setExpiration(expiration ?? null);
  const bytes = await built.build({ client });
  const { signature } = await signer.signTransaction(bytes);
  return client.core.executeTransaction({ transaction: bytes, signatures: [signature] });
}

it("takes what is valid now: for ever, up to an epoch, in this one, in the last and this, in this and the next", async () => {
  const all = [null, { Epoch: EPOCH }, { Epoch: EPOCH + 9 }, during(EPOCH, EPOCH), during(EPOCH - 1, EPOCH)];
  for (const expiration of [...all, during(EPOCH, EPOCH + 1)])
    expect((await send(expiration)).Transaction?.status.success).toBe(true);
});

it("refuses what has expired, what is not valid yet, what is another chain's", async () => {
  await expect(send({ Epoch: EPOCH - 1 })).rejects.toThrow("Transaction Expired");
  await expect(send(during(EPOCH - 2, EPOCH - 1))).rejects.toThrow("Transaction Expired");
  await expect(send(during(EPOCH + 1, EPOCH + 2))).rejects.toThrow("not valid yet");
  const chain = toBase58(new Uint8Array(32).fill(3));
  await expect(send(during(EPOCH, EPOCH, { chain }))).rejects.toThrow("another chain");
});

it("refuses more than two epochs, an end without a beginning, and times, which some networks do not take", async () => {
  for (const window of [during(EPOCH, EPOCH + 2), during(null, EPOCH), during(EPOCH, null), during(EPOCH + 1, EPOCH)])
    await expect(send(window)).rejects.toThrow("one epoch or in two");
  await expect(send(during(EPOCH, EPOCH, { maxTimestamp: 1 }))).rejects.toThrow("by time");
});

it("takes one epoch alone where its protocol is an older one", async () => {
  const newer = localnet;
  localnet = await openLocalnet({ validEpochs: 1 });
  const later = client;
  try {
    client = new SuiGrpcClient({ network: "localnet", baseUrl: "http://localnet.invalid", fetch: localnet.fetch });
    await expect(send(during(0, 1))).rejects.toThrow("min_epoch must equal max_epoch");
    expect((await send(during(0, 0))).Transaction?.status.success).toBe(true);
  } finally {
    await localnet.close();
    [localnet, client] = [newer, later];
  }
});

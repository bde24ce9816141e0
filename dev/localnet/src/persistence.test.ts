import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { type Localnet, openLocalnet } from "./localnet.ts";

const directory = makeDirectory();

const clientOf = (localnet: Localnet) =>
  new SuiGrpcClient({ network: "localnet", baseUrl: "http://localnet.invalid", fetch: localnet.fetch });

function creation(localnet: Pick<Localnet, "network">): Transaction {
  const tx = new Transaction();
  tx.moveCall({
    target: `${localnet.network().originalPackageId}::vault::create`,
    arguments: [tx.pure.vector("u8", []), tx.pure.bool(false)],
  });
  return tx;
}

it("keeps chain id, vaults, versions, digests, transactions and the epoch over a restart", async () => {
  const owner = new Ed25519Keypair();
  const read = async (localnet: Localnet, id: string, digest: string) => {
    const client = clientOf(localnet);
    const { object } = await client.core.getObject({
      objectId: id,
      include: { content: true, previousTransaction: true },
    });
    const transaction = await client.core.getTransaction({ digest, include: { effects: true, events: true } });
    const balance = await client.core.getBalance({ owner: owner.toSuiAddress() });
    return { object, transaction, balance, network: localnet.network() };
  };
  const first = await openLocalnet({ directory });
  const made = await clientOf(first).signAndExecuteTransaction({
    transaction: creation(first),
    signer: owner,
    include: { effects: true, objectTypes: true },
  });
  const { digest, objectTypes } = made.Transaction!;
  const id = Object.keys(objectTypes).find((key) => objectTypes[key]!.endsWith("::Vault"))!;
  expect(first.advanceEpoch()).toBe(1);
  const before = await read(first, id, digest);
  await expect(openLocalnet({ directory })).rejects.toThrow(/another process/);
  await first.close();

  await using second = await openLocalnet({ directory });
  expect(await read(second, id, digest)).toEqual(before);
  expect(second.advanceEpoch()).toBe(2);
  const again = await clientOf(second).signAndExecuteTransaction({ transaction: creation(second), signer: owner });
  expect(again.$kind).toBe("Transaction");
});

it("has every transaction that was acknowledged after kill -9", async () => {
  const killed = join(directory, "killed");
  const program = join(import.meta.dirname, "main.ts");
  const child = fork(program, ["--directory", killed], { execArgv: ["--conditions=coffer-source"], stdio: "pipe" });
  const network = JSON.parse(await firstLine(child.stdout!)) as ReturnType<Localnet["network"]>;
  const client = new SuiGrpcClient({ network: "localnet", baseUrl: network.grpcUrl });
  const acknowledged: string[] = [];
  const owner = new Ed25519Keypair();
  const work = (async () => {
    for (;;) {
      const made = await client.signAndExecuteTransaction({
        transaction: creation({ network: () => network }),
        signer: owner,
      });
      acknowledged.push(made.Transaction!.digest);
      if (acknowledged.length === 5) child.kill("SIGKILL");
    }
  })();
  await expect(work).rejects.toThrow();
  if (child.signalCode === null) await once(child, "exit");

  await using localnet = await openLocalnet({ directory: killed });
  expect(localnet.network().chainId).toBe(network.chainId);
  for (const digest of acknowledged) {
    expect((await clientOf(localnet).core.getTransaction({ digest })).$kind).toBe("Transaction");
  }
  const more = await clientOf(localnet).signAndExecuteTransaction({ transaction: creation(localnet), signer: owner });
  expect(more.$kind).toBe("Transaction");
});

it("takes money only from those who have it when nobody is funded", async () => {
  await using localnet = await openLocalnet({ autoFund: false });
  const owner = new Ed25519Keypair();
  const act = () => clientOf(localnet).signAndExecuteTransaction({ transaction: creation(localnet), signer: owner });
  await expect(act()).rejects.toThrow(/insufficient SUI balance/);
  await localnet.faucet(owner.toSuiAddress());
  expect((await act()).$kind).toBe("Transaction");
});

it("misbehaves when it is told to: down, and late", async () => {
  await using localnet = await openLocalnet();
  const client = clientOf(localnet);
  const owner = new Ed25519Keypair();
  const { node } = localnet.faults;
  node.stale = true;
  const late = await client.ledgerService.getServiceInfo({});
  const snapshot = localnet.chain.snapshot();
  await localnet.faucet(owner.toSuiAddress());
  const balance = async () => (await client.core.getBalance({ owner: owner.toSuiAddress() })).balance.balance;
  expect(await balance()).toBe("0");
  expect((await client.ledgerService.getServiceInfo({})).response).toEqual(late.response);
  expect(snapshot.checkpointTime()).toBeLessThanOrEqual(localnet.chain.checkpointTime());
  node.stale = false;
  expect(await balance()).toBe("10000000000");
  node.slow = 60_000;
  const patience = new AbortController();
  const givenUp = client.core.getBalance({ owner: owner.toSuiAddress(), signal: patience.signal });
  setImmediate(() => patience.abort());
  await expect(givenUp).rejects.toThrow(/abort/i);
  node.slow = 1;
  expect(await balance()).toBe("10000000000");
  node.down = true;
  await expect(balance()).rejects.toThrow(/fetch failed/);
  node.down = false;
  expect(await balance()).toBe("10000000000");
});

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const part of stream) {
    text += String(part);
    if (text.includes("\n")) return text.slice(0, text.indexOf("\n"));
  }
  throw new Error("the program said nothing");
}

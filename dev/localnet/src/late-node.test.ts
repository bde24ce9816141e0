import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { expect, it } from "vitest";
import { openLocalnet } from "./localnet.ts";

it("another node sees everything as much later as it is told to, and says so", async () => {
  let now = Date.UTC(2030, 0, 1);
  await using localnet = await openLocalnet({ clock: () => now, autoFund: false });
  const late = await localnet.openNode({ lag: 2_000 });
  const client = new SuiGrpcClient({ network: "custom", baseUrl: late.url });
  const owner = new Ed25519Keypair().toSuiAddress();
  const balance = async () => Number((await client.core.getBalance({ owner })).balance.balance);
  const info = async () => (await client.ledgerService.getServiceInfo({})).response;

  await localnet.faucet(owner, 7n);
  now += 1_000;
  await localnet.faucet(owner, 4n);
  expect(await balance()).toBe(0);
  expect(await info()).toMatchObject({ chainId: localnet.network().chainId });
  expect(Number((await info()).timestamp?.seconds) * 1000).toBe(now - 2_000);
  now += 1_000;
  expect(await balance()).toBe(7);
  now += 1_000;
  expect(await balance()).toBe(11);
  await localnet.faucet(owner, 1n);
  expect(await balance()).toBe(11);
  late.lag = 0;
  expect(await balance()).toBe(12);
  late.lag = 60_001;
  await expect(balance()).rejects.toThrow();
});

/** The journey that an operator runs on a public network, here on the local one, with few generations and members. */
import { parseNetworkConfiguration } from "@coffer/chain";
import { openLocalnet } from "@coffer/localnet";
import { generateChainKey } from "@coffer/sdk";
import { expect, it } from "vitest";
import { runChainJourney } from "../acceptance/journeys/chain.ts";

it("goes through a shared vault's life on the configured network and says what each act costs", async () => {
  await using localnet = await openLocalnet();
  await localnet.listen();
  const network = parseNetworkConfiguration(localnet.network());
  const privateKey = (await generateChainKey()).privateKey.reveal();
  const rows: string[] = [];
  const print = (row: string): void => void rows.push(row);
  const acts = await runChainJourney({ network, privateKey, generations: [1, 3], members: [2], print });
  const transactions = Object.fromEntries(acts.map(({ name, gas }) => [name, gas.transactions]));
  expect(transactions).toMatchObject({ create: 1, add: 1, write: 0, remove: 1, rotate: 2, export: 0 });
  expect(transactions["write and raise the generation (3 generations, 2 members)"]).toBe(4);
  for (const { gas } of acts) expect(gas.computation > 0n).toBe(gas.transactions > 0);
  expect(rows).toHaveLength(acts.length);
  expect(rows[0]).toMatch(/^ok +create .* 1 transactions, computation 0\.00\d{4} SUI, storage 0\.00\d{4} SUI$/);
});

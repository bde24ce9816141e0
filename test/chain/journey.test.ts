/** The journey that an operator runs on a public network, here on the local one, with few generations and members. */
import { parseNetworkConfiguration } from "@coffer/chain";
import { openLocalnet } from "@coffer/localnet";
import { generateChainKey } from "@coffer/sdk";
import { expect, it } from "vitest";
import { runChainJourney } from "../journeys/programs/chain.ts";

it("goes through a shared vault's life on the configured network and says what each act costs", async () => {
  let ahead = 0;
  const clock = (): number => Date.now() + ahead;
  // One epoch: the warning is part of what is printed.
  await using localnet = await openLocalnet({ clock, validEpochs: 1 });
  await localnet.listen();
  const network = parseNetworkConfiguration(localnet.network());
  const privateKey = (await generateChainKey()).privateKey.reveal();
  const rows: string[] = [];
  const print = (row: string): void => void rows.push(row);
  const waitUntil = async (time: number): Promise<void> => void (ahead = time - Date.now());
  const journey = { network, privateKey, generations: [1, 3], members: [2] };
  const acts = await runChainJourney({ ...journey, print, clock, waitUntil });
  const transactions = Object.fromEntries(acts.map(({ name, gas }) => [name, gas.transactions]));
  expect(transactions).toMatchObject({ create: 1, add: 1, write: 0, remove: 1, rotate: 2, export: 0 });
  expect(transactions).toMatchObject({ "add a member with an end": 1, "set a later end": 1, "set an earlier end": 1 });
  expect(transactions).toMatchObject({ renew: 1, "renew, and mark who has ended": 1, sweep: 1 });
  expect(transactions["write and raise the generation (3 generations, 2 members)"]).toBe(4);
  for (const { gas } of acts) expect(gas.computation > 0n).toBe(gas.transactions > 0);
  const sent = acts.reduce((sum, { gas }) => sum + gas.transactions, 0);
  expect(rows.filter((row) => row.startsWith("ok "))).toHaveLength(acts.length);
  expect(rows.at(-1)).toMatch(/^warning {2}valid_one_epoch: \d+ transactions/);
  // Creations of the vaults that grow are no acts that are measured.
  expect(Number(/\d+/.exec(rows.at(-1) ?? "")?.[0])).toBeGreaterThanOrEqual(sent);
  expect(rows[0]).toMatch(/^ok +create .* 1 transactions, computation 0\.00\d{4} SUI, storage 0\.00\d{4} SUI$/);
});

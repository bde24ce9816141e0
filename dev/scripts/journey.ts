/**
 * `npm run journey -- J9 [J12 …]` or `-- all`: runs journeys against fresh stacks and prints one line per observable
 * (ok, FAIL or pending, with the reason). Exits 1 when one fails, 2 when a name is unknown.
 *
 * `npm run journey -- chain --network FILE [--generations 1,20,50] [--members 1,100]`: a shared vault's life on the network of that
 * configuration, with the gas of each act. It waits for the end of a membership, which is at most 16 minutes away. SERVICE_CHAIN_PRIVATE_KEY holds the `suiprivkey1…` text of the address that pays; a local network
 * gives a new one what it needs.
 */
import { parseArgs } from "node:util";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parseNetworkConfiguration } from "@coffer/chain";
import { generateChainKey } from "@coffer/sdk";
import { runChainJourney } from "../../test/journeys/programs/chain.ts";
import { JOURNEYS } from "../../test/journeys/programs/catalogue.ts";
import type { Journey } from "../../test/journeys/programs/observable.ts";
import { networkOpeners, stackOpeners } from "../../test/journeys/programs/programs.ts";
import { isBuilt, renderOutcome, runJourney, type Outcome } from "../../test/journeys/programs/run.ts";
import { openSharedService, type SharedService } from "../../test/journeys/kit/shared-service.ts";

const [first, ...rest] = process.argv.slice(2);
if (first?.toLowerCase() === "chain") await runOnChain(rest);
else await runByName(process.argv.slice(2).map((name) => name.toUpperCase()));

async function runByName(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => name !== "ALL" && !JOURNEYS.some((journey) => journey.name === name));
  if (names.length === 0 || unknown.length > 0) {
    console.error(`${unknown.map((name) => `Unknown journey ${name}. `).join("")}Name one or more of these, or all:`);
    console.error(JOURNEYS.map(({ name, title }) => `  ${name.padEnd(5)} ${title}`).join("\n"));
    console.error("  chain The life of a shared vault on a configured network, with its gas (--network FILE)");
    process.exitCode = 2;
    return;
  }
  const chosen = JOURNEYS.filter(({ name }) => names.includes("ALL") || names.includes(name));
  const outcomes: Outcome[] = [];
  const service = chosen.some(needsNetwork) ? await openSharedService() : null;
  for (const journey of chosen) outcomes.push(...(await runAndPrint(journey, service)));
  await service?.[Symbol.asyncDispose]();
  printSum(outcomes);
}

async function runOnChain(args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args, options: { network: text, generations: text, members: text } });
  const { network: file, generations = "1,20,50", members = "1,100" } = values;
  const counts = [generations, members].map((list) => list.split(",").map(Number));
  if (file === undefined || counts.flat().some((count) => !Number.isInteger(count) || count < 1)) {
    console.error(
      "Name the network's configuration: --network FILE; --generations and --members take numbers like 1,20,50",
    );
    process.exitCode = 2;
    return;
  }
  const network = parseNetworkConfiguration(JSON.parse(readFileSync(file, "utf8")));
  const given = process.env["SERVICE_CHAIN_PRIVATE_KEY"];
  if (given === undefined && network.network !== "localnet") {
    console.error("Set SERVICE_CHAIN_PRIVATE_KEY to the suiprivkey1… text of the address that pays");
    process.exitCode = 2;
    return;
  }
  const privateKey = given ?? (await generateChainKey()).privateKey.reveal();
  const [ofGenerations = [], ofMembers = []] = counts;
  try {
    const print = (row: string): void => console.log(row);
    const clock = Date.now;
    // The chain's time may be some seconds behind.
    const waitUntil = (time: number): Promise<void> => pause(Math.max(0, time + 20_000 - clock()));
    const journey = { network, privateKey, generations: ofGenerations, members: ofMembers };
    await runChainJourney({ ...journey, print, clock, waitUntil });
  } catch (error) {
    console.error(`FAIL  ${error instanceof Error ? error.message : "the journey broke off"}`);
    process.exitCode = 1;
  }
}

function needsNetwork({ observables }: Journey): boolean {
  return observables.some((observable) => isBuilt(observable, "network"));
}

async function runAndPrint(journey: Journey, service: SharedService | null): Promise<Outcome[]> {
  console.log(`\n${journey.name}: ${journey.title}`);
  const network = service === null ? {} : networkOpeners(service, journey.name);
  return runJourney(journey, { ...stackOpeners(journey.name), ...network }, (outcome) => {
    console.log(`  ${renderOutcome(outcome)}`);
  });
}

function printSum(outcomes: readonly Outcome[]): void {
  const count = (kind: Outcome["kind"]): number => outcomes.filter((outcome) => outcome.kind === kind).length;
  console.log(`\n${count("ok")} ok, ${count("failed")} failed, ${count("pending")} pending`);
  if (count("failed") > 0) process.exitCode = 1;
}

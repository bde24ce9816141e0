/**
 * `npm run journey -- J9 [J12 …]` or `-- all`: runs journeys against fresh stacks and prints one line per observable
 * (ok, FAIL or pending, with the reason). Exits 1 when one fails, 2 when a name is unknown.
 */
import { JOURNEYS } from "../test/acceptance/journeys/catalogue.ts";
import type { Journey } from "../test/acceptance/journeys/observable.ts";
import { networkOpeners, stackOpeners } from "../test/acceptance/journeys/programs.ts";
import { isBuilt, renderOutcome, runJourney, type Outcome } from "../test/acceptance/journeys/run.ts";
import { openSharedService, type SharedService } from "../test/acceptance/kit/shared-service.ts";

const names = process.argv.slice(2).map((name) => name.toUpperCase());
const unknown = names.filter((name) => name !== "ALL" && !JOURNEYS.some((journey) => journey.name === name));

if (names.length === 0 || unknown.length > 0) {
  console.error(`${unknown.map((name) => `Unknown journey ${name}. `).join("")}Name one or more of these, or all:`);
  console.error(JOURNEYS.map(({ name, title }) => `  ${name.padEnd(3)} ${title}`).join("\n"));
  process.exitCode = 2;
} else {
  const chosen = JOURNEYS.filter(({ name }) => names.includes("ALL") || names.includes(name));
  const outcomes: Outcome[] = [];
  const service = chosen.some(needsNetwork) ? await openSharedService() : null;
  for (const journey of chosen) outcomes.push(...(await runAndPrint(journey, service)));
  await service?.[Symbol.asyncDispose]();
  printSum(outcomes);
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

/**
 * `npm run kill-test [-- --kills N] [--webhook-kills N] [--seed S] [--processes N]`; 0 leaves a part out. With several processes on one data
 * directory the kills fall on one of them at a time while the others serve, and a model of 50 accounts says what must be so.
 */
import { parseArgs } from "node:util";
import { openFleet } from "./accounts/fleet.ts";
import { inspectAll, runSchedule } from "./accounts/schedules.ts";
import { runKills } from "./run.ts";
import { runWebhookKills } from "./webhooks.ts";

const RECOVERY_LIMIT_MS = 500;
const EVENTS_PER_KILL = 20;
/** For all kills of several processes. */
const LONGEST_MS = 30 * 60_000;
const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "60" },
    "webhook-kills": { type: "string", default: "50" },
    seed: { type: "string" },
    processes: { type: "string", default: "1" },
  },
});
const kills = Number(values.kills);
const webhookKills = Number(values["webhook-kills"]);
const processes = Number(values.processes);
const seed = values.seed === undefined ? (Date.now() ^ process.pid) >>> 0 : Number(values.seed);
if (
  ![kills, webhookKills, processes].every((count) => Number.isSafeInteger(count) && count >= 0) ||
  !Number.isSafeInteger(seed)
) {
  console.error("usage: npm run kill-test [-- --kills N] [--webhook-kills N] [--seed S] [--processes N]");
  process.exit(2);
}
console.log(`kill-test: ${String(kills)} + ${String(webhookKills)} kills, seed ${String(seed)}`);
const stored = kills === 0 || (await (processes > 1 ? testProcesses() : testUploads()));
const delivered = webhookKills === 0 || (await testWebhooks());
process.exitCode = stored && delivered ? 0 : 1;

async function testUploads(): Promise<boolean> {
  const { files, ledger, recoveryMs } = await runKills({ kills, seed, files: 1000, say: console.log });
  const { cut, replayed, resumed, sent } = ledger.counts;
  for (const finding of ledger.findings) console.log(`FINDING ${finding}`);
  console.log(
    `${String(sent)} requests, ${String(cut)} cut off, ${String(resumed)} uploads resumed, ${String(replayed)} answers replayed`,
  );
  console.log(
    `${String(ledger.files.length)} files acknowledged and verified, ${String(ledger.findings.length)} findings`,
  );
  const fast = recoveryMs < RECOVERY_LIMIT_MS;
  console.log(
    `${fast ? "PASS" : "MISS"} recovery with ${String(files)} files: ${recoveryMs.toFixed(0)} ms (limit ${String(RECOVERY_LIMIT_MS)} ms)`,
  );
  return fast && ledger.findings.length === 0;
}

async function testProcesses(): Promise<boolean> {
  await using fleet = await openFleet(processes);
  const schedule = { seed, milliseconds: LONGEST_MS, kills, accounts: 50, patience: 90_000 };
  const { counts, findings } = await runSchedule(fleet, schedule);
  const all = [...findings, ...(await inspectAll(fleet))];
  for (const finding of all) console.log(`FINDING ${finding}`);
  console.log(
    `${String(processes)} processes, ${String(fleet.kills)} kills: ${String(counts.acknowledged)} changes acknowledged, ${String(counts.cut)} requests cut off, of which ${String(counts.happened)} had happened; ${String(counts.resumed)} resumable uploads, ${String(counts.replayed)} repeats under the same key; ${String(all.length)} findings`,
  );
  return all.length === 0 && fleet.kills >= kills;
}

async function testWebhooks(): Promise<boolean> {
  const events = webhookKills * EVENTS_PER_KILL;
  const report = await runWebhookKills({ kills: webhookKills, events, seed, say: console.log });
  for (const finding of report.findings) console.log(`FINDING ${finding}`);
  console.log(
    `${String(report.events)} events, ${String(report.received)} requests received, ${String(report.duplicates)} of them twice; ${String(report.inFlight)} attempts were in flight when a kill came; at most ${String(report.mostAttempts)} attempts for one delivery`,
  );
  return report.findings.length === 0;
}

/** `npm run kill-test [-- --kills N] [--webhook-kills N] [--seed S]`; 0 leaves a part out. */
import { parseArgs } from "node:util";
import { runKills } from "./run.ts";
import { runWebhookKills } from "./webhooks.ts";

const RECOVERY_LIMIT_MS = 500;
const EVENTS_PER_KILL = 20;
const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "60" },
    "webhook-kills": { type: "string", default: "50" },
    seed: { type: "string" },
  },
});
const kills = Number(values.kills);
const webhookKills = Number(values["webhook-kills"]);
const seed = values.seed === undefined ? (Date.now() ^ process.pid) >>> 0 : Number(values.seed);
if (![kills, webhookKills].every((count) => Number.isSafeInteger(count) && count >= 0) || !Number.isSafeInteger(seed)) {
  console.error("usage: npm run kill-test [-- --kills N] [--webhook-kills N] [--seed S]");
  process.exit(2);
}
console.log(`kill-test: ${String(kills)} + ${String(webhookKills)} kills, seed ${String(seed)}`);
const stored = kills === 0 || (await testUploads());
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

async function testWebhooks(): Promise<boolean> {
  const events = webhookKills * EVENTS_PER_KILL;
  const report = await runWebhookKills({ kills: webhookKills, events, seed, say: console.log });
  for (const finding of report.findings) console.log(`FINDING ${finding}`);
  console.log(
    `${String(report.events)} events, ${String(report.received)} requests received, ${String(report.duplicates)} of them twice; ${String(report.inFlight)} attempts were in flight when a kill came; at most ${String(report.mostAttempts)} attempts for one delivery`,
  );
  return report.findings.length === 0;
}

/** `npm run kill-test [-- --kills N] [--seed S]` */
import { parseArgs } from "node:util";
import { runKills } from "./run.ts";

const RECOVERY_LIMIT_MS = 500;
const { values } = parseArgs({ options: { kills: { type: "string", default: "60" }, seed: { type: "string" } } });
const kills = Number(values.kills);
const seed = values.seed === undefined ? (Date.now() ^ process.pid) >>> 0 : Number(values.seed);
if (!Number.isSafeInteger(kills) || kills < 1 || !Number.isSafeInteger(seed)) {
  console.error("usage: npm run kill-test [-- --kills N] [--seed S]");
  process.exit(2);
}
console.log(`kill-test: ${String(kills)} kills, seed ${String(seed)}`);
const { files, ledger, recoveryMs } = await runKills({ kills, seed, files: 1000, say: console.log });
const { cut, replayed, resumed, rotated, sent } = ledger.counts;
for (const finding of ledger.findings) console.log(`FINDING ${finding}`);
console.log(
  `${String(sent)} requests, ${String(cut)} cut off, ${String(resumed)} uploads resumed, ${String(replayed)} answers replayed`,
);
const revoked = ledger.redeemed.filter((one) => one.revoked).length;
console.log(
  `${String(ledger.redeemed.length)} invites redeemed, ${String(revoked)} of their keys revoked, ${String(rotated)} refresh tokens rotated`,
);
console.log(
  `${String(ledger.files.length)} files acknowledged and verified, ${String(ledger.findings.length)} findings`,
);
const fast = recoveryMs < RECOVERY_LIMIT_MS;
console.log(
  `${fast ? "PASS" : "MISS"} recovery with ${String(files)} files: ${recoveryMs.toFixed(0)} ms (limit ${String(RECOVERY_LIMIT_MS)} ms)`,
);
process.exitCode = fast && ledger.findings.length === 0 ? 0 : 1;

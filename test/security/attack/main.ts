/**
 * `npm run attack [-- <url>]`: without an address it starts a server of its own. With one: a development server on this machine whose
 * data nobody needs.
 */
import { openOwnServer } from "./own-server.ts";
import { runAttack } from "./run.ts";
import type { Target } from "./target.ts";

const url = process.argv[2];
if (process.argv.length > 3 || (url !== undefined && !URL.canParse(url))) {
  console.error("usage: npm run attack [-- <url>]");
  process.exit(2);
}
if (url === undefined) {
  await using own = await openOwnServer();
  await attack(own);
} else await attack({ baseUrl: url.replace(/\/+$/, "") });

async function attack(target: Target): Promise<void> {
  const seed = (Date.now() ^ process.pid) >>> 0;
  for await (const { name, checks, findings, notes } of runAttack(target, seed)) {
    console.log(
      `${findings.length === 0 ? "ok    " : "FAILED"} ${name}: ${String(checks)} checks ${notes.map((note) => `(${note})`).join(" ")}`,
    );
    for (const finding of findings) console.log(`FINDING ${finding}`);
    if (findings.length > 0) process.exitCode = 1;
  }
}

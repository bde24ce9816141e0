/** `npm run bench [-- NAME…] [--json] [--base REV]`: benchmarks with their peers, in turns in one run; ratios survive a busy machine. */
import { parseArgs } from "node:util";
import { cliFarChain } from "./cli-far-chain.ts";
import { cliMemory } from "./cli-memory.ts";
import { cliStart } from "./cli-start.ts";
import { cliFile, cliFolder, cliList } from "./cli-transfers.ts";
import { commits } from "./commits.ts";
import { cryptoAge, cryptoAgeEncryption, cryptoCodec, cryptoMemory } from "./crypto.ts";
import { download } from "./download.ts";
import { folderSync, folderUpload } from "./folder-upload.ts";
import { listing } from "./listing.ts";
import { listingPostgres } from "./listing-postgres.ts";
import { localSearch } from "./local-search.ts";
import { mcpCalls, mcpStart } from "./mcp.ts";
import { memory } from "./memory.ts";
import { metadata } from "./metadata.ts";
import { renderOutcome, type Benchmark, type Outcome } from "./outcome.ts";
import { postgres } from "./postgres.ts";
import { processes } from "./processes.ts";
import { s3 } from "./s3.ts";
import { sdkCall } from "./sdk-call.ts";
import { sdkUpload } from "./sdk-upload.ts";
import { search } from "./search.ts";
import { sharedMemory } from "./shared-memory.ts";
import { sharedOpen } from "./shared-open.ts";
import { sharedSecondFile } from "./shared-second-file.ts";
import { sharedSmallFiles } from "./shared-small-files.ts";
import { forgotPasswordTiming, loginTiming } from "./sign-in.ts";
import { upload } from "./upload.ts";
import { webhookDeadEndpoint, webhookDeliveries, webhookEnqueue, webhookProcessor } from "./webhooks.ts";
import { webhooksPostgres } from "./webhooks-postgres.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, base: { type: "string" } },
});

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  metadata,
  download,
  upload,
  memory,
  postgres,
  processes,
  s3,
  listing,
  "listing-postgres": listingPostgres,
  search,
  "local-search": localSearch,
  "sdk-call": sdkCall,
  "sdk-upload": sdkUpload,
  "login-timing": loginTiming,
  "forgot-password-timing": forgotPasswordTiming,
  "webhook-deliveries": webhookDeliveries,
  "webhook-processor": webhookProcessor,
  "webhook-enqueue": webhookEnqueue,
  "webhook-dead-endpoint": webhookDeadEndpoint,
  "webhooks-postgres": webhooksPostgres,
  "crypto-codec": cryptoCodec,
  "crypto-age": cryptoAge,
  "crypto-age-encryption": cryptoAgeEncryption,
  "crypto-memory": cryptoMemory,
  "shared-small-files": sharedSmallFiles,
  "shared-second-file": sharedSecondFile,
  "folder-upload": folderUpload,
  "folder-sync": folderSync,
  "shared-open": sharedOpen,
  "shared-memory": sharedMemory,
  "mcp-start": mcpStart,
  "mcp-calls": mcpCalls,
  "cli-start": cliStart,
  "cli-list": cliList,
  "cli-folder": cliFolder,
  "cli-file": cliFile,
  "cli-far-chain": cliFarChain,
  "cli-memory": cliMemory,
  commits: () => commits(values.base),
};

const unknown = positionals.filter((name) => !(name in BENCHMARKS));
if (unknown.length > 0 || process.platform !== "linux") {
  const reason =
    unknown.length > 0
      ? `unknown benchmark ${unknown.join(", ")}; there are: ${Object.keys(BENCHMARKS).join(", ")}`
      : "the benchmarks read /proc: they need Linux";
  console.error(reason);
  process.exit(2);
}
const outcomes: Outcome[] = [];
for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const outcome = await benchmark();
  outcomes.push(outcome);
  if (!values.json) console.log(renderOutcome(outcome));
}
if (values.json) console.log(JSON.stringify(outcomes, null, 2));
process.exitCode = outcomes.every((outcome) => outcome.kind === "not measured" || outcome.pass) ? 0 : 1;

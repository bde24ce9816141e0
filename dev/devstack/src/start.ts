/** `npm start`: the stack, the demonstration on new data, then up until a signal. */
import { realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ApiError, createClient, type Client } from "@coffer/sdk";
import { openUsersAgent } from "./agent.ts";
import { writeEnvironmentFile } from "./environment-file.ts";
import { failureSentence } from "./failure-sentence.ts";
import { StartError } from "./start-error.ts";
import { runMainJob, type JobReport } from "./main-job.ts";
import { addressOfData, movedLines } from "./former-address.ts";
import { portUser } from "./port-user.ts";
import { HELP, limitsIn, parseStart, type StartOptions } from "./options.ts";
import { renderDocument, renderTable, shown, type Demonstration, type StartReport } from "./report.ts";
import { startStack, type Stack } from "./stack.ts";
import { Arrivals, type ArrivalReport } from "./webhook-sink/arrivals.ts";
import { registerSink, type Registration } from "./webhook-sink/registration.ts";
import { startWebhookSink, type WebhookSink } from "./webhook-sink/sink.ts";

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
/** npm says where the user stood. */
const PLACES = { repository: REPOSITORY, workingDirectory: process.env["INIT_CWD"] ?? process.cwd() };
const DEFAULT_PORT = 8787;
const PORTS_TO_TRY = 50;
/** 128 + SIGINT: what shells expect of an interrupted program. */
const EXIT_INTERRUPTED = 130;
const EXIT_USAGE = 2;

const stop = new AbortController();

await main();

async function main(): Promise<void> {
  const parsed = parseStart(process.argv.slice(2), { ...PLACES, environment: process.env });
  if (parsed.kind === "help") {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  if (parsed.kind === "refuse") {
    fail(`${parsed.sentence}. See npm start -- --help`, EXIT_USAGE);
    return;
  }
  stopOnSignals();
  try {
    process.exitCode = await run(parsed.options);
  } catch (error) {
    if (stop.signal.aborted) fail("stopped before it was ready", EXIT_INTERRUPTED);
    else fail(failureSentence(error, parsed.options.dataDirectory), 1);
  }
}

async function run(options: StartOptions): Promise<number> {
  const folder = await openFolder(options.folder);
  say(
    options.scale
      ? "starting PostgreSQL, an S3 store and two server processes behind a proxy; nothing is kept afterwards"
      : `starting the service on ${shown(options.dataDirectory)}`,
  );
  await using stack = await startOnPort(options);
  say(
    `service ready at ${stack.baseUrl}; ${stack.newAccount ? "signed up an account" : "using the account of an earlier run"}`,
  );
  say(
    `local chain and key servers ready in ${stack.networkSeconds.toFixed(1)} s; their configuration is ${shown(stack.networkFile)}`,
  );
  const origins = process.env["SERVICE_CORS_ORIGINS"]?.trim() ?? "";
  say(
    origins === ""
      ? "pages of other origins cannot call it: SERVICE_CORS_ORIGINS=http://localhost:5173 npm start names one"
      : `pages of ${shown(origins)} may call it (SERVICE_CORS_ORIGINS)`,
  );
  await using sink = await startWebhookSink();
  await using endpoint = await openEndpoint(stack, sink);
  say(`webhook deliveries are shown at ${sink.pageUrl}`);
  const { hookUrl, pageUrl } = sink;
  const shownAt = { pageUrl, hookUrl, webhookId: endpoint.webhookId };
  const demonstration =
    stack.newAccount || options.demo || options.once ? await demonstrate(stack, folder, sink) : null;
  const agent = await openUsersAgent(stack, ownerOf(stack));
  const { credentialsFile: agentFile, vaultId } = agent;
  using environment = await writeEnvironmentFile({ ...stack, agentFile, vaultId, hookUrl });
  const environmentFile = environment.path;
  const report: StartReport = { stack, folder, agent, demonstration, shownAt, environmentFile };
  process.stdout.write(options.json ? renderDocument(report) : renderTable(report, PLACES, !options.once));
  if (demonstration !== null) {
    say(verdict(demonstration.job));
    say(deliveryVerdict(demonstration.arrived));
  }
  if (!options.once) await untilStopped();
  return options.once && demonstration?.ok !== true ? 1 : 0;
}

async function demonstrate(stack: Stack, folder: string, sink: WebhookSink): Promise<Demonstration> {
  using arrivals = new Arrivals(sink.deliveries);
  const { report: job, stored } = await runMainJob({ stack, folder, signal: stop.signal, say });
  const arrived = await arrivals.of(stored, stop.signal);
  return { job, arrived, ok: job.ok && arrived.ok };
}

function ownerOf({ baseUrl, apiKey, sharedVaults }: Stack): Client {
  return createClient({ baseUrl, credentials: { apiKey }, sharedVaults });
}

async function openEndpoint({ baseUrl, apiKey }: Stack, sink: WebhookSink): Promise<Registration> {
  try {
    return await registerSink(createClient({ baseUrl, credentials: { apiKey } }), sink);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new StartError(`The service takes no webhook for its deliveries to be shown: ${error.message}`, {
      cause: error,
    });
  }
}

async function openFolder(given: string): Promise<string> {
  try {
    const folder = await realpath(given);
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    throw new StartError(`The folder ${shown(given)} cannot be opened`, { cause: error });
  }
  throw new StartError(`${shown(given)} is not a folder`);
}

/** A port that was asked for, or that profiles know from an earlier start, is used or refused. The first one on new data gives way. */
async function startOnPort({ port, dataDirectory, scale }: StartOptions): Promise<Stack> {
  const formerAddress = scale ? null : await addressOfData(dataDirectory);
  const formerPort = formerAddress === null ? null : Number(new URL(formerAddress).port);
  const fixedPort = port ?? formerPort;
  for (let candidate = fixedPort ?? DEFAULT_PORT; ; candidate += 1) {
    try {
      const shape = scale ? { isScaled: true } : { dataDirectory };
      const stack = await startStack({ ...shape, port: candidate, environment: limitsIn(process.env) });
      if (formerAddress !== null) for (const line of await movedLines(formerAddress, stack.baseUrl)) say(line);
      return stack;
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "EADDRINUSE") throw error;
      if (fixedPort !== null) throw new StartError(await takenSentence(fixedPort, port === null), { cause: error });
      if (candidate >= DEFAULT_PORT + PORTS_TO_TRY)
        throw new StartError(`Ports ${String(DEFAULT_PORT)} to ${String(candidate)} are in use`, { cause: error });
      say(`port ${String(candidate)} is in use, trying the next`);
    }
  }
}

async function takenSentence(port: number, isKept: boolean): Promise<string> {
  const user = await portUser(port);
  const taken = `Port ${String(port)} is in use${user === null ? "" : ` by ${shown(user)}`}`;
  if (!isKept) return `${taken}. Stop that program, or choose another port with --port`;
  return `${taken}. These data were served there before, and profiles name that address. Stop that program, or move the service with --port`;
}

function verdict(job: JobReport): string {
  const left = job.skipped.length === 0 ? "" : `, ${String(job.skipped.length)} left out`;
  if (job.ok) return `all ${String(job.files)} files came back byte for byte${left}`;
  if (job.failed.length > 0) return `NOT everything came back: ${String(job.failed.length)} failed${left}`;
  const broken = job.steps.find(({ ok }) => !ok);
  return `NOT as it should be: ${broken === undefined ? `nothing was stored${left}` : shown(broken.said)}`;
}

function deliveryVerdict({ ok, expected, arrived, failed }: ArrivalReport): string {
  if (ok) return `each of ${String(expected)} uploads was delivered to the webhook and verified`;
  return `NOT every upload was delivered: ${String(arrived)} of ${String(expected)}, and ${String(failed)} deliveries failed verification`;
}

/** The first signal ends in order, the second at once. A closed terminal says so more than once, and takes no more words. */
function stopOnSignals(): void {
  const end = (): void => {
    if (stop.signal.aborted) return;
    say("stopping");
    stop.abort();
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(EXIT_INTERRUPTED);
      end();
    });
  }
  process.on("SIGHUP", end);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => stop.abort());
}

async function untilStopped(): Promise<void> {
  say("up until Ctrl-C");
  if (stop.signal.aborted) return;
  await new Promise((resolve) => {
    stop.signal.addEventListener("abort", resolve, { once: true });
  });
}

function say(line: string): void {
  process.stderr.write(`coffer: ${line}\n`);
}

function fail(sentence: string, code: number): void {
  say(sentence);
  process.exitCode = code;
}

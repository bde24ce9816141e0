/** The process: it reads flags and environment, serves one client on stdio, and ends with that client. */
import { realpathSync } from "node:fs";
import {
  createRedaction,
  createServiceLink,
  ownConfiguration,
  type Redaction,
  resolveFolders,
  writeSecretFile,
} from "@coffer/tasks";
import { type CommandName, isCommand } from "./command-names.ts";
import { CredentialState } from "./credential-state.ts";
import { parseFlags } from "./flags.ts";
import { createServer, SERVER_VERSION } from "./server.ts";
import { FileCallRecord, callRecordDirectory } from "./call-record.ts";
import { keepStdoutForProtocol, serveStreams } from "./stdio.ts";
import type { HttpLaunch, Launch } from "./launch.ts";

/** Time for downloads to remove their partial files. A host expects the process to be gone 250 ms after stdin ends. */
const GRACE_MS = 100;
/** The same over HTTP, where a supervisor waits. */
const END_MS = 2_000;

async function main(): Promise<void> {
  const [command, ...args] = process.argv.slice(2);
  if (isCommand(command)) {
    endWithReader();
    process.exitCode = await runNamed(command, args);
    return;
  }
  const parsed = parseFlags(process.argv.slice(2), process.env, SERVER_VERSION);
  if (parsed.kind === "print") {
    endWithReader();
    process.stdout.write(`${parsed.text}\n`);
    return;
  }
  const redaction = createRedaction();
  for (const name of ["SERVICE_API_KEY", "SERVICE_CHAIN_PRIVATE_KEY"]) redaction.register(process.env[name]);
  keepStdoutForProtocol(redaction);
  if (parsed.kind === "refuse") {
    refuse(parsed.sentence);
    return;
  }
  const { launch } = parsed;
  await (launch.http === null ? serve(launch, redaction) : serveMany(launch, launch.http, redaction));
}

/** Of `coffer-mcp status | head -3` nobody reads the rest. */
function endWithReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit();
    });
}

async function runNamed(name: CommandName, args: readonly string[]): Promise<number> {
  const { runCommand } = await import("./commands.ts");
  const [launcher = ""] = process.argv.slice(1);
  return await runCommand(name, args, {
    env: process.env,
    launcher: { command: process.execPath, args: [...process.execArgv, realpathSync(launcher)] },
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    readInput: async () => Buffer.concat(await process.stdin.toArray()).toString("utf8"),
  });
}

async function serveMany(launch: Launch, http: HttpLaunch, redaction: Redaction): Promise<void> {
  const log = logTo(redaction);
  const { startHttp } = await import("./http-process.ts");
  const stop = new AbortController();
  const shell = await startHttp(launch, http, process.env, { log, stop: stop.signal, redaction });
  if (typeof shell === "string") {
    refuse(`${shell}.`);
    return;
  }
  const end = (): void => {
    stop.abort();
    setTimeout(() => process.exit(0), END_MS).unref();
    void shell.close().then(() => process.exit(0));
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, end);
  log(`listening at ${shell.url}`);
}

function logTo(redaction: Redaction): (line: string) => void {
  return (line) => {
    process.stderr.write(`coffer-mcp: ${redaction.redact(line)}\n`);
  };
}

async function serve(launch: Launch, redaction: Redaction): Promise<void> {
  const log = logTo(redaction);
  const resolved = await resolveFolders(launch.allowedFolders);
  for (const folder of resolved.missing)
    log(`the allowed folder ${JSON.stringify(folder)} is not there; the others are used`);
  const folders = {
    ...resolved,
    denied: {
      ...ownConfiguration(process.env, launch.configFile),
      holdsSecret: (head: Buffer) => redaction.finds(head),
      allowConfigFiles: launch.allowConfigFiles,
    },
  };
  process.on("uncaughtException", (error) => {
    log(error.stack ?? error.message);
    process.exit(1);
  });
  const stop = new AbortController();
  const credentialState = new CredentialState();
  const serviceLink = createServiceLink({
    env: process.env,
    configFile: launch.configFile,
    redaction,
    application: `coffer-mcp/${SERVER_VERSION}`,
  });
  const end = (): void => {
    stop.abort();
    if (credentialState.activity.calls === 0 && !credentialState.transfers.isBusy()) process.exit(0);
    setTimeout(() => process.exit(0), GRACE_MS);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, end);
  if (process.stdin.isTTY) log("waiting for an MCP client on stdin; --help lists the flags, Ctrl-D ends");
  const handOut = async (name: string, secret: string): Promise<string | null> => {
    redaction.register(secret);
    return await writeSecretFile(process.env, name, secret).catch(() => null);
  };
  const state = {
    env: process.env,
    credentialState,
    record: new FileCallRecord(() => callRecordDirectory(process.env)),
    keyId: null,
  };
  const server = () => createServer({ launch, serviceLink, folders, stop: stop.signal, log, handOut, ...state });
  serveStreams(server, { input: process.stdin, output: process.stdout }, redaction, { onHangUp: end, log });
}

function refuse(sentence: string): void {
  process.stderr.write(`coffer-mcp: ${sentence}\n`);
  process.exitCode = 2;
}

void main();

/** What a person runs before a host starts the server: install, status, uninstall, join, audit. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { createRedaction, joinByInvite, approveCommand, TaskFailure, toFailure } from "@coffer/tasks";
import {
  hostsOf,
  installInto,
  installState,
  isHostPresent,
  uninstallFrom,
  type Host,
  type InstallChange,
  type ServerEntry,
} from "@coffer/tasks/install";
import { COMMAND_HELP, type CommandName } from "./command-names.ts";
import { parseFlags, spreadFolders } from "./flags.ts";
import { callRecordDirectory, verifyCallRecord } from "./call-record.ts";
import { SERVER_VERSION } from "./server.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a command reads and writes. */
export interface CommandContext {
  readonly env: Environment;
  /** The program that hosts start: Node, and this launcher. */
  readonly launcher: { readonly command: string; readonly args: readonly string[] };
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** All of standard input. */
  readonly readInput: () => Promise<string>;
}

class UsageError extends Error {}

const DONE = 0;
const FAILED = 1;
const USAGE = 2;

/** Runs one command. Resolves with the exit code: 0 done, 1 failed, 2 usage. */
export async function runCommand(name: CommandName, args: readonly string[], context: CommandContext): Promise<number> {
  const redaction = createRedaction();
  const say = (text: string): void => {
    context.err(`coffer-mcp: ${redaction.redact(text)}\n`);
  };
  try {
    if (splitFlags(args)[0].includes("--help")) {
      context.out(`${COMMAND_HELP}\n`);
      return DONE;
    }
    return await COMMANDS[name](args, context);
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      say(`${thrown.message}. Run coffer-mcp ${name} --help.`);
      return USAGE;
    }
    const { message, nextStep, detail } = toFailure(thrown);
    say(`${message}.${detail === null ? "" : ` ${detail.visible()}.`}\n${nextStep}`);
    return FAILED;
  }
}

const COMMANDS: Readonly<Record<CommandName, (args: readonly string[], context: CommandContext) => Promise<number>>> = {
  install,
  uninstall,
  status,
  join: joinCommand,
  audit,
};

const OPTIONS = {
  client: { type: "string", multiple: true },
  "dry-run": { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** The options before `--`, and the server's flags after it. */
function splitFlags(args: readonly string[]): [readonly string[], readonly string[]] {
  const at = args.indexOf("--");
  return at === -1 ? [args, []] : [args.slice(0, at), args.slice(at + 1)];
}

function parsed<const Options extends ParseArgsOptionsConfig>(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    const [sentence = "Unknown option"] = error instanceof Error ? error.message.split("\n") : [];
    throw new UsageError(sentence.replace(/\.$/, ""));
  }
}

/** Words that no option takes are mistakes: a client's name is no folder. */
function onlyOptions<const Options extends ParseArgsOptionsConfig>(args: readonly string[], options: Options) {
  const { values, positionals } = parsed(args, options);
  const [first] = positionals;
  if (first !== undefined) throw new UsageError(`${JSON.stringify(first)} belongs to no option`);
  return values;
}

async function install(args: readonly string[], context: CommandContext): Promise<number> {
  const [own, flags] = splitFlags(args);
  const values = onlyOptions(spreadFolders(own), {
    ...OPTIONS,
    allow: { type: "string", multiple: true },
    config: { type: "string" },
  });
  const folders = (values.allow ?? []).map((each) => resolve(each));
  const entry = entryOf(context, flags, folders, values.config);
  const hosts = await chosenHosts(values.client, context, true);
  if (!entry.args.some((arg) => /^--allow(=|$)/.test(arg)))
    throw new UsageError("Without a folder that it may touch the agent could transfer nothing: pass --allow DIR");
  return await changeAll(hosts, context, values, (host, dryRun) => installInto(host, entry, dryRun));
}

async function uninstall(args: readonly string[], context: CommandContext): Promise<number> {
  const values = onlyOptions(args, OPTIONS);
  const hosts = await chosenHosts(values.client, context, true);
  return await changeAll(hosts, context, values, uninstallFrom);
}

interface Values {
  readonly "dry-run"?: boolean | undefined;
  readonly json?: boolean | undefined;
}

async function changeAll(
  hosts: readonly Host[],
  { out, err }: CommandContext,
  values: Values,
  run: (host: Host, dryRun: boolean) => Promise<InstallChange>,
): Promise<number> {
  const dryRun = values["dry-run"] === true;
  const rows: { client: string; file: string; act: string; diff: string; problem?: string }[] = [];
  for (const host of hosts) {
    const about = { client: host.id, file: host.file };
    try {
      const { act, diff } = await run(host, dryRun);
      rows.push({ ...about, act, diff });
      if (values.json !== true) {
        out(`${host.title}: ${dryRun && act !== "unchanged" ? `would be ${act}` : act}. ${host.file}\n`);
        if (dryRun) out(diff);
        else if (act !== "unchanged") out(`  ${host.afterwards}\n`);
      }
    } catch (thrown) {
      const { message, nextStep } = toFailure(thrown);
      rows.push({ ...about, act: "failed", diff: "", problem: message });
      err(`coffer-mcp: ${message}.\n${nextStep}\n`);
    }
  }
  if (values.json === true) out(`${JSON.stringify({ dryRun, clients: rows })}\n`);
  return rows.some(({ act }) => act === "failed") ? FAILED : DONE;
}

async function status(args: readonly string[], context: CommandContext): Promise<number> {
  const values = onlyOptions(args, OPTIONS);
  const entry = entryOf(context, [], [], undefined);
  const hosts = await chosenHosts(values.client, context, false);
  const states = await Promise.all(hosts.map((host) => installState(host, entry)));
  if (values.json === true) {
    const clients = states.map(({ host, state, problem }) => ({ client: host.id, file: host.file, state, problem }));
    context.out(`${JSON.stringify({ clients })}\n`);
    return DONE;
  }
  for (const { host, state, problem } of states)
    context.out(`${host.title.padEnd(16)} ${STATES[state]}${problem === null ? "" : `: ${problem}`}  ${host.file}\n`);
  return DONE;
}

const STATES = {
  installed: "installed",
  missing: "not installed",
  other: "has a server of this name that starts something else",
  absent: "is not on this machine",
  unreadable: "has settings that cannot be read",
};

/** Those that were named, else those that are on this machine. */
async function chosenHosts(
  flags: readonly string[] | undefined,
  { env }: CommandContext,
  onlyPresent: boolean,
): Promise<Host[]> {
  const hosts = hostsOf(env);
  const names = (flags ?? []).flatMap((each) => each.split(","));
  const strange = names.find((name) => !hosts.some(({ id }) => id === name));
  if (strange !== undefined)
    throw new UsageError(`Unknown client ${JSON.stringify(strange)}: use ${hosts.map(({ id }) => id).join(", ")}`);
  if (names.length > 0) return hosts.filter(({ id }) => names.includes(id));
  if (!onlyPresent) return [...hosts];
  const present = await Promise.all(hosts.map(isHostPresent));
  const presentHosts = hosts.filter((_host, at) => present[at] === true);
  if (presentHosts.length > 0) return presentHosts;
  throw new UsageError("No client was found here: name one with --client");
}

/** What hosts start. The flags are checked now: a host would only show that the server ended. */
function entryOf(
  { env, launcher }: CommandContext,
  flags: readonly string[],
  folders: readonly string[],
  config: string | undefined,
): ServerEntry {
  const args = [...launcher.args, ...folders.flatMap((folder) => ["--allow", folder]), ...flags];
  const checked = parseFlags(args.slice(launcher.args.length), {}, SERVER_VERSION);
  if (checked.kind === "refuse") throw new UsageError(checked.sentence.replace(/\. Run with.*$/, ""));
  if (checked.kind === "print") throw new UsageError("After -- come flags of the server, such as --profile read");
  if (launcher.args.some((each) => /[/\\]_npx[/\\]/.test(each)))
    throw new UsageError("npx empties the folder that this runs from: install the package, then run its coffer-mcp");
  const file = config ?? env["SERVICE_CONFIG_FILE"];
  return {
    command: launcher.command,
    args,
    env: file === undefined || file === "" ? {} : { SERVICE_CONFIG_FILE: resolve(file) },
  };
}

async function joinCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parsed(args, {
    config: { type: "string" },
    profile: { type: "string" },
    "base-url": { type: "string" },
    network: { type: "string" },
    "network-digest": { type: "string" },
    "code-file": { type: "string" },
    json: { type: "boolean" },
  });
  const { configFile } = await import("@coffer/sdk/node");
  const { Secret } = await import("@coffer/sdk");
  const { env } = context;
  const baseUrl = values["base-url"] ?? env["SERVICE_BASE_URL"];
  if (baseUrl === undefined || !URL.canParse(baseUrl))
    throw new UsageError("The address of the service is missing: pass --base-url, or set SERVICE_BASE_URL");
  const network = values.network ?? env["SERVICE_NETWORK_FILE"];
  const chainKey = env["SERVICE_CHAIN_PRIVATE_KEY"];
  const done = await joinByInvite({
    baseUrl,
    env,
    code: await codeFrom(values["code-file"], positionals, context),
    configFile: values.config === undefined ? configFile(env) : resolve(values.config),
    profile: values.profile ?? "default",
    networkFile: network === undefined || network === "" ? null : resolve(network),
    // Only a person at a terminal may compare what an operator's page says, and this program asks nobody.
    proof: { digest: digestIn(values["network-digest"]), ask: null },
    chainPrivateKey: chainKey === undefined || chainKey === "" ? null : new Secret(chainKey),
  });
  const { chainAddress, vaultIds } = done;
  if (values.json === true) {
    context.out(`${JSON.stringify(done)}\n`);
    return DONE;
  }
  context.out(
    `Joined. The keys are in ${done.configFile} (profile ${done.profile}).\nYour chain address: ${chainAddress}\n`,
  );
  context.out(
    `Your access ends: ${done.accessUntil ?? "never"}\nTo let you into the shared vaults of the invite, the owner runs, where the invite was made:\n  ${approveCommand(chainAddress)}\nIn code: client.vaults.members.add(vaultId, { invite: text })\n`,
  );
  if (vaultIds.length > 0) context.out(`Vaults of the invite: ${vaultIds.join(", ")}\n`);
  if (done.networkFile !== null) context.out(`Network of shared vaults: ${done.networkFile}\n`);
  context.out("Next: coffer-mcp install --allow DIR\n");
  return DONE;
}

function digestIn(text: string | undefined): string | null {
  if (text === undefined || /^[0-9a-f]{64}$/i.test(text)) return text ?? null;
  throw new UsageError("--network-digest takes 64 hex digits: SHA-256 of the network's file, as its operator shows it");
}

/** An invite on the command line is seen by every user of the machine: a file or standard input keeps it private. */
async function codeFrom(
  file: string | undefined,
  positionals: readonly string[],
  context: CommandContext,
): Promise<string> {
  const [code] = positionals;
  if (positionals.length > 1 || (code !== undefined && file !== undefined)) throw new UsageError("Pass one invite");
  if (file !== undefined) return await readFile(file, "utf8");
  if (code !== undefined && code !== "-") return code;
  const text = await context.readInput();
  if (text.trim() === "")
    throw new UsageError("Pass the invite, or its file with --code-file, or - for standard input");
  return text;
}

async function audit(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parsed(args, { directory: { type: "string" }, json: { type: "boolean" } });
  if (positionals.length !== 1 || positionals[0] !== "verify") throw new UsageError("Use: coffer-mcp audit verify");
  const directory = values.directory === undefined ? await callRecordDirectory(context.env) : resolve(values.directory);
  const report = await verifyCallRecord(directory);
  if (values.json === true) context.out(`${JSON.stringify({ directory, ...report })}\n`);
  else
    context.out(
      `${String(report.lines)} calls of ${String(report.chains)} processes in ${directory}: ${report.problems.length === 0 ? "whole" : "damaged"}\n`,
    );
  if (report.problems.length === 0) return DONE;
  throw new TaskFailure("integrity_failed", {
    message: report.problems.map((problem) => join(directory, problem)).join("\n"),
    nextStep: "Somebody changed or cut these files. The lines before these are whole.",
  });
}

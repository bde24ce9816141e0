/**
 * The command line and the environment of the server. Arguments that it does not understand are errors: a typing error
 * must not widen what a model may do.
 */
import { delimiter, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chooseTools, TOOL_NAMES } from "./tool-list.ts";
import { COMMAND_HELP } from "./command-names.ts";
import { parseHttp } from "./http-flags.ts";
import { CONFIRM_MODES, PROFILES, ROOTS_MODES, type Profile, type Launch } from "./launch.ts";

export type ParsedFlags =
  | { readonly kind: "serve"; readonly launch: Launch }
  | { readonly kind: "print"; readonly text: string }
  | { readonly kind: "refuse"; readonly sentence: string };

type Environment = Readonly<Record<string, string | undefined>>;

const OPTIONS = {
  profile: { type: "string" },
  tools: { type: "string" },
  "exclude-tools": { type: "string" },
  "read-only": { type: "boolean" },
  vault: { type: "string" },
  "reveal-shared-text": { type: "boolean" },
  confirm: { type: "string" },
  config: { type: "string" },
  allow: { type: "string", multiple: true },
  downloads: { type: "string" },
  roots: { type: "string" },
  "allow-config-files": { type: "boolean" },
  http: { type: "string" },
  "public-url": { type: "string" },
  "allow-origin": { type: "string", multiple: true },
  help: { type: "boolean" },
  version: { type: "boolean" },
} as const;

export function parseFlags(args: readonly string[], env: Environment, version: string): ParsedFlags {
  let values;
  try {
    values = parseArgs({ args: spreadFolders(args), options: OPTIONS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    return refuse(error instanceof Error ? (error.message.split("\n")[0] ?? "Unknown option") : "Unknown option");
  }
  if (values.help === true) return { kind: "print", text: HELP };
  if (values.version === true) return { kind: "print", text: version };
  const confirm = CONFIRM_MODES.find((mode) => mode === (values.confirm ?? "auto"));
  if (confirm === undefined)
    return refuse(`Unknown --confirm ${JSON.stringify(values.confirm)}: use ${CONFIRM_MODES.join(", ")}`);
  const roots = ROOTS_MODES.find((mode) => mode === (values.roots ?? "narrow"));
  if (roots === undefined)
    return refuse(`Unknown --roots ${JSON.stringify(values.roots)}: use ${ROOTS_MODES.join(", ")}`);
  const problem = problemOf(values.profile, values.vault, [
    ...namesIn(values.tools),
    ...namesIn(values["exclude-tools"]),
  ]);
  if (problem !== null) return refuse(problem);
  if (values.downloads === "") return refuse("--downloads needs a folder");
  const http = parseHttp({
    listen: values.http,
    publicUrl: values["public-url"],
    origins: values["allow-origin"] ?? [],
    usesFiles: [values.allow, values.downloads, values.roots, values["allow-config-files"]].some(
      (each) => each !== undefined,
    ),
  });
  if (typeof http === "string") return refuse(http);
  const launch: Launch = {
    profile: findProfile(values.profile) ?? "agent",
    tools: values.tools === undefined ? null : namesIn(values.tools),
    excludeTools: namesIn(values["exclude-tools"]),
    readOnly: values["read-only"] ?? false,
    vaultId: values.vault?.toLowerCase() ?? null,
    confirm,
    allowConfigFiles: values["allow-config-files"] ?? false,
    revealSharedText: values["reveal-shared-text"] ?? false,
    downloads: values.downloads === undefined ? null : resolve(values.downloads),
    configFile: values.config ?? filled(env["SERVICE_CONFIG_FILE"]),
    roots,
    http,
    // A server for many keys opens no folder of this machine.
    allowedFolders:
      http !== null
        ? []
        : (values.allow ?? (env["SERVICE_ALLOWED_DIRS"] ?? "").split(delimiter).filter((part) => part !== "")),
  };
  if (chooseTools(launch).length > 0) return { kind: "serve", launch };
  return refuse(
    `No tool is left of profile ${launch.profile} with these flags: name another --profile, or other tools`,
  );
}

/** `--allow A B C` as `--allow A --allow B --allow C`. */
export function spreadFolders(args: readonly string[]): string[] {
  let isAllow = false;
  return args.flatMap((arg, at) => {
    if (arg.startsWith("-")) isAllow = arg === "--allow" || arg.startsWith("--allow=");
    else if (isAllow) return ["--allow", arg];
    // Without a folder after it, it stays and is refused.
    return arg === "--allow" && args[at + 1]?.startsWith("-") === false ? [] : [arg];
  });
}

function refuse(sentence: string): ParsedFlags {
  return { kind: "refuse", sentence: `${sentence.replace(/\.?$/, ".")} Run with --help for the options.` };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function problemOf(
  profile: string | undefined,
  vault: string | undefined,
  toolNames: readonly string[],
): string | null {
  if (profile !== undefined && findProfile(profile) === null)
    return `Unknown profile ${JSON.stringify(profile)}: use ${PROFILES.join(", ")}`;
  if (vault !== undefined && !UUID.test(vault)) return "--vault needs a vault's id";
  const unknown = toolNames.find((name) => !TOOL_NAMES.includes(name));
  return unknown === undefined ? null : `Unknown tool ${JSON.stringify(unknown)}: use ${TOOL_NAMES.join(", ")}`;
}

function findProfile(word: string | undefined): Profile | null {
  return PROFILES.find((profile) => profile === word) ?? null;
}

function namesIn(list: string | undefined): string[] {
  return (list ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function filled(text: string | undefined): string | null {
  return text === undefined || text === "" ? null : text;
}

const HELP = `coffer-mcp: Coffer storage as MCP tools, over stdio or HTTP

  --allow DIR [DIR ...]  Folders whose files the tools may read. One that is missing is reported.
                         Default: SERVICE_ALLOWED_DIRS, separated by "${delimiter}". Without both, no file leaves.
  --roots HOW            What the client's own folders (roots) do to those of --allow.
                         narrow: one that lies inside a folder is all that is left of that folder; others are ignored.
                         only: nothing outside the roots is left. Default: narrow.
  --downloads DIR        The folder that downloads go below, made if its parent exists. Clients' roots do not move it.
                         The tools read there only if --allow names it as well.
                         Default: coffer in the first allowed folder that the client's roots leave.
  --profile NAME         read, agent or owner. Default: agent, whatever the key may do.
  --tools A,B            Only these tools.
  --exclude-tools A,B    All tools but these.
  --read-only            No tool that changes anything in the account. Wins over all other flags.
                         file_download stays: it writes below the folder for downloads only.
  --vault ID             Serves one vault. The tools have no vaultId argument then.
  --reveal-shared-text   file_read shows text of shared vaults too. Default: public vaults only.
  --confirm HOW          Who agrees to folders in the trash and the like, where the host cannot ask its user.
                         token: the model, with a token of the preview. human-only: nobody.
                         auto: as token, until text of others was shown. Then nobody agrees to access, new webhook
                         addresses, deleting webhooks, and writes into vaults of other accounts. Default: auto.
  --allow-config-files   Downloads may write files by names that programs and agents obey, like CLAUDE.md.
                         Git repositories stay refused.
  --config FILE          The config file. Default: SERVICE_CONFIG_FILE, else the user's own.
  --http [HOST:]PORT     Streamable HTTP at /mcp for many keys, instead of stdio. Default host: 127.0.0.1.
                         Each request brings its key: Authorization: Bearer cof_...
                         No local folders and no chain key: shared vaults stay closed there.
  --public-url URL       The address that clients use, such as https://files.example.com/mcp behind a proxy.
  --allow-origin ORIGIN  A web page's origin that may call. Repeatable. Default: this machine's.
  --help, --version

Credentials come from SERVICE_API_KEY or the config file, never from the command line.
Service address: SERVICE_BASE_URL or the config file.

Commands:
${COMMAND_HELP}`;

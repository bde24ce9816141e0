/** The command line of `npm start`. It refuses arguments that it does not understand. */
import { isAbsolute, join, resolve } from "node:path";
import { parseArgs } from "node:util";

export interface StartOptions {
  /** null: that of an earlier start on the same data, else the default port or the next that is free. */
  readonly port: number | null;
  readonly dataDirectory: string;
  readonly folder: string;
  readonly once: boolean;
  /** Tells the demonstration also where an earlier run on the same data did. */
  readonly demo: boolean;
  /** PostgreSQL, an S3 store and two server processes; the data directory is not used. */
  readonly scale: boolean;
  readonly json: boolean;
}

export type ParsedStart =
  | { readonly kind: "start"; readonly options: StartOptions }
  | { readonly kind: "help" }
  | { readonly kind: "refuse"; readonly sentence: string };

export interface StartSurroundings {
  /** Where the user stood when npm was called: relative paths count from there (npm sets INIT_CWD). */
  readonly workingDirectory: string;
  readonly repository: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const OPTIONS = {
  port: { type: "string" },
  data: { type: "string" },
  folder: { type: "string" },
  once: { type: "boolean" },
  demo: { type: "boolean" },
  scale: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean" },
} as const;

export function parseStart(
  args: readonly string[],
  { workingDirectory, repository, environment }: StartSurroundings,
): ParsedStart {
  const swallowed = Object.keys(OPTIONS).find((name) => environment[`npm_config_${name}`] !== undefined);
  if (swallowed !== undefined)
    return {
      kind: "refuse",
      sentence: `npm took --${swallowed} for itself. Put -- before the options: npm start -- --${swallowed} …`,
    };
  let values;
  try {
    values = parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    return {
      kind: "refuse",
      sentence: error instanceof Error ? (error.message.split("\n")[0] ?? "") : "Unknown option",
    };
  }
  if (values.help === true) return { kind: "help" };
  const port = values.port === undefined ? null : /^\d{1,5}$/.test(values.port) ? Number(values.port) : NaN;
  if (port !== null && !(port <= 65535)) return { kind: "refuse", sentence: "--port needs a number from 0 to 65535" };
  const at = (given: string | undefined, fallback: string): string => {
    if (given === undefined) return join(repository, fallback);
    return isAbsolute(given) ? resolve(given) : resolve(workingDirectory, given);
  };
  if (values.scale === true && values.data !== undefined)
    return { kind: "refuse", sentence: "--scale keeps nothing, so it takes no --data" };
  if (values.data === "" || values.folder === "") return { kind: "refuse", sentence: "A path is empty" };
  return {
    kind: "start",
    options: {
      port,
      dataDirectory: at(values.data, ".coffer"),
      folder: at(values.folder, "docs"),
      once: values.once ?? false,
      demo: values.demo ?? false,
      scale: values.scale ?? false,
      json: values.json ?? false,
    },
  };
}

const LIMITS =
  /^SERVICE_(LOG_LEVEL|SIGN_IN_FAILURES|IDLE_TIMEOUT_SECONDS|SHUTDOWN_SECONDS|UPLOAD_HOURS|CORS_ORIGINS|(FREE|PRO|MAX|RATE|WEBHOOK)_.+)$/;

/**
 * The part of the shell's environment that counts for a stack: limits, log level, webhooks, origins of pages. Variables that name a
 * service and its partners (its address, its mail, its provider) belong to another service. With them this one would
 * refuse its own owner, or send mail.
 */
export function limitsIn(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => LIMITS.test(name)));
}

export const HELP = `npm start [-- OPTIONS]: starts the whole stack (service, local chain, key servers).
The first start on its data demonstrates the main job on a shared vault and a real folder. An agent is refused, and
then let in. It stores the folder encrypted, reads it back, and is removed. A page shows the webhook deliveries. Later
starts serve at once. A start that stays up prints the configuration of an agent: a member of your vault "My files".

  --folder PATH   The folder that your agent may touch, and that the demonstration stores, fetches back and compares.
                  Default: the repository's docs.
  --data DIR      The directory of accounts, chain, files and keys. Default: .coffer in the repository.
  --port N        The service's port; 0 takes any. Default: that of the earlier start on the same data. The first
                  start takes 8787, or the next free one.
  --demo          Demonstrates also on data of an earlier run.
  --once          Demonstrates, and stops. Exits with 0 if every step succeeded, every byte came back
                  and the webhook got every upload. Exits with 1 if not.
  --scale         PostgreSQL, an S3 store (Ceph) and two server processes behind a proxy, instead of one process
                  on SQLite and disk. npm run scale:setup installs the store. Nothing is kept afterwards.
  --json          One JSON document on stdout once ready, everything else on stderr.
                  Use npm start --silent -- --json: npm prints a banner otherwise.
  --help

SERVICE_CORS_ORIGINS=http://localhost:5173 npm start lets pages of that origin, such as a development server's, call the service.
Relative paths start in the folder you call it from. Press Ctrl-C to stop it.`;

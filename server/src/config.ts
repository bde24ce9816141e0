/** The environment in, one typed configuration out. The only place that reads the environment's words. */
import * as z from "zod/mini";

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const TIB = 1024 * GIB;

/** What one plan may hold, in bytes. */
export interface PlanLimits {
  readonly fileBytes: number;
  readonly storageBytes: number;
}

/** What the features need to know. Sizes in bytes, times in milliseconds. */
export interface Settings {
  readonly mode: "development" | "production";
  readonly plans: { readonly free: PlanLimits; readonly pro: PlanLimits };
  readonly limits: {
    readonly jsonBodyBytes: number;
    readonly rawUploadBytes: number;
    readonly resumableUploadBytes: number;
    readonly vaults: number;
    readonly apiKeys: number;
  };
  readonly timing: {
    /** A body that brings no byte for this long is given up with 408. */
    readonly idleBody: number;
    /** A JSON body must arrive within this time. */
    readonly jsonBody: number;
    /** How long a resumable upload may take. */
    readonly uploadLifetime: number;
    /** How long an answer is kept for a repeat with the same Idempotency-Key. */
    readonly idempotency: number;
    /** How long running requests may go on after a stop was asked for. */
    readonly shutdownGrace: number;
    /** How often a running transfer checks that its key is still live. */
    readonly recheck: number;
    /** How often the last use of keys is written down. */
    readonly lastUsedFlush: number;
  };
  /** Bearer token of /metrics; null: only from loopback. */
  readonly metricsToken: string | null;
}

export type LogLevel = "silent" | "fatal" | "error" | "warn" | "info" | "debug";

/** Everything `startServer` needs. */
export interface Config {
  readonly environment:
    | { readonly mode: "development" }
    | { readonly mode: "production"; /** 32 bytes: encrypts secrets at rest. */ readonly masterKey: Uint8Array };
  /** Port 0 asks the system for a free one. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly database: { readonly kind: "sqlite"; readonly path: string };
  readonly blobs: { readonly kind: "disk"; readonly directory: string };
  readonly log: { readonly level: LogLevel };
  readonly settings: Settings;
}

/** Every problem of the environment at once, each with what to do about it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

interface Variable {
  readonly name: string;
  readonly schema: z.ZodMiniType;
  readonly fallback: string;
  /** What the value must be, as the problem and the usage text say it. */
  readonly expects: string;
  readonly about: string;
}

const amount = (minimum: number, maximum: number) =>
  z.pipe(
    z.string().check(z.regex(/^\d{1,16}$/)),
    z.pipe(
      z.transform((text: string) => Number(text)),
      z.int().check(z.gte(minimum), z.lte(maximum)),
    ),
  );

function number(name: string, fallback: number, range: readonly [number, number], about: string) {
  const expects = `a whole number from ${range[0]} to ${range[1]}`;
  return { name, schema: amount(range[0], range[1]), fallback: String(fallback), expects, about };
}

function text<Schema extends z.ZodMiniType>(
  name: string,
  fallback: string,
  schema: Schema,
  expects: string,
  about: string,
) {
  return { name, schema, fallback, expects, about };
}

const ANY_SIZE = [0, Number.MAX_SAFE_INTEGER] as const;
const LEVELS = ["silent", "fatal", "error", "warn", "info", "debug"] as const;
const FLAG = z.enum(["0", "1", ""]);

const VARIABLES = {
  mode: text(
    "SERVICE_ENV",
    "production",
    z.enum(["development", "production"]),
    "development or production",
    "development switches dev-signup and development headers on",
  ),
  allowInsecure: text(
    "SERVICE_ALLOW_INSECURE_DEV",
    "",
    FLAG,
    "1 or nothing",
    "1 lets development listen on an address others can reach",
  ),
  masterKey: text(
    "SERVICE_MASTER_KEY",
    "",
    z.string(),
    "32 bytes as 64 hex digits or in base64",
    "encrypts secrets at rest; required in production",
  ),
  host: text(
    "SERVICE_HOST",
    "127.0.0.1",
    z.string().check(z.regex(/^[\w.:-]{1,253}$/)),
    "a host name or an address",
    "where to listen",
  ),
  port: number("SERVICE_PORT", 8787, [0, 65535], "0 takes a free port"),
  dataDirectory: text(
    "SERVICE_DATA_DIR",
    "./data",
    z.string().check(z.minLength(1)),
    "a directory",
    "database and file contents",
  ),
  logLevel: text("SERVICE_LOG_LEVEL", "info", z.enum(LEVELS), LEVELS.join(", "), "JSON lines on standard error"),
  metricsToken: text(
    "SERVICE_METRICS_TOKEN",
    "",
    z.string().check(z.regex(/^([\w.~+/=-]{16,256})?$/)),
    "16 to 256 characters of a bearer token",
    "opens /metrics beyond loopback",
  ),
  freeFile: number("SERVICE_FREE_FILE_BYTES", 100 * MIB, ANY_SIZE, "largest file of a free account"),
  freeStorage: number("SERVICE_FREE_STORAGE_BYTES", 10 * GIB, ANY_SIZE, "storage of a free account"),
  proFile: number("SERVICE_PRO_FILE_BYTES", 5 * GIB, ANY_SIZE, "largest file of a pro account"),
  proStorage: number("SERVICE_PRO_STORAGE_BYTES", TIB, ANY_SIZE, "storage of a pro account"),
  rawUpload: number("SERVICE_MAX_RAW_UPLOAD_BYTES", 5 * GIB, ANY_SIZE, "largest upload in one request"),
  resumableUpload: number("SERVICE_MAX_RESUMABLE_UPLOAD_BYTES", 50 * GIB, ANY_SIZE, "largest resumable upload"),
  jsonBody: number("SERVICE_MAX_JSON_BYTES", MIB, [KIB, 64 * MIB], "largest JSON body"),
  vaults: number("SERVICE_MAX_VAULTS", 1000, [1, 1_000_000], "vaults of an account"),
  apiKeys: number("SERVICE_MAX_API_KEYS", 100, [1, 1_000_000], "live API keys of an account"),
  idleSeconds: number("SERVICE_IDLE_TIMEOUT_SECONDS", 30, [1, 3600], "a body silent for longer is given up"),
  graceSeconds: number("SERVICE_SHUTDOWN_SECONDS", 30, [0, 3600], "how long running requests may finish after SIGTERM"),
  uploadHours: number("SERVICE_UPLOAD_HOURS", 24, [1, 8760], "lifetime of a resumable upload"),
} as const satisfies Record<string, Variable>;

type Values = { readonly [Name in keyof typeof VARIABLES]: z.core.output<(typeof VARIABLES)[Name]["schema"]> };

/** Reads a configuration, or throws {@link ConfigError} with every problem. Unset or empty variables take defaults. */
export function parseConfig(environment: Environment): Config {
  const { values, problems } = readValues(environment);
  const masterKey = readMasterKey(values.masterKey ?? "");
  if (
    values.mode === "production" &&
    masterKey === null &&
    !problems.some((line) => line.startsWith("SERVICE_MASTER_KEY"))
  ) {
    problems.push(
      values.masterKey === ""
        ? "SERVICE_MASTER_KEY: production needs it; make one with `openssl rand -hex 32`, or set SERVICE_ENV=development"
        : `SERVICE_MASTER_KEY: expected ${VARIABLES.masterKey.expects}`,
    );
  }
  if (values.mode === "development" && values.allowInsecure !== "1" && !isLoopbackHost(values.host ?? "")) {
    problems.push(
      "SERVICE_HOST: development lets every caller act as a user; listen on 127.0.0.1, or set SERVICE_ALLOW_INSECURE_DEV=1",
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return assemble(values as Values, masterKey);
}

/** The variables, for `--help`. */
export function renderUsage(): string {
  const lines = Object.values(VARIABLES).map(
    (variable) =>
      `  ${variable.name}\n      ${variable.about}; ${variable.expects}${variable.fallback === "" ? "" : ` [${variable.fallback}]`}`,
  );
  return `coffer-server: the reference backend of the Coffer service\n\nUsage: coffer-server [--help | --version]\n\nEverything is set by environment variables:\n${lines.join("\n")}\n`;
}

/** Whether only this machine can reach a server that listens there (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").toLowerCase();
  return name === "localhost" || name === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

function readValues(environment: Environment): { values: Partial<Values>; problems: string[] } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [key, variable] of Object.entries(VARIABLES)) {
    const given = environment[variable.name]?.trim();
    const result = z.safeParse(variable.schema, given === undefined || given === "" ? variable.fallback : given);
    if (result.success) values[key] = result.data;
    else problems.push(`${variable.name}: expected ${variable.expects}`);
  }
  return { values, problems };
}

function readMasterKey(given: string): Uint8Array | null {
  const bytes = /^[0-9a-f]{64}$/i.test(given) ? Buffer.from(given, "hex") : Buffer.from(given, "base64");
  return bytes.length === 32 ? new Uint8Array(bytes) : null;
}

function assemble(values: Values, masterKey: Uint8Array | null): Config {
  const directory = values.dataDirectory;
  return {
    environment:
      values.mode === "production" && masterKey !== null ? { mode: "production", masterKey } : { mode: "development" },
    listen: { host: values.host, port: values.port },
    database: { kind: "sqlite", path: `${directory}/coffer.sqlite` },
    blobs: { kind: "disk", directory: `${directory}/blobs` },
    log: { level: values.logLevel },
    settings: assembleSettings(values),
  };
}

function assembleSettings(values: Values): Settings {
  return {
    mode: values.mode,
    plans: {
      free: { fileBytes: values.freeFile, storageBytes: values.freeStorage },
      pro: { fileBytes: values.proFile, storageBytes: values.proStorage },
    },
    limits: {
      jsonBodyBytes: values.jsonBody,
      rawUploadBytes: values.rawUpload,
      resumableUploadBytes: values.resumableUpload,
      vaults: values.vaults,
      apiKeys: values.apiKeys,
    },
    timing: {
      idleBody: values.idleSeconds * 1000,
      jsonBody: 30_000,
      uploadLifetime: values.uploadHours * 3_600_000,
      idempotency: 24 * 3_600_000,
      shutdownGrace: values.graceSeconds * 1000,
      recheck: 4_000,
      lastUsedFlush: 60_000,
    },
    metricsToken: values.metricsToken === "" ? null : values.metricsToken,
  };
}

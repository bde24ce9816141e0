/** The environment variables of the server: what each must be and what it is for. `--help` prints this list. */
import { CHAIN_NETWORKS } from "@coffer/contract";
import * as z from "zod/mini";
import { BLOB_VARIABLES } from "./blob-variables.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const TIB = 1024 * GIB;

export interface Variable {
  readonly name: string;
  readonly schema: z.ZodMiniType;
  readonly fallback: string;
  /** Taken instead of `fallback` in development. */
  readonly inDevelopment?: string;
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

/** So many that nobody at a development server meets the limit (decisions §2); tests set their own. */
const UNMET = "1000000000";

function rate(name: string, fallback: number, about: string) {
  return { ...number(name, fallback, [1, Number(UNMET)], about), inDevelopment: UNMET };
}

/** An http or https address without credentials, query or fragment; kept without a trailing slash. */
const address = z.string().check(
  z.check((context) => {
    if (context.value === "") return;
    const url = URL.parse(context.value);
    const usable =
      url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "" && url.hash === "";
    if (!usable) context.issues.push({ code: "custom", message: "not an address", input: context.value });
  }),
  z.overwrite((value) => value.replace(/\/+$/, "")),
);

function text<Schema extends z.ZodMiniType>(
  name: string,
  schema: Schema,
  expects: string,
  about: string,
  fallback = "",
) {
  return { name, schema, fallback, expects, about };
}

const ANY_SIZE = [0, Number.MAX_SAFE_INTEGER] as const;
const LEVELS = ["silent", "fatal", "error", "warn", "info", "debug"] as const;
const flag = (name: string, about: string) => text(name, z.enum(["0", "1", ""]), "1 or nothing", about);
const url = (name: string, about: string) => text(name, address, "an http or https address", about);

export const VARIABLES = {
  mode: text(
    "SERVICE_ENV",
    z.enum(["development", "production"]),
    "development or production",
    "Development switches on dev-signup and the development headers.",
    "production",
  ),
  allowInsecure: flag(
    "SERVICE_ALLOW_INSECURE_DEV",
    "1 lets a development server listen on an address that others can reach.",
  ),
  allowUnsignedRedeem: flag(
    "SERVICE_ALLOW_UNSIGNED_REDEEM",
    "1 lets a development server accept invites without the chain address's signature.",
  ),
  masterKey: text(
    "SERVICE_MASTER_KEY",
    z.string(),
    "32 bytes as 64 hex digits or in base64",
    "The key that encrypts secrets at rest. Production needs it.",
  ),
  host: text(
    "SERVICE_HOST",
    z.string().check(z.regex(/^[\w.:-]{1,253}$/)),
    "a host name or an address",
    "Where the server listens.",
    "127.0.0.1",
  ),
  port: number("SERVICE_PORT", 8787, [0, 65535], "The port. 0 takes any free one."),
  dataDirectory: text(
    "SERVICE_DATA_DIR",
    z.string().check(z.minLength(1)),
    "a directory",
    "Where the database and the file contents are.",
    "./data",
  ),
  databaseUrl: text(
    "SERVICE_DATABASE_URL",
    z.string().check(z.maxLength(2048)),
    "an address such as postgres://user:password@host:5432/coffer?sslmode=verify-full",
    "The PostgreSQL that all processes share, from version 15 on. Without it, the rows are in SQLite in the data directory.",
  ),
  databaseDirectUrl: text(
    "SERVICE_DATABASE_DIRECT_URL",
    z.string().check(z.maxLength(2048)),
    "the same database's address past a pooler",
    "Where a server listens for the changes of others, if SERVICE_DATABASE_URL leads through a pooler. Without it, it looks four times a second.",
  ),
  databaseConnections: number(
    "SERVICE_DATABASE_CONNECTIONS",
    10,
    [2, 1000],
    "The most connections of one process to PostgreSQL.",
  ),
  databasePooler: text(
    "SERVICE_DATABASE_POOLER",
    z.enum(["none", "transaction"]),
    "none or transaction",
    "Transaction: a pooler in transaction mode, such as pgbouncer, is between this server and PostgreSQL.",
    "none",
  ),
  rateLimits: text(
    "SERVICE_RATE_LIMITS",
    z.enum(["process", "shared"]),
    "process or shared",
    "Whether each process counts requests for itself, or all together in PostgreSQL.",
    "process",
  ),
  ...BLOB_VARIABLES,
  logLevel: text(
    "SERVICE_LOG_LEVEL",
    z.enum(LEVELS),
    LEVELS.join(", "),
    "The least level that is logged, as JSON lines on standard error.",
    "info",
  ),
  metricsToken: text(
    "SERVICE_METRICS_TOKEN",
    z.string().check(z.regex(/^([\w.~+/=-]{16,256})?$/)),
    "16 to 256 characters of a bearer token",
    "The token that opens /metrics to callers beyond loopback.",
  ),
  freeFile: number("SERVICE_FREE_FILE_BYTES", 100 * MIB, ANY_SIZE, "The largest file of a free account, in bytes."),
  freeStorage: number("SERVICE_FREE_STORAGE_BYTES", 10 * GIB, ANY_SIZE, "The storage of a free account, in bytes."),
  proFile: number("SERVICE_PRO_FILE_BYTES", 5 * GIB, ANY_SIZE, "The largest file of a pro account, in bytes."),
  proStorage: number("SERVICE_PRO_STORAGE_BYTES", TIB, ANY_SIZE, "The storage of a pro account, in bytes."),
  rawUpload: number("SERVICE_MAX_RAW_UPLOAD_BYTES", 5 * GIB, ANY_SIZE, "The largest upload in one request, in bytes."),
  resumableUpload: number(
    "SERVICE_MAX_RESUMABLE_UPLOAD_BYTES",
    50 * GIB,
    ANY_SIZE,
    "The largest resumable upload, in bytes.",
  ),
  diskReserve: number(
    "SERVICE_DISK_RESERVE_BYTES",
    256 * MIB,
    ANY_SIZE,
    "The room on the disk that file contents leave free, in bytes.",
  ),
  jsonBody: number("SERVICE_MAX_JSON_BYTES", MIB, [KIB, 64 * MIB], "The largest JSON body, in bytes."),
  vaults: number("SERVICE_MAX_VAULTS", 1000, [1, 1_000_000], "The most vaults of an account."),
  apiKeys: number("SERVICE_MAX_API_KEYS", 100, [1, 1_000_000], "The most live API keys of an account."),
  idleSeconds: number(
    "SERVICE_IDLE_TIMEOUT_SECONDS",
    30,
    [1, 3600],
    "The server gives up a body that is silent for so many seconds.",
  ),
  graceSeconds: number(
    "SERVICE_SHUTDOWN_SECONDS",
    30,
    [0, 3600],
    "How many seconds running requests may take to finish after SIGTERM.",
  ),
  noticeSeconds: {
    ...number(
      "SERVICE_SHUTDOWN_NOTICE_SECONDS",
      5,
      [0, 3600],
      "For how many of these seconds the server still takes connections while /readyz answers 503, so that load balancers turn away first.",
    ),
    inDevelopment: "0",
  },
  invites: number("SERVICE_MAX_INVITES", 100, [1, 1_000_000], "The most live invites of an account."),
  publicUrl: url(
    "SERVICE_PUBLIC_URL",
    "Where clients reach this service. Signatures of chain addresses are bound to its origin. Production without SERVICE_APP_URL needs it.",
  ),
  appUrl: url(
    "SERVICE_APP_URL",
    "The web application. Links in mails and the identity provider's redirect lead there. Without it they lead to pages of this service.",
  ),
  jwtKeys: text(
    "SERVICE_JWT_KEYS",
    z.string().check(z.regex(/^([\w-]{1,32}:[\w+/=-]{43,128}(,[\w-]{1,32}:[\w+/=-]{43,128}){0,3})?$/)),
    "one to four kid:secret, separated by commas, each secret at least 32 bytes in base64",
    "The keys of access tokens. The server signs with the first and accepts the others, so that you can rotate. Production needs them.",
  ),
  accessCodes: text(
    "SERVICE_ACCESS_CODES",
    z.enum(["required", "off"]),
    "required or off",
    "Off lets anybody sign up. Codes that you made stay as they are.",
    "required",
  ),
  network: {
    ...text(
      "SERVICE_CHAIN_NETWORK",
      z.enum(CHAIN_NETWORKS),
      CHAIN_NETWORKS.join(", "),
      "The chain that addresses belong to.",
      "mainnet",
    ),
    inDevelopment: "localnet",
  },
  chainFile: text(
    "SERVICE_CHAIN_FILE",
    z.string().check(z.maxLength(4096)),
    "a file as npm run chain:publish writes it, without API keys",
    "The network of shared vaults. The other SERVICE_CHAIN settings take their values from it, and GET /api/network gives it to anybody who asks.",
  ),
  chainUrl: url(
    "SERVICE_CHAIN_URL",
    "The chain's gRPC node. The server asks it who may use a shared vault. Without it there are no shared vaults.",
  ),
  chainPackage: text(
    "SERVICE_CHAIN_PACKAGE",
    z.string().check(z.regex(/^(0x[0-9a-f]{64})?$/)),
    "0x and 64 lower-case hex digits",
    "The Coffer package on that chain, by the id it was first published under.",
  ),
  chainId: text(
    "SERVICE_CHAIN_ID",
    z.string().check(z.regex(/^([1-9A-HJ-NP-Za-km-z]{32,64})?$/)),
    "a digest in base58, as the network configuration has it in chainId",
    "That chain's id. The server does not believe a node of another chain. Without it, the chain that the node names first counts until the server stops.",
  ),
  corsOrigins: text(
    "SERVICE_CORS_ORIGINS",
    z.string().check(z.maxLength(8192)),
    "origins such as https://console.example.com, separated by commas",
    "The origins of web pages that may call this service from a browser.",
  ),
  trustedProxies: text(
    "SERVICE_TRUSTED_PROXIES",
    z.string().check(z.regex(/^[0-9a-fA-F.:/, ]*$/)),
    "addresses or CIDR blocks, separated by commas",
    "The proxies whose X-Forwarded-For the server believes.",
  ),
  smtpUrl: text(
    "SERVICE_SMTP_URL",
    z.string().check(z.regex(/^(smtps?:\/\/.+)?$/)),
    "an smtp or smtps address",
    "The server that sends mail. Without it, mails are files in the data directory's outbox.",
  ),
  mailFrom: text(
    "SERVICE_MAIL_FROM",
    z.string().check(z.minLength(3), z.maxLength(320), z.regex(/^[^\r\n]+$/)),
    "a mail address",
    "The sender of mails.",
    "Coffer <coffer@localhost>",
  ),
  mailRate: rate(
    "SERVICE_RATE_MAIL",
    5,
    "Requests to forgot-password and resend-verification per 15 minutes and client address.",
  ),
  mailAddressRate: rate("SERVICE_RATE_MAIL_ADDRESS", 3, "Mails of one kind per hour and mail address."),
  loginRate: rate("SERVICE_RATE_LOGIN", 10, "Sign-ins per minute and client address."),
  signInFailures: rate(
    "SERVICE_SIGN_IN_FAILURES",
    5,
    "Wrong passwords for one e-mail before the next attempt has to wait.",
  ),
  signupRate: rate(
    "SERVICE_RATE_SIGNUP",
    10,
    "Sign-ups, code checks and redeemed invites per minute and client address.",
  ),
  idpRate: rate("SERVICE_RATE_IDP", 30, "Requests to the identity provider's routes per minute and client address."),
  anonymousRate: rate(
    "SERVICE_RATE_ANONYMOUS",
    60,
    "Requests without a credential to the other routes of /api/auth, per minute and client address.",
  ),
  refreshRate: rate("SERVICE_RATE_REFRESH", 30, "Refreshes per minute and session."),
  generalRate: rate("SERVICE_RATE_GENERAL", 6000, "Requests per minute and credential."),
  webhookTestRate: rate("SERVICE_RATE_WEBHOOK_TEST", 10, "Webhook tests per minute and endpoint."),
  generalBurst: rate("SERVICE_RATE_GENERAL_BURST", 1000, "Requests of one credential at the same time."),
  idpIssuer: url("SERVICE_IDP_ISSUER", "The OpenID provider. Empty means none."),
  idpClientId: text(
    "SERVICE_IDP_CLIENT_ID",
    z.string().check(z.maxLength(512)),
    "a client id",
    "Your client id at the provider.",
  ),
  idpClientSecret: text(
    "SERVICE_IDP_CLIENT_SECRET",
    z.string().check(z.maxLength(1024)),
    "a client secret",
    "Your client secret at the provider. Empty for a public client.",
  ),
  prover: text(
    "SERVICE_PROVER",
    z.enum(["", "development", "hosted"]),
    "development, hosted or nothing",
    "The prover of zkLogin sign-ins. It must fit SERVICE_CHAIN_NETWORK.",
  ),
  proverUrl: url("SERVICE_PROVER_URL", "The address of the hosted prover."),
  proverApiKey: text(
    "SERVICE_PROVER_API_KEY",
    z.string().check(z.maxLength(1024)),
    "a key",
    "The key for the hosted prover.",
  ),
  paymentSecret: text(
    "SERVICE_PAYMENT_SECRET",
    z.string().check(z.regex(/^(whsec_[A-Za-z0-9+/]{32,128}={0,2})?$/)),
    "whsec_ and 24 or more bytes in base64",
    "The secret that signs the test payment provider's events. Without it, production has no billing.",
  ),
  webhookEndpoints: number("SERVICE_MAX_WEBHOOKS", 20, [1, 1_000_000], "The most webhook endpoints of an account."),
  webhookNetworks: {
    ...text(
      "SERVICE_WEBHOOK_NETWORKS",
      z.string().check(z.regex(/^[0-9a-fA-F.:/, ]*$/)),
      "addresses or CIDR blocks, separated by commas",
      "The networks that webhooks may reach besides public addresses.",
    ),
    inDevelopment: "127.0.0.0/8,::1/128",
  },
  webhookProxy: text(
    "SERVICE_WEBHOOK_PROXY",
    z.string().check(z.regex(/^(https?:\/\/.+)?$/)),
    "an http or https address",
    "The HTTP proxy that every webhook goes through.",
  ),
  webhookConcurrency: number("SERVICE_WEBHOOK_CONCURRENCY", 256, [1, 10_000], "Webhook attempts at the same time."),
  webhookEndpointConcurrency: number(
    "SERVICE_WEBHOOK_ENDPOINT_CONCURRENCY",
    8,
    [1, 10_000],
    "Webhook attempts to one endpoint at the same time.",
  ),
  webhookEndpointRate: number(
    "SERVICE_WEBHOOK_ENDPOINT_RATE",
    20,
    [1, 1_000_000],
    "Webhook attempts to one endpoint per second.",
  ),
  keepVersionsDays: number(
    "SERVICE_KEEP_VERSIONS_DAYS",
    30,
    [1, 365],
    "How many days the replaced versions of a file stay in vaults that say nothing else.",
  ),
  uploadHours: number("SERVICE_UPLOAD_HOURS", 24, [1, 8760], "How many hours a resumable upload lives."),
} as const satisfies Record<string, Variable>;

/** The environment in, one typed configuration out. The words themselves are in config/variables.ts. */
import type { ChainNetwork } from "@coffer/contract";
import { assembleDatabase, type DatabaseConfig } from "./config/database.ts";
import { assembleBlobs, type BlobsConfig } from "./config/blobs.ts";
import { readChainFile } from "./config/chain-file.ts";
import { crossProblems, misspeltProblems, nodeProblems } from "./config/problems.ts";
import { DEVELOPMENT_PAYMENT_SECRET, type JwtKey, readJwtKeys, readMasterKey } from "./config/secrets.ts";
import { type Environment, readValues, splitList, type Values } from "./config/values.ts";

export { type DatabaseConfig, placeOf } from "./config/database.ts";
export { type BlobsConfig, placeOfBlobs, type S3BlobsConfig } from "./config/blobs.ts";
export type { JwtKey } from "./config/secrets.ts";
export { type Environment, findUnread, renderUsage } from "./config/values.ts";
export { isLoopbackHost } from "./config/loopback.ts";

/** What one plan may hold, in bytes. */
export interface PlanLimits {
  readonly fileBytes: number;
  readonly storageBytes: number;
}

/** How often; each number is requests per the window that config/variables.ts names (decisions §2). */
export interface RateSettings {
  readonly mail: number;
  readonly mailAddress: number;
  readonly login: number;
  /** Wrong passwords for one e-mail before the next attempt has to wait. */
  readonly signInFailures: number;
  readonly signup: number;
  readonly idp: number;
  /** For routes of /api/auth that have no bucket of their own. */
  readonly anonymous: number;
  readonly refresh: number;
  readonly general: number;
  readonly generalBurst: number;
  readonly webhookTest: number;
}

/** How deliveries are made (decisions §6). Times in milliseconds. */
export interface WebhookSettings {
  /** Plain http is allowed too. */
  readonly allowHttp: boolean;
  /** CIDR blocks that deliveries may reach besides public addresses. */
  readonly allowedNetworks: readonly string[];
  /** All requests go through this HTTP proxy; null: none. May hold a password. */
  readonly proxyUrl: string | null;
  /** For one attempt, and for its connection. */
  readonly timeout: number;
  readonly connectTimeout: number;
  /** Attempts at once, in this process and to one endpoint. */
  readonly concurrency: number;
  readonly endpointConcurrency: number;
  /** Attempts a second to one endpoint. */
  readonly endpointRate: number;
}

/** The settings of the features. Sizes in bytes, times in milliseconds. */
export interface Settings {
  readonly mode: "development" | "production";
  readonly plans: { readonly free: PlanLimits; readonly pro: PlanLimits };
  readonly limits: {
    readonly jsonBodyBytes: number;
    readonly rawUploadBytes: number;
    readonly resumableUploadBytes: number;
    readonly vaults: number;
    readonly apiKeys: number;
    readonly invites: number;
    readonly webhooks: number;
    /** Rows that one transaction of a large act changes at most: others' writes wait for no more. */
    readonly actRows: number;
  };
  readonly webhooks: WebhookSettings;
  readonly rates: RateSettings;
  /** All processes count them together, in the database. */
  readonly sharesRates: boolean;
  /** Everybody who signs up needs an access code; false: the operator switched them off. */
  readonly accessCodesRequired: boolean;
  /** Chain addresses and their signatures belong to this network. */
  readonly network: ChainNetwork;
  /** The network file as clients get it, byte for byte; null: the operator named none. */
  readonly networkFile: Uint8Array | null;
  /** Development only: an invite may be redeemed without the signature of the chain address. */
  readonly allowUnsignedRedeem: boolean;
  /** Where clients reach the service, without a trailing slash; null: only known for loopback (see http/origin.ts). */
  readonly publicUrl: string | null;
  /** Where links in mails and the identity provider lead: the web application, or this service. Without a trailing slash. */
  readonly appUrl: string;
  /** There is no web application: the service serves the pages that links lead to. */
  readonly servesPages: boolean;
  /** Origins of pages that may call from a browser, as browsers send them. */
  readonly corsOrigins: readonly string[];
  /** CIDR blocks of proxies that the server trusts about X-Forwarded-For. */
  readonly trustedProxies: readonly string[];
  readonly timing: {
    /** A body that brings no byte for this long is given up with 408. */
    readonly idleBody: number;
    /** A JSON body must arrive within this time. */
    readonly jsonBody: number;
    /** How long a resumable upload may take. */
    readonly uploadLifetime: number;
    /** How long a replaced version stays where its vault says nothing else. */
    readonly keepVersions: number;
    /** How long an answer is kept for a repeat with the same Idempotency-Key. */
    readonly idempotency: number;
    /** How long running requests may go on after a stop was asked for. */
    readonly shutdownGrace: number;
    /** How much of that readiness says so before connections are refused. */
    readonly shutdownNotice: number;
    /** How often a running transfer checks that its key is still valid. */
    readonly recheck: number;
    /** How often the last use of keys is written down. */
    readonly lastUsedFlush: number;
  };
  /** Bearer token of /metrics; null: only from loopback. */
  readonly metricsToken: string | null;
}

export type LogLevel = "silent" | "fatal" | "error" | "warn" | "info" | "debug";

/** How mails leave. The address of an SMTP server may hold a password: it is in no log. */
export type MailConfig =
  | { readonly kind: "outbox"; readonly directory: string; readonly from: string }
  | { readonly kind: "smtp"; readonly url: string; readonly from: string };

export interface IdentityProviderConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** null: a public client. */
  readonly clientSecret: string | null;
}

export type ProverConfig =
  | { readonly kind: "development" }
  | { readonly kind: "hosted"; readonly url: string; readonly apiKey: string };

/** The embedded test provider; `secret` signs its events (Standard Webhooks `whsec_`). */
export interface PaymentConfig {
  readonly kind: "test";
  readonly secret: string;
  readonly directory: string;
}

/** The source of vault objects. */
export interface ChainConfig {
  /** Address of the gRPC node, without a trailing slash. */
  readonly url: string;
  /** The id that the Coffer package was first published under: types keep it through upgrades. */
  readonly packageId: string;
  /** Base58 digest of its genesis checkpoint; null: the chain that the node names first, until the process ends. */
  readonly chainId: string | null;
}

/** Everything `startServer` needs. */
export interface Config {
  readonly mode: Settings["mode"];
  readonly secrets: {
    /** 32 bytes: encrypts secrets at rest. */
    readonly masterKey: Uint8Array;
    /** The first signs access tokens, all are accepted. */
    readonly jwtKeys: readonly JwtKey[];
  };
  /** Port 0 asks the system for a free one. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly database: DatabaseConfig;
  readonly blobs: BlobsConfig;
  /** Everything that stays on this machine: the outbox, and which other processes run here. */
  readonly dataDirectory: string;
  readonly mail: MailConfig;
  readonly identityProvider: IdentityProviderConfig | null;
  readonly prover: ProverConfig | null;
  readonly payments: PaymentConfig | null;
  /** null: no shared vaults. */
  readonly chain: ChainConfig | null;
  readonly log: { readonly level: LogLevel };
  readonly settings: Settings;
}

/** Every problem of the environment at once, each with what to do about it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[], heading = "The configuration is not valid") {
    super(`${heading}:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/** Reads a configuration, or throws {@link ConfigError} with every problem. Unset or empty variables take defaults. */
export function parseConfig(environment: Environment): Config {
  const chainFile = readChainFile(environment);
  const { values, problems } = readValues({ ...environment, ...chainFile.settings });
  problems.push(...chainFile.problems);
  problems.push(...crossProblems(values), ...misspeltProblems(environment), ...nodeProblems(environment));
  if (problems.length > 0) throw new ConfigError(problems);
  return assemble(values as Values, chainFile.bytes);
}

function assemble(values: Values, networkFile: Uint8Array | null): Config {
  const directory = values.dataDirectory;
  return {
    mode: values.mode,
    secrets: {
      masterKey: readMasterKey(values),
      jwtKeys: readJwtKeys(values),
    },
    listen: { host: values.host, port: values.port },
    database: assembleDatabase(values),
    blobs: assembleBlobs(values),
    dataDirectory: directory,
    ...assembleDrivers(values),
    chain: assembleChain(values),
    log: { level: values.logLevel },
    settings: { ...assembleSettings(values), networkFile },
  };
}

/** The same service with its rows in SQLite and its contents on the disk, in that directory. */
export function onDirectory(config: Config, directory: string): Config {
  const reserveBytes = config.blobs.kind === "disk" ? config.blobs.reserveBytes : 0;
  return {
    ...config,
    dataDirectory: directory,
    database: { kind: "sqlite", path: `${directory}/coffer.sqlite` },
    blobs: { kind: "disk", directory: `${directory}/blobs`, reserveBytes },
  };
}

function assembleChain({ chainUrl: url, chainPackage: packageId, chainId }: Values): ChainConfig | null {
  return url === "" ? null : { url, packageId, chainId: chainId === "" ? null : chainId };
}

function assembleDrivers(values: Values): Pick<Config, "mail" | "identityProvider" | "prover" | "payments"> {
  const { dataDirectory, smtpUrl, mailFrom, idpIssuer, idpClientId, idpClientSecret, prover } = values;
  const fallback = values.mode === "development" ? DEVELOPMENT_PAYMENT_SECRET : "";
  const secret = values.paymentSecret === "" ? fallback : values.paymentSecret;
  return {
    mail:
      smtpUrl === ""
        ? { kind: "outbox", directory: `${dataDirectory}/outbox`, from: mailFrom }
        : { kind: "smtp", url: smtpUrl, from: mailFrom },
    identityProvider:
      idpIssuer === ""
        ? null
        : { issuer: idpIssuer, clientId: idpClientId, clientSecret: idpClientSecret === "" ? null : idpClientSecret },
    prover:
      prover === ""
        ? null
        : prover === "development"
          ? { kind: prover }
          : { kind: prover, url: values.proverUrl, apiKey: values.proverApiKey },
    payments: secret === "" ? null : { kind: "test", secret, directory: `${dataDirectory}/payments` },
  };
}

function assembleSettings(values: Values): Omit<Settings, "networkFile"> {
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
      invites: values.invites,
      webhooks: values.webhookEndpoints,
      actRows: 500,
    },
    webhooks: {
      allowHttp: values.mode === "development",
      allowedNetworks: splitList(values.webhookNetworks),
      proxyUrl: values.webhookProxy === "" ? null : values.webhookProxy,
      timeout: 15_000,
      connectTimeout: 5_000,
      concurrency: values.webhookConcurrency,
      endpointConcurrency: values.webhookEndpointConcurrency,
      endpointRate: values.webhookEndpointRate,
    },
    rates: assembleRates(values),
    sharesRates: values.rateLimits === "shared",
    accessCodesRequired: values.accessCodes === "required",
    network: values.network,
    allowUnsignedRedeem: values.allowUnsignedRedeem === "1",
    publicUrl: values.publicUrl === "" ? null : values.publicUrl,
    appUrl: [values.appUrl, values.publicUrl].find((url) => url !== "") ?? ownAddressOf(values),
    servesPages: values.appUrl === "",
    corsOrigins: splitList(values.corsOrigins),
    trustedProxies: splitList(values.trustedProxies),
    timing: assembleTiming(values),
    metricsToken: values.metricsToken === "" ? null : values.metricsToken,
  };
}

function assembleTiming(values: Values): Settings["timing"] {
  return {
    idleBody: values.idleSeconds * 1000,
    jsonBody: 30_000,
    uploadLifetime: values.uploadHours * 3_600_000,
    keepVersions: values.keepVersionsDays * 86_400_000,
    idempotency: 24 * 3_600_000,
    shutdownGrace: values.graceSeconds * 1000,
    shutdownNotice: values.noticeSeconds * 1000,
    recheck: 4_000,
    lastUsedFlush: 60_000,
  };
}

function assembleRates(values: Values): RateSettings {
  return {
    mail: values.mailRate,
    mailAddress: values.mailAddressRate,
    login: values.loginRate,
    signInFailures: values.signInFailures,
    signup: values.signupRate,
    idp: values.idpRate,
    anonymous: values.anonymousRate,
    refresh: values.refreshRate,
    general: values.generalRate,
    generalBurst: values.generalBurst,
    webhookTest: values.webhookTestRate,
  };
}

/** For development, where nobody said how the service is reached: as it listens. */
function ownAddressOf({ host, port }: Values): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

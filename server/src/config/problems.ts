/** What variables mean together: combinations that must not start, each with what to do about it. */
import ipaddr from "ipaddr.js";
import { databaseProblems } from "./database.ts";
import { blobProblems } from "./blobs.ts";
import { isLoopbackHost } from "./loopback.ts";
import { readSmtpUrl, SMTP_URL_EXPECTED } from "./smtp-url.ts";
import { decodeMasterKey, isGuessable, isOfDevelopment, readJwtKeys } from "./secrets.ts";
import { type Environment, findMisspelt, splitList, type Values } from "./values.ts";
import { VARIABLES } from "./variables.ts";

const MIN_JWT_SECRET_BYTES = 32;

/** Looks only at values that could be read: the others have their own problem. */
export function crossProblems(values: Partial<Values>): string[] {
  return [
    ...secretProblems(values),
    ...guessableProblems(values),
    ...exposureProblems(values),
    ...inviteProblems(values),
    ...corsProblems(values),
    ...trustedProxyProblems(values),
    ...webhookProblems(values),
    ...mailProblems(values),
    ...appProblems(values),
    ...identityProviderProblems(values),
    ...proverProblems(values),
    ...chainProblems(values),
    ...databaseProblems(values),
    ...blobProblems(values),
  ];
}

/** Node reads it for every connection of the process: to the database, the store, the chain and whoever else. */
export function nodeProblems(environment: Readonly<Record<string, string | undefined>>): string[] {
  if (environment["NODE_TLS_REJECT_UNAUTHORIZED"] !== "0") return [];
  return [
    "NODE_TLS_REJECT_UNAUTHORIZED: 0 lets anybody answer for the database and the store; leave it out. Name your own authority with sslrootcert, SERVICE_BLOBS_CA_FILE or NODE_EXTRA_CA_CERTS",
  ];
}

function secretProblems({ mode, masterKey, jwtKeys }: Partial<Values>): string[] {
  const problems: string[] = [];
  if (masterKey !== undefined && masterKey !== "" && decodeMasterKey(masterKey) === null) {
    problems.push(`SERVICE_MASTER_KEY: expected ${VARIABLES.masterKey.expects}`);
  }
  const keys = jwtKeys === undefined ? [] : readJwtKeys({ jwtKeys });
  if (keys.some(({ secret }) => secret.length < MIN_JWT_SECRET_BYTES)) {
    problems.push(`SERVICE_JWT_KEYS: expected ${VARIABLES.jwtKeys.expects}`);
  }
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) {
    problems.push("SERVICE_JWT_KEYS: each key needs a name of its own, by which its tokens find it");
  }
  if (mode !== "production") return problems;
  if (masterKey === "") {
    problems.push(
      "SERVICE_MASTER_KEY: production needs it; make one with `openssl rand -hex 32`, or set SERVICE_ENV=development",
    );
  }
  if (jwtKeys === "") {
    problems.push("SERVICE_JWT_KEYS: production needs it; make one with `echo k1:$(openssl rand -base64 32)`");
  }
  return problems;
}

/** Keys of zeros, patterns, and those of development: whoever guesses one reads or signs everything that it protects. */
function guessableProblems(values: Partial<Values>): string[] {
  const { mode, masterKey = "", jwtKeys = "", metricsToken = "", paymentSecret = "" } = values;
  if (mode !== "production") return [];
  const master = decodeMasterKey(masterKey);
  const jwt = readJwtKeys({ jwtKeys }).map(({ secret }) => secret);
  const secrets = {
    SERVICE_MASTER_KEY: master === null ? [] : [master],
    SERVICE_JWT_KEYS: jwtKeys === "" ? [] : jwt,
    SERVICE_METRICS_TOKEN: metricsToken === "" ? [] : [Buffer.from(metricsToken)],
    SERVICE_PAYMENT_SECRET: paymentSecret === "" ? [] : [Buffer.from(paymentSecret.replace("whsec_", ""), "base64")],
  };
  const problems = Object.entries(secrets).flatMap(([name, given]) =>
    given.some((secret) => isGuessable(secret) || isOfDevelopment(secret))
      ? [`${name}: anybody can guess it; make one with \`openssl rand\``]
      : [],
  );
  if (master !== null && jwt.some((secret) => Buffer.compare(secret, master) === 0))
    problems.push("SERVICE_JWT_KEYS: needs a secret of its own, not that of SERVICE_MASTER_KEY");
  return problems;
}

/** A setting with a slip in its name would be ignored, and a default would hold without a word. */
export function misspeltProblems(environment: Environment): string[] {
  return findMisspelt(environment).map(([name, meant]) => `${name}: there is no such setting; did you mean ${meant}?`);
}

function exposureProblems({ mode, host, allowInsecure }: Partial<Values>): string[] {
  if (mode !== "development" || allowInsecure === "1" || isLoopbackHost(host ?? "")) return [];
  return [
    "SERVICE_HOST: development lets every caller act as a user; listen on 127.0.0.1, or set SERVICE_ALLOW_INSECURE_DEV=1",
  ];
}

function chainProblems({ mode, network, chainUrl, chainPackage, chainId }: Partial<Values>): string[] {
  const problems: string[] = [];
  if (chainUrl !== undefined && chainUrl !== "" && chainPackage === "")
    problems.push("SERVICE_CHAIN_PACKAGE: SERVICE_CHAIN_URL needs it; it is the original package id on that network");
  if (chainUrl === "" && chainPackage !== undefined && chainPackage !== "")
    problems.push(
      "SERVICE_CHAIN_URL: SERVICE_CHAIN_PACKAGE needs it; it is the address of a gRPC node of that network",
    );
  if (chainUrl === "" && chainId !== undefined && chainId !== "")
    problems.push("SERVICE_CHAIN_URL: SERVICE_CHAIN_ID needs it; it is the address of a gRPC node of that chain");
  if (mode === "production" && network === "localnet" && chainUrl !== undefined && chainUrl !== "")
    problems.push("SERVICE_CHAIN_NETWORK: the local chain is for development; set testnet or mainnet");
  // Anybody who can answer for the chain decides who is a member. Nobody on the way may do that (OWASP ASVS 5.0
  // §12.2).
  const chain = URL.parse(chainUrl ?? "");
  if (mode === "production" && chain?.protocol === "http:" && !isLoopbackHost(chain.hostname))
    problems.push("SERVICE_CHAIN_URL: production reads the chain over https, or from a node on this machine");
  return problems;
}

function inviteProblems({ mode, allowUnsignedRedeem }: Partial<Values>): string[] {
  if (mode !== "production" || allowUnsignedRedeem !== "1") return [];
  return ["SERVICE_ALLOW_UNSIGNED_REDEEM: production binds every agent's key to an address that signed; leave it out"];
}

/** In the form that browsers send, or none would ever match. By name, since a named origin can do what its visitors' keys can. */
function corsProblems({ mode, corsOrigins }: Partial<Values>): string[] {
  return splitList(corsOrigins ?? "").flatMap((origin, index) => {
    const entry = `SERVICE_CORS_ORIGINS: entry ${index + 1}`;
    const url = URL.parse(origin);
    if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== origin)
      return [
        `${entry} is no origin; write scheme, host and port as in https://console.example.com, with no path and no *`,
      ];
    // What comes over plain http can be another's page on the way.
    const inTheClear = mode === "production" && isInTheClear(origin);
    return inTheClear ? [`${entry} is not https; production takes http from this machine only`] : [];
  });
}

/** Everybody as a proxy would let every caller choose its own address (GHSA-3m5p-2c4r-xxw2). */
function trustedProxyProblems({ trustedProxies }: Partial<Values>): string[] {
  return splitList(trustedProxies ?? "").flatMap((block, index) => {
    const range = parseBlock(block);
    const entry = `SERVICE_TRUSTED_PROXIES: entry ${index + 1}`;
    if (range === null) return [`${entry} is neither an address nor a CIDR block`];
    return range === 0 ? [`${entry} covers every address; name the proxies' own addresses`] : [];
  });
}

/** The proxy's address may hold a password and is not repeated. */
function webhookProblems({ mode, webhookNetworks, webhookProxy }: Partial<Values>): string[] {
  const problems = splitList(webhookNetworks ?? "").flatMap((block, index) => {
    const range = parseBlock(block);
    const entry = `SERVICE_WEBHOOK_NETWORKS: entry ${index + 1}`;
    if (range === null) return [`${entry} is neither an address nor a CIDR block`];
    const opensAll = range === 0 && mode === "production";
    return opensAll ? [`${entry} lets anyone's webhook into your network; name the receivers' own networks`] : [];
  });
  if (webhookProxy !== undefined && webhookProxy !== "" && URL.parse(webhookProxy) === null) {
    problems.push(`SERVICE_WEBHOOK_PROXY: expected ${VARIABLES.webhookProxy.expects}`);
  }
  return problems;
}

/** The length of the block's prefix in bits; null for text that is not a block. */
function parseBlock(block: string): number | null {
  const [address = "", ...rest] = block.split("/");
  const bits = ipaddr.IPv4.isValidFourPartDecimal(address) ? 32 : ipaddr.IPv6.isValid(address) ? 128 : null;
  if (bits === null || rest.length > 1) return null;
  const [prefix = String(bits)] = rest;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits ? Number(prefix) : null;
}

function mailProblems({ smtpUrl }: Partial<Values>): string[] {
  if (smtpUrl === undefined || smtpUrl === "" || readSmtpUrl(smtpUrl) !== null) return [];
  return [`SERVICE_SMTP_URL: expected ${SMTP_URL_EXPECTED}`];
}

/** Without either, links and redirects lead to the machine of the person who follows them. */
function appProblems({ mode, appUrl, publicUrl }: Partial<Values>): string[] {
  if (mode !== "production" || appUrl !== "" || publicUrl !== "") return [];
  return [
    "SERVICE_PUBLIC_URL: links in mails lead to pages of this service; say where it is reached, or set SERVICE_APP_URL to a web application",
  ];
}

function identityProviderProblems({ idpIssuer, idpClientId }: Partial<Values>): string[] {
  if (idpIssuer === undefined || idpIssuer === "") return [];
  const problems: string[] = [];
  if (idpClientId === "") problems.push("SERVICE_IDP_CLIENT_ID: the identity provider needs it");
  if (isInTheClear(idpIssuer))
    problems.push("SERVICE_IDP_ISSUER: tokens travel there; use https, http is for loopback");
  return problems;
}

/** http to another machine. */
function isInTheClear(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === "http:" && !isLoopbackHost(url.hostname);
}

/**
 * Specification §5.5: a mismatch between network and prover silently yields proofs that the verifier rejects. Here it is
 * an error at start.
 */
function proverProblems(values: Partial<Values>): string[] {
  const { mode, prover, network, proverUrl, proverApiKey, idpIssuer = "" } = values;
  if (prover === undefined) return [];
  const isOpen = mode === "production" && network !== "localnet";
  // Specification §5.5: production uses a hosted prover. Without one, a user who signs in with zkLogin could sign
  // nothing.
  if (prover === "" && isOpen && idpIssuer !== "")
    return [
      `SERVICE_PROVER: production with an identity provider needs a hosted prover on ${network ?? "this network"}; set SERVICE_PROVER=hosted, SERVICE_PROVER_URL and SERVICE_PROVER_API_KEY`,
    ];
  if (prover === "") return [];
  const problems: string[] = [];
  if (prover === "development" && mode === "production" && network === "localnet")
    problems.push("SERVICE_PROVER: the development prover is for development; set SERVICE_ENV=development");
  if (idpIssuer === "")
    problems.push("SERVICE_PROVER: proofs are of an identity provider's tokens; set SERVICE_IDP_ISSUER");
  if (prover === "development" && network !== "localnet") {
    problems.push(
      `SERVICE_PROVER: ${network ?? "this network"} rejects the development prover's proofs; set SERVICE_PROVER=hosted or SERVICE_CHAIN_NETWORK=localnet`,
    );
  }
  if (prover === "hosted") {
    if (network === "localnet") {
      problems.push("SERVICE_PROVER: localnet rejects a hosted prover's proofs; set SERVICE_PROVER=development");
    }
    if (proverUrl === "") problems.push("SERVICE_PROVER_URL: the hosted prover needs it");
    if (isInTheClear(proverUrl ?? "")) {
      problems.push("SERVICE_PROVER_URL: tokens and salts travel there; use https, http is for loopback");
    }
    if (proverApiKey === "") problems.push("SERVICE_PROVER_API_KEY: the hosted prover needs it");
  }
  return problems;
}

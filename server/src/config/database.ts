/** Where the rows are: a file of SQLite in the data directory, or a PostgreSQL that many processes share. */
import { isLoopbackHost } from "./loopback.ts";
import type { Values } from "./values.ts";

export interface PostgresConfig {
  readonly kind: "postgres";
  /** May hold a password: it is in no log. */
  readonly url: string;
  /** Past a pooler, for what needs a session of its own; null: there is none, and changes of other processes are polled for. */
  readonly directUrl: string | null;
  readonly connections: number;
  /** False: a pooler in transaction mode is in between. */
  readonly sessions: boolean;
}

export type DatabaseConfig = { readonly kind: "sqlite"; readonly path: string } | PostgresConfig;

type Wanted = Pick<
  Values,
  "dataDirectory" | "databaseUrl" | "databaseDirectUrl" | "databaseConnections" | "databasePooler"
>;

export function assembleDatabase(values: Wanted): DatabaseConfig {
  const { databaseUrl: url, databaseDirectUrl: direct, databaseConnections: connections } = values;
  if (url === "") return { kind: "sqlite", path: `${values.dataDirectory}/coffer.sqlite` };
  const sessions = values.databasePooler === "none";
  return { kind: "postgres", url, directUrl: direct !== "" ? direct : sessions ? url : null, connections, sessions };
}

/** What an operator may read of it: no user and no password. */
export function placeOf(database: DatabaseConfig): string {
  if (database.kind === "sqlite") return database.path;
  const { host, pathname, searchParams } = new URL(database.url);
  return `${searchParams.get("host") ?? host}${pathname}`;
}

const EXPECTED = "an address such as postgres://user:password@host:5432/coffer?sslmode=verify-full";

/** The addresses may hold passwords and are not repeated. */
export function databaseProblems({ mode, ...values }: Partial<Values>): string[] {
  const { databaseUrl = "", databaseDirectUrl = "", databasePooler, rateLimits } = values;
  const problems = [
    ...addressProblems("SERVICE_DATABASE_URL", databaseUrl, mode),
    ...addressProblems("SERVICE_DATABASE_DIRECT_URL", databaseDirectUrl, mode),
  ];
  if (databaseUrl !== "") return problems;
  if (databaseDirectUrl !== "") problems.push("SERVICE_DATABASE_URL: SERVICE_DATABASE_DIRECT_URL needs it");
  if (databasePooler === "transaction") problems.push("SERVICE_DATABASE_URL: SERVICE_DATABASE_POOLER needs it");
  if (rateLimits === "shared")
    problems.push("SERVICE_DATABASE_URL: SERVICE_RATE_LIMITS=shared counts in PostgreSQL and needs it");
  return problems;
}

function addressProblems(name: string, value: string, mode: Values["mode"] | undefined): string[] {
  if (value === "") return [];
  const url = URL.parse(value);
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol) || url.pathname.length < 2)
    return [`${name}: expected ${EXPECTED}`];
  const host = url.searchParams.get("host") ?? url.hostname;
  const isHere = host.startsWith("/") || isLoopbackHost(host);
  // Everybody's rows travel there; the other modes of PostgreSQL's clients accept any certificate, or none.
  if (mode === "production" && !isHere && url.searchParams.get("sslmode") !== "verify-full")
    return [
      `${name}: rows would travel there without TLS, or to anybody who answers; add ?sslmode=verify-full, and &sslrootcert=FILE for a certificate authority of your own`,
    ];
  return [];
}

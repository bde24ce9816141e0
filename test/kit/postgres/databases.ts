/** TEST ONLY: databases of the run's cluster, empty or with the newest schema. */
import { randomUUID } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { MIGRATIONS } from "@coffer/server/schema/migrate";
import { openDatabase } from "@coffer/server/storage";
import { Client } from "pg";
import { type Cluster, joinCluster } from "@coffer/devstack/engines";
import { addressFile, addressIn } from "./address.ts";

export interface OwnDatabase extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
  /** Runs a statement on it, as an operator would. */
  run(text: string): Promise<void>;
}

/** With the newest schema and nothing in them. To empty one takes a tenth of the time of making one. */
const unused: string[] = [];

export async function createDatabase(state: "empty" | "migrated" = "empty"): Promise<OwnDatabase> {
  const cluster = await joinCluster();
  if (state === "empty") {
    const name = await createFrom(cluster, "template0");
    return own(cluster, name, () => cluster.run(`DROP DATABASE ${name} WITH (FORCE)`));
  }
  const name = unused.pop() ?? (await createFrom(cluster, await provideTemplate(cluster)));
  return own(cluster, name, async () => {
    await cluster.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    if (await clear(cluster.urlOf(name))) unused.push(name);
    else await cluster.run(`DROP DATABASE ${name}`);
  });
}

/** Those of this process, with their directories: when a directory is gone, nobody needs its database. */
const ofDirectories = new Map<string, OwnDatabase>();
let given = 0;

/** How many directories of this process got one. */
export const databasesGiven = (): number => given;

/** The address of the directory's database; one with the newest schema if it has none yet. */
export async function databaseIn(directory: string): Promise<string> {
  const known = addressIn(directory);
  if (known !== null) return known;
  for (const [of, database] of ofDirectories) {
    if (existsSync(addressFile(of))) continue;
    ofDirectories.delete(of);
    await database[Symbol.asyncDispose]();
  }
  const database = await createDatabase("migrated");
  given += 1;
  ofDirectories.set(directory, database);
  writeFileSync(addressFile(directory), database.url);
  return database.url;
}

function own(cluster: Cluster, name: string, dispose: () => Promise<void>): OwnDatabase {
  const url = cluster.urlOf(name);
  const run = (text: string) =>
    within(url, async (client) => {
      await client.query(text);
    });
  return { name, url, run, [Symbol.asyncDispose]: dispose };
}

async function createFrom(cluster: Cluster, template: string): Promise<string> {
  const name = `t_${randomUUID().replaceAll("-", "")}`;
  await cluster.run(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  return name;
}

let template: Promise<string> | null = null;

/** One in each run: the processes of the run ask for it under a lock. */
function provideTemplate(cluster: Cluster): Promise<string> {
  return (template ??= within(cluster.urlOf("postgres"), async (client) => {
    const name = "migrated";
    await client.query("SELECT pg_advisory_lock(1)");
    const known = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
    if (known.rowCount === 1) return name;
    await client.query(`CREATE DATABASE making_${name} TEMPLATE template0`);
    const url = cluster.urlOf(`making_${name}`);
    const database = { kind: "postgres", url, directUrl: null, connections: 2, sessions: true } as const;
    // With the newest schema once it is open.
    await (await openDatabase({ database }))[Symbol.asyncDispose]();
    await client.query(`ALTER DATABASE making_${name} RENAME TO ${name}`);
    return name;
  }));
}

/** Runs one statement past foreign keys and triggers, and answers how many rows it met. Write `?` for each value. */
export function alterRows(url: string, text: string, values: readonly (string | number)[] = []): Promise<number> {
  return within(url, async (client) => {
    await client.query("SET session_replication_role = replica");
    return (await client.query(numbered(text), [...values])).rowCount ?? 0;
  });
}

/** The rows that one statement finds. Write `?` for each value. */
export function findRows(
  url: string,
  text: string,
  values: readonly (string | number)[],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return within(url, async (client) => (await client.query(numbered(text), [...values])).rows);
}

function numbered(text: string): string {
  let number = 0;
  return text.replaceAll("?", () => `$${String((number += 1))}`);
}

/** Every row of every table as text, one a line: what a backup holds. */
export function readAllRows(url: string): Promise<string> {
  return within(url, async (client) => {
    const lines: string[] = [];
    for (const table of await tablesOf(client)) {
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${table} AS t`);
      lines.push(...rows.map(({ row }) => row));
    }
    return lines.join("\n");
  });
}

async function tablesOf(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'",
  );
  return rows.map(({ name }) => name);
}

/**
 * Removes every row but those that say which steps the schema has taken. Nothing refers to anything while it goes. False: a test has
 * altered those.
 */
function clear(url: string): Promise<boolean> {
  return within(url, async (client) => {
    const steps = await client
      .query<{ steps: string }>("SELECT count(*) AS steps FROM migrations")
      .then(({ rows: [row] }) => Number(row?.steps))
      .catch(() => 0);
    if (steps !== MIGRATIONS.length) return false;
    const deletions = (await tablesOf(client)).map((table) => `DELETE FROM ${table}`);
    await client.query(["SET session_replication_role = replica", ...deletions].join(";"));
    return true;
  });
}

async function within<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

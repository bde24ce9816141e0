/** What the model and the page need of this machine: times of requests, commits a second, and bytes of rows. */
import { availableParallelism } from "node:os";
import { Client } from "pg";
import { startEngine } from "../engine.ts";
import { processorSeconds, wrk } from "../machine.ts";
import { openScratch, type Service, startService, storeFile } from "../service.ts";

export interface Times {
  readonly cores: number;
  /** Microseconds of processor for one request: a GET of a file's metadata, and an upload of 1 KiB. */
  readonly node: { readonly read: number; readonly write: number };
  readonly database: { readonly read: number; readonly write: number };
  /** Each in a second, through one process. */
  readonly reads: number;
  readonly uploads: number;
  readonly uploadsOfOneAccount: number;
  /** Statements that write one row, on connections side by side: with their own rows, and with one row for all. */
  readonly commits: { readonly one: number; readonly sixteen: number; readonly hotRow: number };
  /** Transactions of the database for one upload. */
  readonly transactions: number;
}

export interface TableSize {
  readonly rows: number;
  readonly tableBytes: number;
  readonly indexBytes: number;
}

export type Sizes = Readonly<Record<string, TableSize>>;

/** Unlike the clusters of tests, this one keeps what it acknowledges. */
const DURABLE = ["fsync=on", "full_page_writes=on", "shared_buffers=256MB", "max_wal_size=4GB"];
const ACCOUNTS = 16;
const SECONDS = 4;
const FILES = 1000;

async function upload({ baseUrl }: Service, key: string, name: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const body = new Uint8Array(1024);
  const answer = await fetch(`${baseUrl}/api/files?name=${name}`, { method: "POST", headers, body });
  await answer.arrayBuffer();
  if (answer.status !== 201) throw new Error(`the upload answered ${String(answer.status)}`);
}

/** How many calls there were in a second, by so many callers. */
async function side(callers: number, call: (caller: number, number: number) => Promise<unknown>): Promise<number> {
  let calls = 0;
  const began = performance.now();
  const until = began + SECONDS * 1000;
  const work = async (caller: number): Promise<void> => {
    for (let number = 0; performance.now() < until; number += 1, calls += 1) await call(caller, number);
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)));
  return (calls / (performance.now() - began)) * 1000;
}

export async function measureTimes(): Promise<Times> {
  await using scratch = await openScratch();
  await using engine = await startEngine(DURABLE);
  const url = await engine.make("service");
  await using service = await startService(scratch.directory, ACCOUNTS, { SERVICE_DATABASE_URL: url });
  const file = await storeFile(service, "read.bin");
  const spent = () => ({ node: processorSeconds(service.pid), database: engine.seconds() });
  const each = (before: ReturnType<typeof spent>, count: number) => {
    const after = spent();
    const per = (part: "node" | "database") => ((after[part] - before[part]) / count) * 1e6;
    return { node: per("node"), database: per("database") };
  };
  const target = [`${service.baseUrl}/api/files/${file}`, [`authorization: Bearer ${service.readKey}`]] as const;
  await wrk(1, ...target);
  let before = spent();
  const reads = await wrk(SECONDS, ...target);
  const read = each(before, reads);
  await side(ACCOUNTS, (caller, number) => upload(service, service.keys[caller] ?? "", `warm-${String(number)}`));
  before = spent();
  const began = await transactionsOf(url);
  const uploads = await side(ACCOUNTS, (caller, at) =>
    upload(service, service.keys[caller] ?? "", `many-${String(at)}`),
  );
  const write = each(before, uploads * SECONDS);
  const transactions = ((await transactionsOf(url)) - began) / (uploads * SECONDS);
  const [key = ""] = service.keys;
  const uploadsOfOneAccount = await side(8, (caller, at) =>
    upload(service, key, `one-${String(caller)}-${String(at)}`),
  );
  return {
    cores: availableParallelism(),
    node: { read: read.node, write: write.node },
    database: { read: read.database, write: write.database },
    ...{ reads: reads / SECONDS, uploads, uploadsOfOneAccount, transactions },
    commits: await measureCommits(url),
  };
}

async function within<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  // Its queries say it as well.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function transactionsOf(url: string): Promise<number> {
  return within(url, async (client) => {
    // Sessions report what they counted once in a while.
    await client.query("select pg_sleep(1.5)");
    const { rows } = await client.query<{ count: string }>(
      "select xact_commit as count from pg_stat_database where datname = current_database()",
    );
    return Number(rows[0]?.count);
  });
}

async function measureCommits(url: string): Promise<Times["commits"]> {
  await within(url, (client) =>
    client.query("create table counted as select n as id, 0 as value from generate_series(0, 15) as n"),
  );
  const clients = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const client = new Client({ connectionString: url });
      await client.connect();
      return client;
    }),
  );
  const text = "update counted set value = value + 1 where id = $1";
  const raise = (row: (caller: number) => number) => (caller: number) =>
    clients[caller]?.query({ name: "raise", text, values: [row(caller)] }) ?? Promise.resolve();
  const one = await side(
    1,
    raise(() => 0),
  );
  const sixteen = await side(
    16,
    raise((caller) => caller),
  );
  const hotRow = await side(
    16,
    raise(() => 0),
  );
  await Promise.all(clients.map((client) => client.end()));
  return { one, sixteen, hotRow };
}

/** What differs between two rows, by the column. The others are those of rows that the service wrote. */
const COPIED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  files: {
    ...{ id: "gen_random_uuid()::text", version_id: "gen_random_uuid()::text", blob_key: "gen_random_uuid()::text" },
    ...{ name: "name || '-' || n", search_id: "search_id + n * 10000000", created_at: "created_at + n" },
  },
  changes: { id: "gen_random_uuid()::text", sequence: "sequence + n * 100000", occurred_at: "occurred_at + n" },
  file_terms: { search_id: "search_id + n * 10000000" },
};

/** Bytes of the tables that grow with the files, with so many of them: rows that the service wrote, and copies of those. */
export async function measureSizes(files: number): Promise<Sizes> {
  await using scratch = await openScratch();
  await using engine = await startEngine(["max_wal_size=4GB", "autovacuum=off"]);
  const url = await engine.make("service");
  await using service = await startService(scratch.directory, 1, { SERVICE_DATABASE_URL: url });
  for (let number = 0; number < FILES; number += 1)
    await upload(service, service.keys[0] ?? "", `quarterly report ${String(number)} of the north.pdf`);
  // Names come into the index when somebody searches.
  await fetch(`${service.baseUrl}/api/files/search?q=report`, {
    headers: { authorization: `Bearer ${service.keys[0] ?? ""}` },
  });
  return await within(url, async (client) => {
    await client.query("set session_replication_role = replica");
    const sizes: Record<string, TableSize> = {};
    for (const [table, changed] of Object.entries(COPIED)) {
      const { rows } = await client.query<{ name: string }>(
        "select column_name as name from information_schema.columns where table_name = $1 and is_generated = 'NEVER'",
        [table],
      );
      const names = rows.map(({ name }) => name);
      const values = names.map((name) => changed[name] ?? name);
      const copies = Math.round(files / FILES) - 1;
      await client.query(
        `insert into ${table} (${names.join(", ")}) select ${values.join(", ")} from ${table}, generate_series(1::bigint, ${String(copies)}) as n`,
      );
      sizes[table] = await sizeOf(client, table);
    }
    return sizes;
  });
}

async function sizeOf(client: Client, table: string): Promise<TableSize> {
  await client.query(`vacuum analyze ${table}`);
  const { rows } = await client.query<{ rows: string; table: string; indexes: string }>(
    `select (select count(*) from ${table}) as rows, pg_table_size('${table}') as table, pg_indexes_size('${table}') as indexes`,
  );
  return { rows: Number(rows[0]?.rows), tableBytes: Number(rows[0]?.table), indexBytes: Number(rows[0]?.indexes) };
}

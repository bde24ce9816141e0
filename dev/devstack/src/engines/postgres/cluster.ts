/**
 * TEST ONLY: a PostgreSQL of this run's own, on a Unix socket. The first who asks starts it, and every test file of the run shares it; each has
 * databases of its own. It ends with the run, also when that is killed (`serve.sh`).
 */
import { spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { freePort } from "../daemons.ts";
import { findEngine, plainUser } from "./engine.ts";

export interface Cluster {
  /** The directory of the socket. */
  readonly directory: string;
  /** The address of one of its databases, for a server. */
  urlOf(database: string): string;
  /** Runs a statement on the cluster's own database. */
  run(text: string): Promise<void>;
}

/** Quick and forgetful: nothing of it outlives the run. */
const SETTINGS = [
  "fsync=off",
  "full_page_writes=off",
  "max_connections=300",
  "shared_buffers=64MB",
  "max_wal_size=512MB",
];
const DEFAULT_PORT = 5432;
/** A busy machine takes seconds to make a cluster. */
const PATIENCE = 120_000;

let joined: Promise<Cluster> | null = null;

/** The cluster of the run: of the process that runs the test files, or of this one. */
export function joinCluster(): Promise<Cluster> {
  return (joined ??= joinOrStart());
}

async function joinOrStart(): Promise<Cluster> {
  const owner = process.env["VITEST"] === undefined ? process.pid : process.ppid;
  const directory = join(realpathSync(tmpdir()), `coffer-pg-${owner}-${startOf(owner)}`);
  const starts = makes(directory);
  if (starts) startCluster(directory, owner);
  const cluster = clusterAt(directory);
  await ready(cluster);
  return cluster;
}

/** Serves a new cluster in the empty directory until `owner` has ended. */
export function startCluster(
  directory: string,
  owner: number,
  settings: readonly string[] = SETTINGS,
  named?: string,
): number {
  const { bin, user, environment } = findEngine(directory, named);
  const words = [bin, directory, String(owner), ...settings.flatMap((setting) => ["-c", setting])];
  const script = new URL("serve.sh", import.meta.url).pathname;
  const child = spawn("/bin/sh", [script, ...words], {
    ...(user ?? {}),
    detached: true,
    stdio: "ignore",
    env: environment,
  });
  child.unref();
  if (child.pid === undefined) throw new Error("no shell could be started");
  return child.pid;
}

/** PEM. */
export interface ServerCertificate {
  readonly key: string;
  readonly cert: string;
}

export interface ClusterOptions {
  /** It also listens on `port` of 127.0.0.1, with TLS. */
  readonly certificate?: ServerCertificate;
  /** More of the server's, such as `fsync=on`: the later one of a name counts. */
  readonly settings?: readonly string[];
  /** The directory of another engine's programs. */
  readonly bin?: string;
}

/** A cluster of the test's own, which it may restart; it ends with the test. */
export async function openCluster({ certificate, settings = [], bin }: ClusterOptions = {}): Promise<
  Cluster & AsyncDisposable & { readonly port: number; restart(): void }
> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "coffer-pg-")));
  const port = certificate === undefined ? DEFAULT_PORT : await freePort();
  const tls = certificate === undefined ? [] : tlsSettings(directory, port, certificate);
  const pid = startCluster(directory, process.pid, [...SETTINGS, ...settings, ...tls], bin);
  const cluster = clusterAt(directory, port);
  await ready(cluster);
  return {
    ...cluster,
    port,
    restart: () => void process.kill(pid, "SIGUSR1"),
    async [Symbol.asyncDispose]() {
      process.kill(pid, "SIGTERM");
      for (let left = PATIENCE; left > 0 && existsSync(directory); left -= 50) await sleep(50);
    },
  };
}

/** The server reads its key only from a file that nobody else may read. */
function tlsSettings(directory: string, port: number, { key, cert }: ServerCertificate): string[] {
  const user = plainUser();
  const write = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (user !== null) chownSync(path, user.uid, user.gid);
    return path;
  };
  const files = [`ssl_cert_file=${write("server.crt", cert)}`, `ssl_key_file=${write("server.key", key)}`];
  return ["listen_addresses=127.0.0.1", `port=${String(port)}`, "ssl=on", ...files];
}

/** What serves on the directory's socket. */
export function clusterAt(directory: string, port: number = DEFAULT_PORT): Cluster {
  const urlOf = (database: string) =>
    `postgres://coffer@localhost:${String(port)}/${database}?host=${encodeURIComponent(directory)}`;
  return {
    directory,
    urlOf,
    async run(text) {
      const client = new Client({ connectionString: urlOf("postgres") });
      await client.connect();
      try {
        await client.query(text);
      } finally {
        await client.end();
      }
    },
  };
}

/** Resolves when it answers. */
export async function ready(cluster: Cluster): Promise<void> {
  const end = Date.now() + PATIENCE;
  for (;;) {
    try {
      return await cluster.run("SELECT 1");
    } catch (error) {
      const log = join(cluster.directory, "log");
      if (existsSync(join(cluster.directory, "failed")) || Date.now() > end)
        throw new Error(`PostgreSQL did not start: ${existsSync(log) ? readFileSync(log, "utf8") : "no log"}`, {
          cause: error,
        });
      await sleep(20);
    }
  }
}

/** False: another process of the run made it. */
function makes(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** A number of a process may be another's later, the moment of its start is not (proc(5), field 22). */
function startOf(pid: number): string {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

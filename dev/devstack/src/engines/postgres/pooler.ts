/** A real PgBouncer in transaction mode in front of a cluster, on a Unix socket of its own. */
import { chmodSync, chownSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endDaemon, isInstalled, startDaemon } from "../daemons.ts";
import { type Cluster, clusterAt, ready } from "./cluster.ts";
import { plainUser } from "./engine.ts";

/** Debian's. */
export const POOLER_PACKAGE = "pgbouncer";

/** Why none can be started here, and what to do about it; null: it can. */
export function whyNoPooler(): string | null {
  if (isInstalled("pgbouncer")) return null;
  return `pgbouncer: not installed; run \`npm run scale:setup\` as root on Debian, or install ${POOLER_PACKAGE}`;
}

/** The cluster's databases through it. */
export type Pooler = Cluster & AsyncDisposable;

const PORT = 6432;

/** Fewer sessions of the server than clients: each transaction gets another one. */
export async function openPooler(cluster: Cluster, { sessions = 8 } = {}): Promise<Pooler> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "coffer-pooler-")));
  const user = plainUser();
  const settings = join(directory, "pgbouncer.ini");
  writeFileSync(settings, renderSettings(cluster.directory, directory, sessions));
  chmodSync(directory, 0o755);
  // It refuses to run as root.
  if (user !== null) chownSync(directory, user.uid, user.gid);
  const daemon = startDaemon("pgbouncer", [settings], join(directory, "log"), user ?? {});
  const pooler = clusterAt(directory, PORT);
  await ready(pooler);
  return {
    ...pooler,
    async [Symbol.asyncDispose]() {
      await endDaemon(daemon, "SIGKILL");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function renderSettings(cluster: string, directory: string, sessions: number): string {
  return `[databases]
* = host=${cluster} user=coffer
[pgbouncer]
pool_mode = transaction
listen_addr =
listen_port = ${String(PORT)}
unix_socket_dir = ${directory}
auth_type = any
default_pool_size = ${String(sessions)}
max_client_conn = 500
server_check_delay = 0
log_connections = 0
log_disconnections = 0
`;
}

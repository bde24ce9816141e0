/** The service beyond one process, on this machine: PostgreSQL, an S3 store and two server processes behind a proxy. Nothing of it stays. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { StartError } from "../start-error.ts";
import { createBucket } from "../engines/ceph/bucket.ts";
import { startCeph } from "../engines/ceph/ceph.ts";
import { whyNoCeph } from "../engines/ceph/programs.ts";
import { openCluster } from "../engines/postgres/cluster.ts";
import { openProxy } from "./proxy.ts";
import { startServerProcess } from "./processes.ts";

export interface ScaledService {
  readonly baseUrl: string;
  /** Where the engines keep what the service gives them. */
  readonly disks: readonly { readonly directory: string; readonly isDatabase: boolean }[];
  close(): Promise<void>;
}

const PROCESSES = 2;
const BUCKET = "coffer";
/** The size of the store's sparse file. A search for plaintext reads all of it. */
const STORE_BYTES = 4 * 1024 ** 3;

/** @throws StartError with what to install where an engine is missing; Error `EADDRINUSE` when the port is in use. */
export async function openScaledService(
  environment: Readonly<Record<string, string | undefined>>,
  port: number,
): Promise<ScaledService> {
  const why = whyNoCeph();
  if (why !== null) throw new StartError(`--scale needs an S3 store. ${why}`);
  await using opened = new AsyncDisposableStack();
  const ceph = opened.use(await startCeph({ storeBytes: STORE_BYTES }));
  const cluster = opened.use(await openCluster());
  await createBucket(ceph, BUCKET);
  // Signatures of addresses are bound to the proxy's origin. It leads nowhere until there are processes.
  const targets: string[] = [];
  const { baseUrl } = opened.use(await openProxy(targets, port));
  const settings = {
    ...environment,
    SERVICE_PUBLIC_URL: baseUrl,
    PATH: "/usr/bin:/bin",
    SERVICE_PORT: "0",
    SERVICE_MASTER_KEY: randomBytes(32).toString("hex"),
    SERVICE_JWT_KEYS: `one:${randomBytes(48).toString("base64")}`,
    SERVICE_DATABASE_URL: cluster.urlOf("postgres"),
    SERVICE_RATE_LIMITS: "shared",
    SERVICE_BLOBS_URL: `${ceph.endpoint}/${BUCKET}`,
    SERVICE_BLOBS_ACCESS_KEY_ID: ceph.accessKeyId,
    SERVICE_BLOBS_SECRET_ACCESS_KEY: ceph.secretAccessKey,
    SERVICE_TRUSTED_PROXIES: "127.0.0.1",
  };
  for (let number = 1; number <= PROCESSES; number += 1) {
    const directory = join(environment["SERVICE_DATA_DIR"] ?? "", `process-${String(number)}`);
    targets.push(opened.use(await startServerProcess({ ...settings, SERVICE_DATA_DIR: directory })).baseUrl);
  }
  const disks = [
    { directory: ceph.directory, isDatabase: false },
    { directory: cluster.directory, isDatabase: true },
  ];
  const all = opened.move();
  return { baseUrl, disks, close: () => all.disposeAsync() };
}

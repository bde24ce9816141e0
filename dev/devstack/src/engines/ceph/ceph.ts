/**
 * A real Ceph with its S3 gateway on free ports of 127.0.0.1, in a directory of its own. It takes 10 to 20 s to start, so
 * tests of one run share it (ceph-run.ts): a bucket or a prefix for each.
 */
import type { ChildProcess } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { endDaemon, freePort, startDaemon } from "../daemons.ts";
import { runProgram, whyNoCeph } from "./programs.ts";
import { CERTIFICATE, type CephPlace, PRIVATE_KEY, renderSettings } from "./settings.ts";

export interface CephAddress {
  /** `http://127.0.0.1:7480`, without a bucket. */
  readonly endpoint: string;
  /** The same gateway over TLS. */
  readonly secureEndpoint: string;
  /** In PEM: vouches for `secureEndpoint`, and no authority of the system does. */
  readonly certificate: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Ceph extends CephAddress, AsyncDisposable {
  readonly directory: string;
  /** `kill -9` of the gateway, or of all three. */
  kill(what?: "gateway" | "all"): Promise<void>;
  /** Starts again what was killed; resolves when the gateway answers. */
  start(): Promise<void>;
}

const READY_WITHIN = 60_000;
/** How large the store's file may grow; it is sparse. */
const STORE_BYTES = 24 * 1024 ** 3;
type Part = "mon" | "osd" | "gateway";

/** Rejects with what to install when the programs are not there. */
export async function startCeph({ storeBytes = STORE_BYTES } = {}): Promise<Ceph> {
  const why = whyNoCeph();
  if (why !== null) throw new Error(why);
  const directory = mkdtempSync(join(tmpdir(), "coffer-ceph-"));
  const [monitorPort, gatewayPort, securePort] = [await freePort(), await freePort(), await freePort()];
  const cluster = new Cluster({ directory, storeBytes, monitorPort, gatewayPort, securePort });
  try {
    await cluster.make();
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw new Error(`Ceph did not start`, { cause: error });
  }
}

/** For 127.0.0.1 and localhost, signed by itself. */
async function makeCertificate(certificate: string, key: string): Promise<string> {
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key];
  const names = ["-subj", "/CN=Coffer's test store", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  await runProgram("openssl", ["req", "-x509", "-days", "3650", ...kind, ...names, "-out", certificate]);
  return readFileSync(certificate, "utf8");
}

class Cluster implements Ceph {
  readonly endpoint: string;
  readonly secureEndpoint: string;
  certificate = "";
  readonly accessKeyId = `AK${randomBytes(8).toString("hex").toUpperCase()}`;
  readonly secretAccessKey = randomBytes(24).toString("hex");
  readonly directory: string;
  readonly #settings: string;
  readonly #children = new Map<Part, ChildProcess>();

  constructor(where: Omit<CephPlace, "id">) {
    const place = { ...where, id: randomUUID() };
    this.directory = place.directory;
    this.#settings = join(place.directory, "ceph.conf");
    this.endpoint = `http://127.0.0.1:${String(place.gatewayPort)}`;
    this.secureEndpoint = `https://127.0.0.1:${String(place.securePort)}`;
    writeFileSync(this.#settings, renderSettings(place));
    this.#identity = place;
  }

  readonly #identity: { readonly id: string; readonly monitorPort: number };

  async make(): Promise<void> {
    const at = (name: string): string => join(this.directory, name);
    const keyring = at("keyring");
    this.certificate = await makeCertificate(at(CERTIFICATE), at(PRIVATE_KEY));
    for (const name of ["mon", "osd"]) mkdirSync(at(name));
    const key = (name: string, ...caps: string[]): Promise<string> =>
      runProgram("ceph-authtool", [
        keyring,
        "--gen-key",
        "-n",
        name,
        ...caps.flatMap((cap) => ["--cap", ...cap.split("=")]),
      ]);
    await runProgram("ceph-authtool", [
      "--create-keyring",
      keyring,
      "--gen-key",
      "-n",
      "mon.",
      "--cap",
      "mon",
      "allow *",
    ]);
    await key("client.admin", "mon=allow *", "osd=allow *");
    await key("osd.0", "mon=allow profile osd", "osd=allow *");
    await key("client.gateway", "mon=allow rw", "osd=allow rwx");
    const { id, monitorPort } = this.#identity;
    const address = `[v2:127.0.0.1:${String(monitorPort)}]`;
    await runProgram("monmaptool", ["--create", "--fsid", id, "--addv", "a", address, at("monmap")]);
    await this.#run("ceph-mon", "--mkfs", "-i", "a", "--monmap", at("monmap"), "--keyring", keyring);
    this.#daemon("mon");
    const disk = randomUUID();
    await this.#run("ceph", "--connect-timeout", "30", "osd", "new", disk);
    await this.#run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk);
    this.#daemon("osd");
    this.#daemon("gateway");
    await this.#answering();
    await this.#run(
      ...["radosgw-admin", "-n", "client.gateway", "user", "create", "--uid=coffer", "--display-name=coffer"],
      ...[`--access-key=${this.accessKeyId}`, `--secret-key=${this.secretAccessKey}`],
    );
  }

  async kill(what: "gateway" | "all" = "all"): Promise<void> {
    const parts: readonly Part[] = what === "all" ? ["gateway", "osd", "mon"] : ["gateway"];
    for (const part of parts) await this.#end(part, "SIGKILL");
  }

  async start(): Promise<void> {
    for (const part of ["mon", "osd", "gateway"] as const) if (!this.#children.has(part)) this.#daemon(part);
    await this.#answering();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10 });
  }

  #run(...[program = "", ...words]: string[]): Promise<string> {
    return runProgram(program, ["-c", this.#settings, ...words]);
  }

  #daemon(part: Part): void {
    const words = { mon: ["-i", "a"], osd: ["-i", "0"], gateway: ["-n", "client.gateway"] }[part];
    const program = { mon: "ceph-mon", osd: "ceph-osd", gateway: "radosgw" }[part];
    const log = join(this.directory, `${part}.out`);
    this.#children.set(part, startDaemon(program, ["-c", this.#settings, ...words, "-f"], log));
  }

  async #end(part: Part, signal: NodeJS.Signals): Promise<void> {
    const child = this.#children.get(part);
    this.#children.delete(part);
    if (child !== undefined) await endDaemon(child, signal);
  }

  async #answering(): Promise<void> {
    const gateway = this.#children.get("gateway");
    for (const began = performance.now(); performance.now() - began < READY_WITHIN; await pause(50)) {
      const answer = await fetch(this.endpoint).catch(() => null);
      await answer?.body?.cancel();
      if (answer?.status === 200) return;
      if (gateway?.exitCode !== null) throw new Error("The gateway ended while it started");
    }
    throw new Error("The gateway did not answer in time");
  }
}

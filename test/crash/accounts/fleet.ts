/** Server processes on one data directory, of which any may be killed at any moment; another one takes its place, on a port of its own. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Draw } from "../../fuzz/draw.ts";
import { addressFile } from "../../kit/postgres/address.ts";
import { type ServerProcess, startServerProcess } from "../server-process.ts";

/** Accounts make keys and invites all the time, and end few. */
const ENVIRONMENT = { SERVICE_MAX_API_KEYS: "100000", SERVICE_MAX_INVITES: "100000" };

interface Member {
  /** null: killed, and on its way back. */
  server: ServerProcess | null;
}

export interface Fleet extends AsyncDisposable {
  readonly directory: string;
  /** What leads an operator's command to the same rows. */
  readonly environment: Readonly<Record<string, string>>;
  readonly kills: number;
  /** What the processes logged as errors. */
  readonly faults: readonly string[];
  /** The address of one that is up, as far as anybody knows. */
  pick(draw: Draw): string;
  /** Those of all that are up. */
  readonly addresses: readonly string[];
  /** Kills one with SIGKILL and starts it again, once `meanwhile` is over. Most of them stay up. */
  kill(draw: Draw, meanwhile?: () => Promise<void>): Promise<void>;
  /** Ends all but one, kills that one, too, and waits until it has cleaned up behind all. */
  settle(meanwhile?: () => Promise<void>): Promise<void>;
}

/**
 * @param postgres the address of an empty database; null: SQLite in the directory.
 * @param more settings, such as those of a store elsewhere.
 */
export async function openFleet(
  size: number,
  postgres: string | null = null,
  more: Readonly<Record<string, string>> = {},
): Promise<Fleet> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-fleet-"));
  if (postgres !== null) await writeFile(addressFile(directory), postgres);
  const given = { ...ENVIRONMENT, ...more };
  const environment = postgres === null ? given : { ...given, SERVICE_DATABASE_URL: postgres };
  const start = () => startServerProcess({ directory, environment });
  const members: Member[] = [];
  for (let at = 0; at < size; at += 1) members.push({ server: await start() });
  return new Processes({ directory, environment }, members, start);
}

class Processes implements Fleet {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly faults: string[] = [];
  kills = 0;
  readonly #members: readonly Member[];
  readonly #start: () => Promise<ServerProcess>;

  constructor(
    { directory, environment }: Pick<Fleet, "directory" | "environment">,
    members: readonly Member[],
    start: () => Promise<ServerProcess>,
  ) {
    this.directory = directory;
    this.environment = environment;
    this.#members = members;
    this.#start = start;
  }

  pick(draw: Draw): string {
    const server = draw.any(this.#members.flatMap((member) => member.server ?? []));
    if (server === undefined) throw new Error("no process is up");
    return server.baseUrl;
  }

  get addresses(): readonly string[] {
    return this.#members.flatMap(({ server }) => (server === null ? [] : [server.baseUrl]));
  }

  async kill(draw: Draw, meanwhile?: () => Promise<void>): Promise<void> {
    const up = this.#members.filter(({ server }) => server !== null);
    const member = draw.any(up);
    if (member === undefined || up.length <= this.#members.length / 2) return;
    await this.#end(member);
    await meanwhile?.();
    this.kills += 1;
    member.server = await this.#start();
  }

  async settle(meanwhile?: () => Promise<void>): Promise<void> {
    for (const member of this.#members) await this.#end(member);
    await meanwhile?.();
    const [member] = this.#members;
    if (member === undefined) return;
    member.server = await this.#start();
    await member.server.waitForLine((line) => line.event === "job" && line.job === "start-up");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const member of this.#members) await this.#end(member);
    await rm(this.directory, { recursive: true, force: true });
  }

  async #end(member: Member): Promise<void> {
    const { server } = member;
    if (server === null) return;
    member.server = null;
    await server.end("SIGKILL");
    // pino: 50 is error.
    const faults = server.log.filter((line) => Number(line.level) >= 50);
    this.faults.push(...faults.map((line) => `logged: ${JSON.stringify(line)}`));
  }
}

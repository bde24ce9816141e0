/** Storage that cannot be opened: the server and its commands end with a sentence that names the place, the cause and what to do. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { createDatabase } from "../kit/postgres/databases.ts";
import { SERVER_MAIN } from "../kit/server-program.ts";

/** What ends by itself does so far sooner. Milliseconds. */
const HANGS = 60_000;
const PASSWORD = "word-that-nobody-prints";

interface Outcome {
  /** null: it had to be killed. */
  readonly status: number | null;
  readonly said: string;
}

async function run(environment: Readonly<Record<string, string>>, ...words: string[]): Promise<Outcome> {
  const env = {
    PATH: process.env["PATH"],
    SERVICE_ENV: "development",
    SERVICE_PORT: "0",
    SERVICE_LOG_LEVEL: "silent",
    ...environment,
  };
  const child = spawn(process.execPath, [SERVER_MAIN, ...words], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: HANGS,
    killSignal: "SIGKILL",
  });
  const [said, [status]] = await Promise.all([text(child.stderr), once(child, "exit") as Promise<[number | null]>]);
  return { status, said };
}

describe("a data directory", () => {
  it.each(["/proc/nowhere", "/proc", "/sys/nowhere/data"])(
    "that cannot be made ends the start: %s",
    async (directory) => {
      const { status, said } = await run({ SERVICE_DATA_DIR: directory });
      expect(status).toBe(1);
      expect(said).toContain(directory);
      expect(said).toMatch(/E(?:NOENT|PERM|ACCES|ROFS): .*SERVICE_DATA_DIR/);
      expect(said.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
    },
  );

  it("that is a file, or has another kind of file in the place of the database, is named", async () => {
    const directory = makeDirectory();
    const file = join(directory, "file");
    writeFileSync(file, "");
    const first = await run({ SERVICE_DATA_DIR: file });
    expect(first).toEqual({ status: 1, said: expect.stringMatching(/file cannot be used: .*Set SERVICE_DATA_DIR/) });
    writeFileSync(
      join(directory, "coffer.sqlite"),
      "a note of somebody, longer than the head of a database ".repeat(20),
    );
    const second = await run({ SERVICE_DATA_DIR: directory });
    expect(second.status).toBe(1);
    expect(second.said).toMatch(/^coffer-server could not start: The database \S+\/coffer\.sqlite cannot be opened: /);
    expect(second.said).toMatch(/file is not a database\. Nothing was changed: .*restore a backup.*\n$/);
    const folder = makeDirectory();
    mkdirSync(join(folder, "coffer.sqlite"));
    const third = await run({ SERVICE_DATA_DIR: folder });
    expect(third.said).toMatch(/coffer\.sqlite cannot be opened: EISDIR: .*SERVICE_DATA_DIR\n$/);
  });
});

describe("a PostgreSQL", () => {
  let address: URL;
  beforeAll(async () => {
    address = new URL((await createDatabase("empty")).url);
  });
  const at = (change: (url: URL) => void): string => {
    const url = new URL(address);
    url.password = PASSWORD;
    change(url);
    return url.href;
  };
  const toHost = (url: URL, host: string): void => {
    url.searchParams.delete("host");
    url.host = host;
  };

  it("that is not there, has no such database or closes the connection is named, and no password", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const closing = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const cases: [url: string, said: RegExp][] = [
      [at((url) => toHost(url, "127.0.0.1:1")), /127\.0\.0\.1:1\/\S+ cannot be opened: connect ECONNREFUSED/],
      [at((url) => toHost(url, "localhost:1")), /localhost:1\/\S+ cannot be opened: connect ECONNREFUSED/],
      [at((url) => toHost(url, "nowhere.invalid")), /nowhere\.invalid\S* cannot be opened: getaddrinfo/],
      [at((url) => toHost(url, closing)), /cannot be opened: (?:Connection terminated|read ECONNRESET)/],
      [at((url) => (url.pathname = "/of-nobody")), /"of-nobody" does not exist\. Make it with createdb/],
    ];
    for (const [at, [SERVICE_DATABASE_URL, expected]] of cases.entries()) {
      // The server and its commands in turn.
      const words = at % 2 === 0 ? [] : ["access-codes", "list"];
      const { status, said } = await run({ SERVICE_DATABASE_URL, SERVICE_DATA_DIR: makeDirectory() }, ...words);
      expect([status, said]).toEqual([1, expect.stringMatching(expected)]);
      expect(said).toContain("SERVICE_DATABASE_URL");
      expect(said).not.toContain(PASSWORD);
    }
    const verify = await run({ SERVICE_DATABASE_URL: cases[0]?.[0] ?? "", SERVICE_DATA_DIR: "/" }, "audit", "verify");
    expect(verify).toEqual({ status: 2, said: expect.stringMatching(/^Could not check: The database 127/) });
    server.close();
  });
});

/** The process at the shell: what it says about words that are wrong, where, and with which exit status. */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { makeDirectory } from "../../test/kit/directory.ts";
import { SERVER_MAIN } from "../../test/kit/server-program.ts";

interface Outcome {
  readonly status: number | string | null | undefined;
  readonly out: string;
  readonly said: string;
}

async function run(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  leavesFiles = false,
): Promise<Outcome> {
  const directory = makeDirectory();
  const env = { SERVICE_ENV: "development", SERVICE_DATA_DIR: directory, SERVICE_PORT: "0", ...environment };
  const outcome = await new Promise<Outcome>((resolve) => {
    execFile(process.execPath, [SERVER_MAIN, ...words], { env }, (error, out, said) => {
      resolve({ status: error === null ? 0 : error.code, out, said });
    });
  });
  expect((await readdir(directory)).length > 0).toBe(leavesFiles);
  return outcome;
}

/** As a server's first start leaves it: with a database. */
async function startOnce(env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, [SERVER_MAIN], { env, stdio: ["ignore", "ignore", "pipe"] });
  for await (const piece of child.stderr) if (String(piece).includes("listens on")) break;
  child.kill("SIGTERM");
  await once(child, "exit");
}

it("an unknown command is a usage error, and names the commands alone", async () => {
  const { status, out, said } = await run(["access-code", "list"]);
  expect([status, out]).toEqual([64, ""]);
  expect(said).toMatch(/^Unknown command access-code list\. Commands for operators:\n/);
  expect(said).toContain("access-codes list");
  expect(said).not.toContain("SERVICE_PORT");
});

it("half a command shows the other half, a wrong option its usage", async () => {
  const half = await run(["access-codes"]);
  expect([half.status, half.out]).toEqual([64, ""]);
  expect(half.said).toContain("access-codes revoke <id>");
  const wrong = await run(["access-codes", "create", "--uses", "many"]);
  expect([wrong.status, wrong.out, wrong.said]).toEqual([64, "", "--uses needs a whole number from 1 to 1000000\n"]);
});

it("help is no error: of all, and of one group", async () => {
  const all = await run(["--help"], { SERVICE_ENV: "nowhere" });
  expect([all.status, all.said]).toEqual([0, ""]);
  expect(all.out).toContain("SERVICE_PORT");
  const group = await run(["access-codes", "--help"]);
  expect([group.status, group.said]).toEqual([0, ""]);
  expect(group.out).toContain("access-codes revoke");
  expect(group.out).not.toContain("audit verify");
});

it("a configuration that is wrong ends a command and the server alike, with every problem", async () => {
  for (const words of [[], ["access-codes", "list"]]) {
    const { status, out, said } = await run(words, { SERVICE_ENV: "production" });
    expect([status, out]).toEqual([78, ""]);
    expect(said).toContain("SERVICE_MASTER_KEY: production needs it");
    expect(said).toContain("SERVICE_JWT_KEYS: production needs it");
  }
});

it("what cannot be done is status 1, in one line", async () => {
  const { status, out, said } = await run(["access-codes", "list"]);
  expect([status, out]).toEqual([1, ""]);
  expect(said).toMatch(
    /^coffer-server could not do that: there is no database \S+coffer\.sqlite\. .*check SERVICE_DATA_DIR or name its settings with --env-file\n$/,
  );
});

it("a port that is taken is said with what to do", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const { status, said } = await run([], { SERVICE_PORT: String(port), SERVICE_LOG_LEVEL: "silent" }, true);
  other.close();
  expect(status).toBe(1);
  expect(said).toMatch(/^coffer-server could not start: .*EADDRINUSE.*\. Stop what uses it, or set SERVICE_PORT\n$/);
});

it("a database that was made in development is not served in production, nor the other way round [issue 49]", async () => {
  const production = {
    SERVICE_ENV: "production",
    SERVICE_MASTER_KEY: randomBytes(32).toString("hex"),
    SERVICE_JWT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
    SERVICE_PUBLIC_URL: "https://coffer.example.com",
    SERVICE_LOG_LEVEL: "silent",
  };
  const modes = { development: { SERVICE_ENV: "development" }, production };
  for (const [made, other] of [
    ["development", "production"],
    ["production", "development"],
  ] as const) {
    const data = { SERVICE_DATA_DIR: makeDirectory() };
    await startOnce({ SERVICE_PORT: "0", ...modes[made], ...data });
    for (const words of [[], ["access-codes", "create"]]) {
      const { status, out, said } = await run(words, { ...modes[other], ...data });
      expect([status, out]).toEqual([78, ""]);
      expect(said).toContain(`SERVICE_DATA_DIR: ${data.SERVICE_DATA_DIR}/coffer.sqlite was made in ${made}`);
    }
  }
});

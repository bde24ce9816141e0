/** Files of settings that commands read beside their own environment. */
import { chmodSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { productionSecrets } from "../../../test/journeys/kit/production.ts";
import { ConfigError } from "../config.ts";
import { knownEnvironment, openTestDatabase } from "../storage.test-kit.ts";
import { runCommand } from "./operator.test-kit.ts";

let directory: string;
beforeEach(async () => {
  directory = makeDirectory();
  await using _ = await openTestDatabase(directory);
});

function settingsFile(settings: Readonly<Record<string, string>>, mode = 0o600): string {
  const file = path.join(makeDirectory(), "new.env");
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(""));
  chmodSync(file, mode);
  return file;
}

async function problemsOfMove(settings: Readonly<Record<string, string>>): Promise<ConfigError> {
  const refused: unknown = await runCommand(directory, "move", "--to", settingsFile(settings)).catch(
    (error: unknown) => error,
  );
  expect(refused).toBeInstanceOf(ConfigError);
  return refused as ConfigError;
}

describe("move --to [issue 51]", () => {
  it("names the file and every setting that it lacks, those of the store and of the server", async () => {
    const { message, problems } = await problemsOfMove({ SERVICE_BLOBS_URL: "https://s3.example.com/coffer" });
    expect(message).toMatch(/^\S+new\.env has to have all settings of the new servers:\n/);
    expect(problems.map((problem) => problem.split(":")[0])).toEqual([
      ...["SERVICE_MASTER_KEY", "SERVICE_JWT_KEYS", "SERVICE_PUBLIC_URL"],
      ...["SERVICE_BLOBS_ACCESS_KEY_ID", "SERVICE_BLOBS_SECRET_ACCESS_KEY", "SERVICE_DATA_DIR"],
    ]);
  });

  it("says that the master key has to be the same, beside what is missing", async () => {
    const secrets = productionSecrets();
    const { message, problems } = await problemsOfMove({ ...secrets, SERVICE_JWT_KEYS: "" });
    expect(problems.map((problem) => problem.split(":")[0])).toEqual([
      ...["SERVICE_JWT_KEYS", "SERVICE_MASTER_KEY", "SERVICE_DATA_DIR"],
    ]);
    expect(message).not.toContain(secrets["SERVICE_MASTER_KEY"]);
  });
});

describe("a file that others can read [issue 51]", () => {
  const development = { SERVICE_ENV: "development" };
  const warningOf = (file: string): string =>
    `${file} has secrets and others can read or change it: chmod 640 ${file}\n`;

  it.each(["--to", "--from"])("is a warning of move %s", async (option) => {
    const [mine, others] = [0o600, 0o644];
    const old = { ...development, ...knownEnvironment(directory), SERVICE_DATA_DIR: directory };
    const from = settingsFile(old, option === "--from" ? others : mine);
    const to = settingsFile({ ...development, SERVICE_DATA_DIR: makeDirectory() }, option === "--to" ? others : mine);
    const said = await runCommand(directory, "move", "--from", from, "--to", to, "--dry-run");
    const file = option === "--to" ? to : from;
    expect(said).toMatchObject({ status: 0, note: expect.stringContaining(warningOf(file)) as string });
  });

  it("is a warning of restore --contents", async () => {
    const backup = path.join(makeDirectory(), "backup");
    expect((await runCommand(directory, "backup", backup, "--list")).status).toBe(0);
    const file = settingsFile({ ...development, SERVICE_DATA_DIR: directory }, 0o604);
    const restored = path.join(makeDirectory(), "restored");
    const said = await runCommand(directory, "restore", backup, "--contents", file, "--data", restored);
    expect(said).toMatchObject({ status: 0, note: expect.stringContaining(warningOf(file)) as string });
  });
});

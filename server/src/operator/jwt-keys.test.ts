import { randomBytes } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { productionSecrets } from "../../../test/journeys/kit/production.ts";
import { parseConfig } from "../config.ts";
import { readEnvFile } from "../config/env-file.ts";
import { findCommand, UsageError } from "./commands.ts";

const AROUND = [
  ["# Made by hand: SERVICE_JWT_KEYS=of-a-comment", "", "SERVICE_PORT=8787"],
  ["SERVICE_MAIL_FROM=Coffer <coffer@example.com>", "# the end, without a line of its own"],
] as const;

let file: string;
beforeEach(() => {
  file = path.join(makeDirectory(), "server.env");
});

const secret = (): string => randomBytes(48).toString("base64");

function fill(keys: string): void {
  const { SERVICE_JWT_KEYS: _, ...secrets } = productionSecrets();
  const others = Object.entries(secrets).map(([name, value]) => `${name}=${value}`);
  const [before, after] = AROUND;
  writeFileSync(file, [...before, ...others, `SERVICE_JWT_KEYS=${keys}`, ...after].join("\n"), { mode: 0o600 });
}

const keysIn = (): string[] => (readEnvFile(file).values["SERVICE_JWT_KEYS"] ?? "").split(",");
const kidsIn = (): string[] => keysIn().map((entry) => entry.split(":")[0] ?? "");

/** So much time passes after the last change. */
function age(minutes: number): void {
  const then = Date.now() / 1000 - minutes * 60;
  utimesSync(file, then, then);
}

async function run(words: string, environment: Readonly<Record<string, string>> = {}) {
  const found = findCommand(words.split(" "));
  if (found === null) throw new Error(`there is no command ${words}`);
  let said = "";
  const print = (text: string): void => void (said += text);
  const streams = {
    out: print,
    note: print,
    ask: () => Promise.resolve(null),
    serveTrial: () => Promise.resolve(1),
    envFile: file,
  };
  const config = parseConfig({ ...readEnvFile(file).values, ...environment });
  const status = await found.command.run(config, found.options, streams);
  for (const key of keysIn()) expect(said).not.toContain(key.slice(key.indexOf(":") + 1));
  return { status, said };
}

describe("jwt-keys [issue 51]", () => {
  it("adds a key last, moves it to the front and drops the others, and each step says the next one", async () => {
    const old = `one:${secret()}`;
    fill(old);
    const command = `coffer-server --env-file ${file} jwt-keys`;
    const added = await run("jwt-keys add");
    expect(added).toEqual({ status: 0, said: expect.stringContaining(`Then: ${command} promote\n`) });
    const [kept, made = ""] = keysIn();
    expect([kept, kidsIn()]).toEqual([old, ["one", "k1"]]);
    expect(Buffer.from(made.slice("k1:".length), "base64")).toHaveLength(48);
    expect(await run("jwt-keys promote")).toEqual({
      status: 0,
      said: expect.stringContaining(`16 minutes after the last one: ${command} drop\n`),
    });
    expect(keysIn()).toEqual([made, old]);
    age(17);
    expect(await run("jwt-keys drop")).toEqual({ status: 0, said: expect.stringContaining("Dropped one") });
    expect(keysIn()).toEqual([made]);
    await run("jwt-keys add");
    expect(kidsIn()).toEqual(["k1", "k2"]);
  });

  it("takes no step twice, and none before its time", async () => {
    fill(`one:${secret()}`);
    const refuses = async (words: string, next: string): Promise<void> => {
      const before = readFileSync(file, "utf8");
      const { status, said } = await run(words);
      expect([status, said]).toEqual([1, expect.stringMatching(`Nothing was changed: .*${next}\n$`)]);
      expect(readFileSync(file, "utf8")).toBe(before);
    };
    await refuses("jwt-keys promote", "jwt-keys add");
    await refuses("jwt-keys drop", "jwt-keys add");
    await run("jwt-keys add");
    await refuses("jwt-keys add", "jwt-keys promote");
    await refuses("jwt-keys drop", "jwt-keys promote");
    await run("jwt-keys promote");
    await refuses("jwt-keys promote", "jwt-keys drop");
    await refuses("jwt-keys add", "jwt-keys drop");
    await refuses("jwt-keys drop", "jwt-keys drop");
    // A key that others know is dropped at once.
    expect((await run("jwt-keys drop --now")).status).toBe(0);
    expect(kidsIn()).toEqual(["k1"]);
  });

  it("of keys that were put there by hand moves none, and drops those behind the first", async () => {
    fill(`new:${secret()},old:${secret()}`);
    expect(await run("jwt-keys promote")).toEqual({ status: 1, said: expect.stringContaining("by hand") });
    age(17);
    expect((await run("jwt-keys drop")).status).toBe(0);
    expect(kidsIn()).toEqual(["new"]);
  });

  it("leaves all else in the file as it is, hides it from others, and follows a link to it", async () => {
    fill(`one:${secret()}`);
    chmodSync(file, 0o644);
    const before = readFileSync(file, "utf8").split("\n");
    const link = path.join(makeDirectory(), "server.env");
    symlinkSync(file, link);
    const real = file;
    file = link;
    await run("jwt-keys add");
    const after = readFileSync(real, "utf8").split("\n");
    const changed = before.flatMap((line, at) => (line === after[at] ? [] : [line.split("=")[0]]));
    expect([changed, after.length]).toEqual([["SERVICE_JWT_KEYS"], before.length]);
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(readdirSync(path.dirname(real))).toEqual(["server.env"]);
  });

  it("changes nothing where the environment has the keys", async () => {
    fill(`one:${secret()}`);
    const before = readFileSync(file, "utf8");
    const elsewhere = { SERVICE_JWT_KEYS: `other:${secret()}` };
    await expect(run("jwt-keys add", elsewhere)).rejects.toThrow(UsageError);
    await expect(run("jwt-keys add", elsewhere)).rejects.toThrow("SERVICE_JWT_KEYS of the environment counts");
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});

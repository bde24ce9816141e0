/** Keys that move between the file and a keychain: cut off anywhere, none is lost. The system's own: test/cli/keychain.test.ts. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { Secret } from "../../http/secret.ts";
import { readConfig, writeConfig, type KeyStore, type Profile } from "./config.ts";
import { SYSTEM, type Keychain } from "./keychain.ts";
import { resolveSettings } from "./settings.ts";

const API_KEY = `cof_${"a".repeat(49)}`;
const CHAIN_KEY = `suiprivkey1${"c".repeat(59)}`;
const system = SYSTEM.open;
const kept = new Map<string, string>();
/** Calls until it fails for good. */
let left = Infinity;
let file: string;

beforeEach(() => {
  kept.clear();
  left = Infinity;
  file = join(makeDirectory(), "config.json");
  const call = <Result>(does: () => Result): Result => {
    if (left-- <= 0) throw new Error("cut off");
    return does();
  };
  const keychain: Keychain = {
    get: (account) => call(() => kept.get(account) ?? null),
    set: (account, text) => call(() => void kept.set(account, text)),
    delete: (account) => call(() => void kept.delete(account)),
  };
  SYSTEM.open = () => keychain;
});
afterEach(() => {
  SYSTEM.open = system;
});

const profile = (more: Partial<Profile> = {}): Profile => ({
  baseUrl: "http://one.test",
  apiKey: new Secret(API_KEY),
  chainPrivateKey: new Secret(CHAIN_KEY),
  ...more,
});
const save = (changes: Profile | null): Promise<void> => writeConfig({ profiles: { default: changes } }, file);
const saved = async (): Promise<Profile> => {
  const found = (await readConfig(file))?.profiles["default"];
  if (found === undefined) throw new Error("no profile");
  return found;
};
const keys = async (): Promise<(string | undefined)[]> => {
  const { apiKey, chainPrivateKey } = await saved();
  return [apiKey?.reveal(), chainPrivateKey?.reveal()];
};
const moveTo = async (keyStore: KeyStore): Promise<void> => {
  const { session: _same, ...former } = await saved();
  await save({ ...former, keyStore });
};

describe("keys in a keychain [issue 19]", () => {
  it("leave the file, are read when they are used, and come back", async () => {
    await save(profile());
    await moveTo("keychain");
    expect(await readFile(file, "utf8")).not.toMatch(/cof_|suiprivkey1/);
    expect([...kept.values()].sort()).toEqual([API_KEY, CHAIN_KEY]);
    left = 0;
    const settings = await resolveSettings({ SERVICE_CONFIG_FILE: file });
    expect(settings.sources.apiKey).toBe("keychain");
    const env = { SERVICE_CONFIG_FILE: file, SERVICE_API_KEY: "k", SERVICE_CHAIN_PRIVATE_KEY: "c" };
    expect((await resolveSettings(env)).apiKey?.reveal()).toBe("k");
    left = Infinity;
    expect([settings.apiKey?.reveal(), settings.chainPrivateKey?.reveal()]).toEqual([API_KEY, CHAIN_KEY]);
    await moveTo("file");
    expect([await keys(), kept.size]).toEqual([[API_KEY, CHAIN_KEY], 0]);
    expect(JSON.parse(await readFile(file, "utf8"))).not.toHaveProperty("profiles.default.keychain");
  });

  it("go there by themselves from then on, and out of it when they are dropped", async () => {
    await save(profile({ keyStore: "keychain", chainPrivateKey: null }));
    const text = await readFile(file, "utf8");
    const next = new Secret(`cof_${"b".repeat(49)}`);
    await save({ ...(await saved()), apiKey: next, chainPrivateKey: new Secret(CHAIN_KEY) });
    expect([await keys(), kept.size]).toEqual([[next.reveal(), CHAIN_KEY], 2]);
    // Another address, or a session that is refreshed, writes what was read.
    await save({ ...(await saved()), networkFile: "/network.json" });
    await save({ baseUrl: "http://one.test", apiKey: null });
    expect([await keys(), [...kept.values()]]).toEqual([[undefined, CHAIN_KEY], [CHAIN_KEY]]);
    expect(text + (await readFile(file, "utf8"))).not.toMatch(/cof_|suiprivkey1/);
    await save(null);
    expect(kept.size).toBe(0);
  });

  it("stay apart from those of another configuration, and of another profile", async () => {
    await save(profile({ keyStore: "keychain" }));
    const other = new Secret(`cof_${"o".repeat(49)}`);
    const elsewhere = join(makeDirectory(), "config.json");
    for (const place of [file, elsewhere])
      await writeConfig(
        { profiles: { [place === file ? "two" : "default"]: profile({ keyStore: "keychain", apiKey: other }) } },
        place,
      );
    expect([await keys(), kept.size]).toEqual([[API_KEY, CHAIN_KEY], 6]);
  });

  it.each(["keychain", "file"] as const)("are never lost on the way into the %s, cut off at any call", async (to) => {
    for (let calls = 0; ; calls += 1) {
      kept.clear();
      left = Infinity;
      await save(null);
      await save(profile({ keyStore: to === "file" ? "keychain" : "file" }));
      left = calls;
      const isDone = await moveTo(to).then(
        () => true,
        () => false,
      );
      left = Infinity;
      expect([calls, await keys()]).toEqual([calls, [API_KEY, CHAIN_KEY]]);
      await moveTo(to);
      expect([calls, await keys(), kept.size]).toEqual([calls, [API_KEY, CHAIN_KEY], to === "file" ? 0 : 2]);
      if (isDone) return expect(calls).toBeGreaterThan(3);
    }
  });

  it("stay in the file where the keychain gives back something else", async () => {
    await save(profile());
    const before = await keys();
    SYSTEM.open = () => ({ get: () => "other", set: () => undefined, delete: () => undefined });
    await expect(moveTo("keychain")).rejects.toMatchObject({ code: "keychain_unusable" });
    expect(await keys()).toEqual(before);
  });

  it("that the keychain has lost are said to be lost, and others may take their place", async () => {
    await save(profile({ keyStore: "keychain" }));
    kept.clear();
    await expect(keys()).rejects.toMatchObject({ code: "keychain_unusable" });
    await save(profile());
    expect(await keys()).toEqual([API_KEY, CHAIN_KEY]);
  });
});

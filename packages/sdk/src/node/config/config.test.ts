import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { Secret } from "../../http/secret.ts";
import { configDirectory, configFile } from "./config-place.ts";
import { readConfig, writeConfig } from "./config.ts";
import { resolveSettings } from "./settings.ts";

const KEY = `cof_${"a".repeat(49)}`;
const profile = (name: string, apiKey: string | null = KEY) => ({
  baseUrl: `http://${name}.test`,
  apiKey: apiKey === null ? null : new Secret(apiKey),
});

describe("where the configuration is", () => {
  it.each([
    [{}, join(homedir(), ".config/coffer/config.json")],
    [{ HOME: "/home/me" }, "/home/me/.config/coffer/config.json"],
    [{ HOME: "/home/me", XDG_CONFIG_HOME: "/xdg" }, "/xdg/coffer/config.json"],
    [{ HOME: "/home/me", XDG_CONFIG_HOME: "relative" }, "/home/me/.config/coffer/config.json"],
    [{ HOME: "/home/me", XDG_CONFIG_HOME: "/xdg", SERVICE_CONFIG_DIR: "/own" }, "/own/config.json"],
    [{ SERVICE_CONFIG_DIR: "/own", SERVICE_CONFIG_FILE: "/file.json" }, "/file.json"],
    [{ HOME: "/home/me", SERVICE_CONFIG_FILE: "" }, "/home/me/.config/coffer/config.json"],
  ])("%j [D0-config-path D0-product-names]", (env, file) => {
    expect(configFile(env)).toBe(file);
    if (!("SERVICE_CONFIG_FILE" in env)) expect(join(configDirectory(env), "config.json")).toBe(file);
  });
});

describe("the configuration file", () => {
  it("is written with its directory, for the owner alone [D0-config-modes]", async () => {
    const directory = makeDirectory();
    const file = join(directory, "deep", "coffer", "config.json");
    expect(await readConfig(file)).toBeNull();
    await writeConfig({ profiles: { default: profile("one") } }, file);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      version: 1,
      defaultProfile: "default",
      profiles: { default: { baseUrl: "http://one.test", apiKey: KEY } },
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, "deep", "coffer"))).mode & 0o777).toBe(0o700);
    await chmod(file, 0o644);
    await writeConfig({ defaultProfile: "default" }, file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(directory, "deep", "coffer"))).toEqual(["config.json"]);
  });

  it("keeps other profiles and what a later version added", async () => {
    const directory = makeDirectory();
    const file = join(directory, "config.json");
    await writeFile(
      file,
      JSON.stringify({
        version: 1,
        defaultProfile: "a",
        theme: "dark",
        profiles: { a: { baseUrl: "http://a", region: "eu" }, b: { baseUrl: "http://b" } },
      }),
    );
    await writeConfig({ profiles: { a: profile("new"), b: null } }, file);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      version: 1,
      defaultProfile: "a",
      theme: "dark",
      profiles: { a: { baseUrl: "http://new.test", region: "eu", apiKey: KEY } },
    });
  });

  it("is replaced as a whole, and loses no profile when many write at once [D0-config-atomic]", async () => {
    const directory = makeDirectory();
    const file = join(directory, "config.json");
    const names = Array.from({ length: 12 }, (_, index) => `p${String(index)}`);
    let isOver = false;
    const writing = Promise.all(names.map((name) => writeConfig({ profiles: { [name]: profile(name) } }, file)));
    const reading = (async () => {
      while (!isOver) JSON.parse(await readFile(file, "utf8").catch(() => "{}"));
    })();
    await writing.finally(() => (isOver = true));
    await reading;
    expect(Object.keys((await readConfig(file))?.profiles ?? {}).sort()).toEqual(names.sort());
    expect(await readdir(directory)).toEqual(["config.json"]);
  });

  it("takes over a lock whose process is gone", async () => {
    const directory = makeDirectory();
    const file = join(directory, "config.json");
    await mkdir(`${file}.lock`);
    await writeFile(join(`${file}.lock`, "4194399 of-a-process-that-ended"), "");
    await writeConfig({ profiles: { a: profile("a") } }, file);
    expect((await readConfig(file))?.profiles["a"]?.baseUrl).toBe("http://a.test");
  });

  it("stays a link where it is one", async () => {
    const directory = makeDirectory();
    const target = join(directory, "dotfiles", "config.json");
    const file = join(directory, "config.json");
    await mkdir(join(directory, "dotfiles"));
    await writeConfig({ profiles: { a: profile("a") } }, target);
    await symlink(target, file);
    await writeConfig({ profiles: { b: profile("b") } }, file);
    expect(await readlink(file)).toBe(target);
    expect(Object.keys((await readConfig(target))?.profiles ?? {})).toEqual(["a", "b"]);
  });

  it("may begin with a byte order mark, as some editors write it", async () => {
    const file = join(makeDirectory(), "config.json");
    await writeConfig({ profiles: { a: profile("a") } }, file);
    await writeFile(file, `\ufeff${await readFile(file, "utf8")}`);
    expect(Object.keys((await readConfig(file))?.profiles ?? {})).toEqual(["a"]);
    await writeConfig({ profiles: { b: profile("b") } }, file);
    expect(Object.keys((await readConfig(file))?.profiles ?? {})).toEqual(["a", "b"]);
  });

  it.each([
    ["not JSON", `{"apiKey":"${KEY}" oops`],
    ["of another version", '{"version":2}'],
    ["without a base URL", `{"version":1,"defaultProfile":"a","profiles":{"a":{"apiKey":"${KEY}"}}}`],
  ])("is refused when it is %s, and its key never shows", async (_name, text) => {
    const directory = makeDirectory();
    const file = join(directory, "config.json");
    await writeFile(file, text);
    const error: unknown = await readConfig(file).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "configuration" });
    expect(inspect(error, { depth: 9 })).not.toContain(KEY);
  });
});

describe("settings", () => {
  it("come from flags before the environment before the profile [D0-variables-literal]", async () => {
    const directory = makeDirectory();
    const file = join(directory, "config.json");
    await writeConfig({ profiles: { default: profile("p"), other: profile("other", `cof_${"b".repeat(49)}`) } }, file);
    const env = { SERVICE_CONFIG_FILE: file };
    const saved = await resolveSettings(env);
    expect(saved).toMatchObject({
      baseUrl: "http://p.test",
      profile: "default",
      configFile: file,
      sources: { baseUrl: "profile", apiKey: "profile", contentOrigins: null },
    });
    expect(saved.apiKey?.reveal()).toBe(KEY);
    expect(inspect(saved)).not.toContain(KEY);
    const fromEnvironment = await resolveSettings({
      ...env,
      SERVICE_API_KEY: "k1",
      SERVICE_BASE_URL: "http://e.test",
      SERVICE_PROFILE: "other",
    });
    expect(fromEnvironment).toMatchObject({
      baseUrl: "http://e.test",
      profile: "other",
      sources: { baseUrl: "environment", apiKey: "environment", contentOrigins: null },
    });
    const flagged = await resolveSettings(
      { ...env, SERVICE_API_KEY: "k1", SERVICE_BASE_URL: "http://e.test" },
      { apiKey: "k2", baseUrl: "http://f.test" },
    );
    expect([flagged.baseUrl, flagged.apiKey?.reveal()]).toEqual(["http://f.test", "k2"]);
  });

  it("take origins of stores from the environment, however they are separated", async () => {
    const env = { SERVICE_CONFIG_DIR: makeDirectory() };
    expect((await resolveSettings(env)).contentOrigins).toEqual([]);
    const named = { ...env, SERVICE_CONTENT_ORIGINS: " https://a.example, https://b.example\nhttps://c.example," };
    expect((await resolveSettings(named)).contentOrigins).toEqual([
      "https://a.example",
      "https://b.example",
      "https://c.example",
    ]);
  });

  it("take origins of stores from the profile, when the environment names none and the service is its own", async () => {
    const file = join(makeDirectory(), "config.json");
    const [own, named] = ["https://own.example", "https://named.example"];
    await writeConfig({ profiles: { default: { ...profile("p"), contentOrigins: [own] } } }, file);
    const read = async (env: Readonly<Record<string, string>> = {}) => {
      const { contentOrigins, sources } = await resolveSettings({ SERVICE_CONFIG_FILE: file, ...env });
      return [contentOrigins, sources.contentOrigins];
    };
    expect(await read()).toEqual([[own], "profile"]);
    expect(await read({ SERVICE_CONTENT_ORIGINS: named })).toEqual([[named], "environment"]);
    expect(await read({ SERVICE_BASE_URL: "http://elsewhere.test" })).toEqual([[], null]);
    await writeConfig({ profiles: { default: profile("p") } }, file);
    expect(await read()).toEqual([[own], "profile"]);
    await writeConfig({ profiles: { default: { ...profile("p"), contentOrigins: [] } } }, file);
    expect(await read()).toEqual([[], null]);
    expect((await readConfig(file))?.profiles["default"]?.contentOrigins).toBeNull();
  });

  it("never send a profile's key to another origin than the profile's own", async () => {
    const directory = makeDirectory();
    const file = join(directory, "config.json");
    await writeConfig({ profiles: { default: profile("p") } }, file);
    const elsewhere = await resolveSettings({ SERVICE_CONFIG_FILE: file, SERVICE_BASE_URL: "http://elsewhere.test" });
    expect(elsewhere).toMatchObject({ baseUrl: "http://elsewhere.test", apiKey: null });
    const same = await resolveSettings({ SERVICE_CONFIG_FILE: file }, { baseUrl: "http://p.test/prefix" });
    expect(same.apiKey?.reveal()).toBe(KEY);
  });

  it("are empty without any, and a profile that was named must exist", async () => {
    const directory = makeDirectory();
    const env = { SERVICE_CONFIG_DIR: directory };
    expect(await resolveSettings(env)).toMatchObject({
      baseUrl: null,
      apiKey: null,
      sources: { baseUrl: null, apiKey: null, contentOrigins: null },
    });
    await expect(resolveSettings(env, { profile: "absent" })).rejects.toMatchObject({
      code: "profile_missing",
      profile: "absent",
    });
  });
});

import { configFile, readConfig, resolveSettings, writeConfig } from "@coffer/sdk/node";
import { Secret } from "@coffer/sdk";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "coffer-config-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const profile = (baseUrl: string, apiKey: string) => ({ baseUrl, apiKey: new Secret(apiKey) });

describe("the configuration file", () => {
  it("lies in ~/.config/coffer; XDG_CONFIG_HOME and SERVICE_CONFIG_DIR move it [D0-config-path D0-product-names]", () => {
    expect(configFile({})).toBe(join(homedir(), ".config/coffer/config.json"));
    expect(configFile({ HOME: "/home/ada" })).toBe("/home/ada/.config/coffer/config.json");
    expect(configFile({ HOME: "/home/ada", XDG_CONFIG_HOME: "/xdg" })).toBe("/xdg/coffer/config.json");
    expect(configFile({ XDG_CONFIG_HOME: "/xdg", SERVICE_CONFIG_DIR: "/own" })).toBe("/own/config.json");
  });

  it("has mode 0600 in a directory of mode 0700 [D0-config-modes]", async () => {
    const file = join(directory, "coffer", "config.json");
    await writeConfig({ profiles: { default: profile("http://127.0.0.1:1", "cof_a") } }, file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
  });

  it("is replaced as a whole, and writers at the same time lose nothing [D0-config-atomic]", async () => {
    const file = join(directory, "coffer", "config.json");
    const names = Array.from({ length: 10 }, (_, index) => `p${index}`);
    const writing = { over: false };
    const reader = (async () => {
      while (!writing.over) {
        const text = await readFile(file, "utf8").catch(() => "{}");
        expect(() => JSON.parse(text) as unknown).not.toThrow();
      }
    })();
    await Promise.all(
      names.map((name) => writeConfig({ profiles: { [name]: profile("http://127.0.0.1:1", `cof_${name}`) } }, file)),
    );
    writing.over = true;
    await reader;
    expect(Object.keys((await readConfig(file))?.profiles ?? {}).sort()).toEqual(names);
    expect(await readdir(dirname(file))).toEqual(["config.json"]);
  });

  it("gives way to SERVICE_API_KEY and SERVICE_BASE_URL [D0-variables-literal]", async () => {
    const SERVICE_CONFIG_DIR = directory;
    await writeConfig(
      { profiles: { default: profile("http://127.0.0.1:1", "cof_file") } },
      join(directory, "config.json"),
    );
    const saved = await resolveSettings({ SERVICE_CONFIG_DIR });
    expect([saved.baseUrl, saved.apiKey?.reveal()]).toEqual(["http://127.0.0.1:1", "cof_file"]);
    const variables = { SERVICE_CONFIG_DIR, SERVICE_API_KEY: "cof_env", SERVICE_BASE_URL: "http://127.0.0.1:2" };
    const given = await resolveSettings(variables);
    expect([given.baseUrl, given.apiKey?.reveal()]).toEqual(["http://127.0.0.1:2", "cof_env"]);
  });
});

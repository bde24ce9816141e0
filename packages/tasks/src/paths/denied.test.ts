import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isDenied, ownConfiguration } from "./denied.ts";

describe("the product's own configuration", () => {
  it.each([
    ["the usual place", {}, join(homedir(), ".config", "coffer", "config.json")],
    ["with an empty XDG_CONFIG_HOME", { XDG_CONFIG_HOME: "" }, join(homedir(), ".config", "coffer", "config.json")],
    ["with a relative XDG_CONFIG_HOME", { XDG_CONFIG_HOME: "x" }, join(homedir(), ".config", "coffer", "config.json")],
    ["of another HOME", { HOME: "/home/other" }, "/home/other/.config/coffer/config.json"],
    ["in XDG_CONFIG_HOME", { XDG_CONFIG_HOME: "/xdg" }, "/xdg/coffer/config.json"],
    ["in SERVICE_CONFIG_DIR", { SERVICE_CONFIG_DIR: "/own" }, "/own/uploads/journal.json"],
  ])("is denied: %s", (_case, env, path) => {
    expect(isDenied(ownConfiguration(env, null), path)).toBe(true);
  });

  it.each(["credentials.json", "credentials-8788.json"])("is denied as a started stack writes it: %s", (name) => {
    expect(isDenied({ folders: [], files: [] }, `/project/data/${name}`)).toBe(true);
  });

  it("is denied where it was named, with its lock and its copies, and nothing else there", () => {
    const list = ownConfiguration({}, "/project/coffer.json");
    for (const name of ["coffer.json", "coffer.json.lock", ".coffer.json.tmp"])
      expect(isDenied(list, `/project/${name}`)).toBe(true);
    expect(isDenied(list, "/project/report.json")).toBe(false);
  });
});

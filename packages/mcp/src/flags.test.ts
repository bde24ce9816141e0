import { delimiter } from "node:path";
import { describe, expect, it } from "vitest";
import { parseFlags } from "./flags.ts";
import type { Launch } from "./launch.ts";

function launched(args: string[], env: Record<string, string> = {}): Launch {
  const parsed = parseFlags(args, env, "1");
  if (parsed.kind !== "serve") throw new Error(JSON.stringify(parsed));
  return parsed.launch;
}

describe("parseFlags", () => {
  it("takes nothing", () => {
    expect(launched([])).toEqual({
      profile: "agent",
      tools: null,
      excludeTools: [],
      readOnly: false,
      vaultId: null,
      confirm: "auto",
      allowConfigFiles: false,
      roots: "narrow",
      downloads: null,
      revealSharedText: false,
      configFile: null,
      http: null,
      allowedFolders: [],
    });
  });

  it("takes everything", () => {
    const vault = "0b6d5e0e-6a3b-4f0f-9e0a-1c2d3e4f5a6b";
    const args = [
      "--profile",
      "owner",
      "--tools",
      "file_list, file_get",
      "--exclude-tools=file_get",
      "--read-only",
      "--reveal-shared-text",
      "--confirm=human-only",
      "--allow-config-files",
      "--roots=only",
      "--downloads",
      "/d/",
      "--vault",
      vault,
      "--config",
      "/c.json",
      "--allow",
      "/a",
      "/b",
      "--allow=/c",
    ];
    expect(launched(args)).toEqual({
      profile: "owner",
      tools: ["file_list", "file_get"],
      excludeTools: ["file_get"],
      readOnly: true,
      vaultId: vault,
      confirm: "human-only",
      allowConfigFiles: true,
      roots: "only",
      downloads: "/d",
      revealSharedText: true,
      configFile: "/c.json",
      http: null,
      allowedFolders: ["/a", "/b", "/c"],
    });
  });

  it("prefers the flag to the environment", () => {
    const env = { SERVICE_ALLOWED_DIRS: ["/x", "/y"].join(delimiter), SERVICE_CONFIG_FILE: "/e.json" };
    expect(launched([], env)).toMatchObject({ allowedFolders: ["/x", "/y"], configFile: "/e.json" });
    expect(launched(["--allow", "/a", "--config", "/c.json"], env)).toMatchObject({
      allowedFolders: ["/a"],
      configFile: "/c.json",
      http: null,
    });
  });

  it.each([
    [["--readonly"], "--readonly"],
    [["--alow", "/a"], "--alow"],
    [["serve"], "serve"],
    [["--profile", "admin"], "admin"],
    [["--tools", "vault_create"], "profile agent"],
    [["--profile", "owner", "--read-only", "--tools", "file_upload"], "No tool is left"],
    [["--tools", "file_lst"], "file_lst"],
    [["--exclude-tools", "everything"], "everything"],
    [["--vault", "mine"], "--vault"],
    [["--read-only=no"], "--read-only"],
    [["--allow"], "--allow"],
    [["--confirm", "never"], "never"],
  ])("refuses %j and names it", (args, named) => {
    const parsed = parseFlags(args, {}, "1");
    expect(parsed.kind).toBe("refuse");
    expect(JSON.stringify(parsed)).toContain(named);
  });

  it("explains itself", () => {
    expect(parseFlags(["--help"], {}, "1")).toMatchObject({ kind: "print" });
    expect(parseFlags(["--version"], {}, "1.2.3")).toEqual({ kind: "print", text: "1.2.3" });
  });
});

describe("--http", () => {
  it.each([
    [["--http", "8080"], { host: "127.0.0.1", port: 8080, publicUrl: null, allowedOrigins: [] }],
    [["--http", "[::1]:0"], { host: "::1", port: 0, publicUrl: null, allowedOrigins: [] }],
    [
      ["--http", "0.0.0.0:80", "--public-url", "https://a.example/mcp", "--allow-origin", "https://b.example"],
      { host: "0.0.0.0", port: 80, publicUrl: "https://a.example/mcp", allowedOrigins: ["https://b.example"] },
    ],
  ])("takes %j", (args, http) => {
    expect(launched(args)).toMatchObject({ http, allowedFolders: [] });
  });

  it.each([
    [["--http", "x"], "needs a port"],
    [["--http", "70000"], "needs a port"],
    [["--http", "0.0.0.0:80"], "needs --public-url"],
    [["--http", "80", "--allow", "/a"], "takes no --allow"],
    [["--http", "80", "--public-url", "ftp://a"], "absolute address"],
    [["--http", "80", "--allow-origin", "b"], "not an origin"],
    [["--public-url", "https://a.example/mcp"], "need --http"],
  ])("refuses %j", (args, words) => {
    const parsed = parseFlags(args, {}, "0");
    expect(parsed.kind === "refuse" ? parsed.sentence : parsed.kind).toContain(words);
  });
});

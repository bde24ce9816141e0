import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { parse as parseToml } from "smol-toml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hostsOf, type Host, type HostId } from "./hosts.ts";
import { installInto, installState, isHostPresent, uninstallFrom } from "./install.ts";
import { entryIn, renderEntry, withEntry, type ServerEntry } from "./settings-text.ts";

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "coffer-hosts-"));
});

afterEach(async () => {
  await rm(home, { recursive: true });
});

const IDS: readonly HostId[] = ["claude-code", "claude-desktop", "cursor", "codex", "gemini", "vscode"];
const entry: ServerEntry = {
  command: "/opt/node",
  args: ["/opt/coffer/main.js", "--allow", "/home/me/my files"],
  env: { SERVICE_CONFIG_FILE: "/home/me/config.json" },
};

function hostOf(id: HostId): Host {
  const host = hostsOf({ HOME: home }, "linux").find((each) => each.id === id);
  if (host === undefined) throw new Error(id);
  return host;
}

async function place(host: Host, text: string): Promise<void> {
  await mkdir(dirname(host.file), { recursive: true });
  await writeFile(host.file, text);
}

const textOf = (host: Host): Promise<string> => readFile(host.file, "utf8");

/** Settings as people have them: with comments, other servers, and a style of their own. */
const JSON_SETTINGS = `{
    // mine
    "theme": "dark",
    "mcpServers": { "other": { "command": "x", "args": ["a"] } },
    "servers": { "other": { "command": "x" } }, /* kept */
    "last": [1, 2,],
}
`;
const TOML_SETTINGS = `# mine
model = "o9" # kept

[mcp_servers.other]
command = "x" # kept too
args = [
  "[mcp_servers.coffer]",
]

[profiles.fast]
model = "o9-mini"
`;
const settingsFor = (host: Host): string => (host.format === "json" ? JSON_SETTINGS : TOML_SETTINGS);

describe.each(IDS)("%s", (id) => {
  it("gets the entry into a new file, for its owner alone, and loses it again", async () => {
    const host = hostOf(id);
    expect((await installInto(host, entry, false)).act).toBe("added");
    expect(entryIn(host, await textOf(host), "coffer")).toEqual(renderEntry(host, entry));
    expect((await stat(host.file)).mode & 0o777).toBe(0o600);
    expect((await installState(host, entry)).state).toBe("installed");
    expect((await installInto(host, entry, false)).act).toBe("unchanged");
    expect((await uninstallFrom(host, false)).act).toBe("removed");
    expect((await uninstallFrom(host, false)).act).toBe("unchanged");
    expect((await installState(host, entry)).state).toBe("missing");
  });

  it("takes a file that begins with a byte order mark, and keeps the mark", async () => {
    const host = hostOf(id);
    const before = `\ufeff${settingsFor(host)}`;
    await place(host, before);
    expect((await installInto(host, entry, false)).act).toBe("added");
    expect((await textOf(host)).startsWith("\ufeff")).toBe(true);
    expect((await installState(host, entry)).state).toBe("installed");
    await uninstallFrom(host, false);
    // JavaScript counts the mark as white space, so the comparison is of the rest.
    expect((await textOf(host)).startsWith("\ufeff")).toBe(true);
    expect((await textOf(host)).replaceAll(/\s/g, "")).toBe(before.replaceAll(/\s/g, ""));
  });

  it("keeps everything else of the file, byte by byte", async () => {
    const host = hostOf(id);
    const before = settingsFor(host);
    await place(host, before);
    await installInto(host, entry, false);
    const after = await textOf(host);
    for (const comment of before.match(/\/\/ mine|# mine|\/\* kept \*\/|# kept( too)?/g) ?? [])
      expect(after).toContain(comment);
    await uninstallFrom(host, false);
    if (host.format === "toml") expect(await textOf(host)).toBe(before);
    else expect((await textOf(host)).replaceAll(/\s/g, "")).toBe(before.replaceAll(/\s/g, ""));
  });

  it("changes an entry that starts something else, and shows first what would change", async () => {
    const host = hostOf(id);
    await installInto(host, { ...entry, command: "/old/node" }, false);
    expect((await installState(host, entry)).state).toBe("other");
    const before = await textOf(host);
    const planned = await installInto(host, entry, true);
    expect(planned.act).toBe("changed");
    expect(planned.diff).toMatch(/^-.*\/old\/node/m);
    expect(planned.diff).toMatch(/^\+.*\/opt\/node/m);
    expect(await textOf(host)).toBe(before);
    await installInto(host, entry, false);
    expect(await textOf(host)).not.toContain("/old/node");
  });

  it.each([
    ["broken", "{ [ \n mcp"],
    ["a list that ends nowhere", "[1"],
    ["servers that are none", '{"mcpServers": 3, "servers": 3, "mcp_servers": 3}'],
  ])("leaves a file alone that it does not understand: %s", async (_, text) => {
    const host = hostOf(id);
    const wrong = host.format === "toml" && text.startsWith('{"mcp') ? "mcp_servers = 3" : text;
    await place(host, wrong);
    await expect(installInto(host, entry, false)).rejects.toMatchObject({ code: "not_configured" });
    expect(await textOf(host)).toBe(wrong);
    expect((await installState(host, entry)).state).toBe("unreadable");
    expect(await readdir(dirname(host.file))).toHaveLength(1);
  });

  it("keeps the file's mode, and a link that leads to it", async () => {
    const host = hostOf(id);
    const real = join(home, "dotfiles");
    await writeFile(real, settingsFor(host));
    await chmod(real, 0o640);
    await mkdir(dirname(host.file), { recursive: true });
    await symlink(real, host.file);
    await installInto(host, entry, false);
    expect((await lstat(host.file)).isSymbolicLink()).toBe(true);
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    expect(entryIn(host, await readFile(real, "utf8"), "coffer")).not.toBeNull();
  });
});

describe("hosts", () => {
  it("lie where each platform has them", () => {
    const files = (env: Record<string, string>, platform: NodeJS.Platform): string[] =>
      hostsOf(env, platform).map(({ file }) => file.replaceAll("\\", "/"));
    expect(files({ HOME: "/h" }, "linux")).toMatchSnapshot();
    expect(files({ HOME: "/h" }, "darwin")).toMatchSnapshot();
    expect(files({ USERPROFILE: "C:/h", APPDATA: "C:/h/Roaming" }, "win32")).toMatchSnapshot();
    expect(
      files({ HOME: "/h", CODEX_HOME: "/c", CLAUDE_CONFIG_DIR: "/d", XDG_CONFIG_HOME: "/x" }, "linux"),
    ).toMatchSnapshot();
  });

  it("are only there when they were started once", async () => {
    for (const id of IDS) expect(await isHostPresent(hostOf(id))).toBe(false);
    await mkdir(join(home, ".cursor"));
    expect(await isHostPresent(hostOf("cursor"))).toBe(true);
  });
});

describe("any text", () => {
  const name = fc.constantFrom("coffer", "other", "a b", "x.y", "ü");
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }));

  it("of TOML stays what it was, but for the entry", () => {
    const host = hostOf("codex");
    fc.assert(
      fc.property(fc.dictionary(name, fc.dictionary(name, value)), fc.dictionary(name, value), (servers, others) => {
        const lines = Object.entries(servers).map(
          ([each, body]) =>
            `[mcp_servers.${JSON.stringify(each)}]\n${Object.entries(body)
              .map(([key, item]) => `${JSON.stringify(key)} = ${JSON.stringify(item)}`)
              .join("\n")}`,
        );
        const top = Object.entries(others).map(([key, item]) => `${JSON.stringify(key)} = ${JSON.stringify(item)}`);
        const text = `${[...top, ...lines].join("\n")}\n`;
        let before: unknown;
        try {
          before = parseToml(text);
        } catch {
          return;
        }
        try {
          const after = withEntry(host, text, "coffer", renderEntry(host, entry));
          expect(entryIn(host, after, "coffer")).toEqual(renderEntry(host, entry));
          const back = withEntry(host, after, "coffer", null);
          const { coffer: _gone, ...kept } = (before as { mcp_servers?: Record<string, unknown> }).mcp_servers ?? {};
          expect((parseToml(back) as { mcp_servers?: unknown }).mcp_servers ?? {}).toEqual(kept);
        } catch (error) {
          // What it cannot change safely it refuses.
          if ((error as { code?: string }).code !== "not_configured") throw error;
        }
      }),
    );
  });
});

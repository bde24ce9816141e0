/** MCP hosts, and where each has the servers of its user. */
import { homedir } from "node:os";
import { join } from "node:path";

export type HostId = "claude-code" | "claude-desktop" | "cursor" | "codex" | "gemini" | "vscode";

export interface Host {
  readonly id: HostId;
  readonly title: string;
  /** Its settings file. */
  readonly file: string;
  readonly format: "json" | "toml";
  /** The member of the file that holds servers by name. */
  readonly servers: string;
  /** The entry says `type: "stdio"`. */
  readonly isTyped: boolean;
  /** What the user does after a change. */
  readonly afterwards: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const RESTART = "Quit it and start it again.";

/** The hosts of this user on this platform. */
export function hostsOf(env: Environment, platform: NodeJS.Platform = process.platform): readonly Host[] {
  const home = env["HOME"] ?? env["USERPROFILE"] ?? homedir();
  const settings = settingsDirectory(env, platform, home);
  const json = { format: "json", servers: "mcpServers", isTyped: false, afterwards: RESTART } as const;
  return [
    {
      ...json,
      id: "claude-code",
      title: "Claude Code",
      isTyped: true,
      file:
        env["CLAUDE_CONFIG_DIR"] === undefined
          ? join(home, ".claude.json")
          : join(env["CLAUDE_CONFIG_DIR"], ".claude.json"),
      afterwards: "New sessions have it; /mcp shows it.",
    },
    {
      ...json,
      id: "claude-desktop",
      title: "Claude Desktop",
      file: join(settings, "Claude", "claude_desktop_config.json"),
    },
    { ...json, id: "cursor", title: "Cursor", file: join(home, ".cursor", "mcp.json") },
    {
      ...json,
      id: "codex",
      title: "Codex",
      format: "toml",
      servers: "mcp_servers",
      file: join(env["CODEX_HOME"] ?? join(home, ".codex"), "config.toml"),
    },
    { ...json, id: "gemini", title: "Gemini CLI", file: join(home, ".gemini", "settings.json") },
    {
      ...json,
      id: "vscode",
      title: "VS Code",
      servers: "servers",
      isTyped: true,
      file: join(settings, "Code", "User", "mcp.json"),
      afterwards: "Open the chat and start the server there once.",
    },
  ];
}

function settingsDirectory(env: Environment, platform: NodeJS.Platform, home: string): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] ?? join(home, "AppData", "Roaming");
  return env["XDG_CONFIG_HOME"] ?? join(home, ".config");
}

/** The manifest of the bundle: what a host asks its user for, and how it starts the server. */

interface Listed {
  readonly name: string;
  readonly description: string;
  readonly profile: string;
}

const text = (title: string, description: string, more: object = {}) => ({
  type: "string",
  title,
  description,
  required: false,
  default: "",
  ...more,
});

export function mcpbManifest(version: string, node: string, tools: readonly Listed[]): object {
  return {
    manifest_version: "0.3",
    name: "coffer",
    display_name: "Coffer",
    version,
    description: "Encrypted file storage that agents can use safely",
    author: { name: "Coffer" },
    license: "Apache-2.0",
    keywords: ["files", "storage", "encryption", "agents"],
    server: {
      type: "node",
      entry_point: "server/coffer.mjs",
      mcp_config: {
        command: "node",
        args: [
          "${__dirname}/server/coffer.mjs",
          "mcp-server",
          "--profile",
          "${user_config.profile}",
          "--allow",
          "${user_config.folders}",
        ],
        env: {
          SERVICE_CONFIG_FILE: "${user_config.settings}",
          SERVICE_BASE_URL: "${user_config.service}",
          SERVICE_API_KEY: "${user_config.key}",
          SERVICE_CHAIN_PRIVATE_KEY: "${user_config.chain_key}",
          SERVICE_NETWORK_FILE: "${user_config.network}",
        },
      },
    },
    user_config: {
      folders: {
        type: "directory",
        title: "Folders",
        multiple: true,
        required: true,
        description: "The tools read files in these folders only. Downloads go to a folder coffer in the first one",
      },
      settings: text("Settings file", "Written by coffer-mcp join. With it you need no value below.", { type: "file" }),
      service: text("Address of the service", "Like https://coffer.example.com"),
      key: text("API key", "The agent's own key, never the owner's", { sensitive: true }),
      chain_key: text("Chain key", "For shared vaults", { sensitive: true }),
      network: text("Network file", "For shared vaults: the configuration of the chain", { type: "file" }),
      profile: text("Tools", "read, agent or owner", { default: "agent" }),
    },
    compatibility: { platforms: ["darwin", "linux", "win32"], runtimes: { node } },
    tools: tools
      .filter(({ profile }) => profile !== "owner")
      .map(({ name, description }) => ({ name, description: description.split(/(?<=\.) /)[0] ?? "" })),
    // The owner's profile has more.
    tools_generated: true,
  };
}

/** What a host asks its user for before it starts the bundle: `npm run bundle:mcp` packs and starts it. */
import { TOOLS } from "@coffer/mcp";
import { describe, expect, it } from "vitest";
import { mcpbManifest } from "../../dev/scripts/mcpb-manifest.ts";

describe("the bundle's manifest", () => {
  const made = mcpbManifest("1.2.3", ">=22", TOOLS) as {
    user_config: Record<string, { sensitive?: boolean; multiple?: boolean; required: boolean; default?: string }>;
    server: { mcp_config: { args: string[]; env: Record<string, string> } };
    tools: { name: string }[];
  };

  it("asks for folders, several, and keeps keys where hosts keep secrets", () => {
    const { folders, key, chain_key: chainKey } = made.user_config;
    expect(folders).toMatchObject({ multiple: true, required: true });
    expect([key?.sensitive, chainKey?.sensitive]).toEqual([true, true]);
  });

  it("has a value for whatever the user leaves out, and nothing in it starts as a secret", () => {
    const { args, env } = made.server.mcp_config;
    const used = [...args, ...Object.values(env)].flatMap((text) => /\$\{user_config\.(\w+)\}/.exec(text)?.[1] ?? []);
    expect(used.toSorted()).toEqual(Object.keys(made.user_config).toSorted());
    const optional = Object.values(made.user_config).filter(({ required }) => !required);
    expect(optional.every((each) => typeof each.default === "string")).toBe(true);
    expect(made.tools.map(({ name }) => name)).toEqual(
      TOOLS.filter(({ profile }) => profile !== "owner").map(({ name }) => name),
    );
  });
});

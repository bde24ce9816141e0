import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { INSTRUCTIONS } from "./instructions.ts";
import { TOOLS } from "./registry.ts";
import type { Tool } from "./tool.ts";
import { chooseTools, LISTED_TOOLS, listTools, type ListedTool, withoutVault } from "./tool-list.ts";

/** Of o200k in these texts: 4.25 were counted, and a growth of short words would lower it. */
const CHARACTERS_OF_TOKEN = 4.2;
const all = { profile: "owner", tools: null, excludeTools: [], readOnly: false, vaultId: null, http: null } as const;
const names = (tools: readonly { readonly name: string }[]) => tools.map((tool) => tool.name);
const chosen = (choice: Partial<Parameters<typeof chooseTools>[0]>) => names(chooseTools({ ...all, ...choice }));

/** What a model reads of one tool. Hosts keep the output schema to themselves. */
function visible(tool: Tool | ListedTool): unknown {
  const { name, title, description, annotations } = tool;
  const schema = "invoke" in tool ? tool.inputSchema(false) : tool.inputSchema;
  return { name, title, description, inputSchema: schema, annotations };
}

it("the list as data is what the tools are: else run npm run generate", () => {
  expect(JSON.parse(JSON.stringify(LISTED_TOOLS))).toEqual(JSON.parse(JSON.stringify(listTools(TOOLS))));
  for (const tool of TOOLS) expect(withoutVault(tool.inputSchema(false))).toEqual(withoutVault(tool.inputSchema(true)));
  for (const tool of TOOLS.filter(({ takesVault }) => takesVault))
    expect(JSON.stringify(withoutVault(tool.inputSchema(false)))).toBe(JSON.stringify(tool.inputSchema(true)));
});

describe("what a model reads", () => {
  it.each(TOOLS)("of $name stays as it is", async (tool) => {
    const { outputSchema } = tool;
    const text = JSON.stringify({ ...(visible(tool) as object), outputSchema }, null, 2);
    await expect(`${text}\n`).toMatchFileSnapshot(`__snapshots__/${tool.name}.txt`);
  });

  it("instructions stay as they are", async () => {
    await expect(`${INSTRUCTIONS}\n`).toMatchFileSnapshot("__snapshots__/instructions.txt");
  });

  it("has an output schema with an object at its root and without references", () => {
    for (const { outputSchema } of TOOLS) {
      expect(outputSchema["type"]).toBe("object");
      expect(JSON.stringify(outputSchema)).not.toContain("$ref");
      expect(outputSchema["required"]).toBeUndefined();
    }
  });

  it("describes every argument of every tool", () => {
    const given = TOOLS.flatMap((tool) =>
      Object.entries(tool.inputSchema(false)["properties"] as Record<string, { description?: string }>).map(
        ([name, { description = "" }]) => ({ argument: `${tool.name}.${name}`, description }),
      ),
    );
    expect(given.length).toBeGreaterThan(20);
    expect(given.filter(({ description }) => description.length < 4)).toEqual([]);
  });

  it("names the default of every argument that may be left out", () => {
    const silent = TOOLS.flatMap((tool) => {
      const { properties, required = [] } = tool.inputSchema(false) as {
        properties: Record<string, { description?: string; default?: unknown }>;
        required?: string[];
      };
      return Object.entries(properties)
        .filter(([name, field]) => !required.includes(name) && field.default === undefined)
        .filter(([, { description = "" }]) => !description.includes("default"))
        .map(([name]) => `${tool.name}.${name}`);
    });
    expect(silent).toEqual([]);
  });

  it("costs at most 170 tokens a tool, 3,000 an agent and 4,500 an owner, and no description is long", () => {
    const cost = (tools: readonly (Tool | ListedTool)[]) =>
      Buffer.byteLength(
        JSON.stringify(
          tools.map((tool) => ({
            name: tool.name,
            description: tool.description,
            inputSchema: (visible(tool) as { inputSchema: object }).inputSchema,
          })),
        ),
      ) / CHARACTERS_OF_TOKEN;
    expect(cost(TOOLS) / TOOLS.length).toBeLessThanOrEqual(170);
    expect(cost(chooseTools({ ...all, profile: "agent" }))).toBeLessThanOrEqual(3_000);
    expect(cost(TOOLS)).toBeLessThanOrEqual(4_500);
    for (const tool of TOOLS) expect(tool.description.length).toBeLessThanOrEqual(400);
  });

  it("has instructions of at most 2 KB", () => {
    expect(Buffer.byteLength(INSTRUCTIONS)).toBeLessThanOrEqual(2048);
  });

  it("uses names that every host takes", () => {
    for (const tool of TOOLS) expect(tool.name).toMatch(/^[a-z]+(_[a-z]+)+$/);
    expect(new Set(names(TOOLS)).size).toBe(TOOLS.length);
  });
});

describe("webhooks", () => {
  it("are the owner's business alone: what receivers answer never reaches an agent's model [D0-agents-no-webhooks]", () => {
    const touching = TOOLS.filter(({ endpoints }) =>
      endpoints.some(({ id }) => /^(webhooks|webhookEvents|events)\./.test(id)),
    );
    expect(names(touching)).toEqual(["webhook_list", "webhook_set", "webhook_delete", "webhook_send"]);
    expect(touching.filter(({ profile }) => profile !== "owner")).toEqual([]);
    const agent = chooseTools({ ...all, profile: "agent" });
    expect(JSON.stringify([agent.map(visible), INSTRUCTIONS])).not.toMatch(/webhook|deliver/i);
  });

  it("are called by no other source of the server, whatever its tools declare", () => {
    const sources = globSync("**/*.ts", { cwd: import.meta.dirname }).filter((path) => !path.endsWith(".test.ts"));
    expect(sources.length).toBeGreaterThan(20);
    const callers = sources.filter((path) =>
      /\.(webhooks|webhookEvents|events)\b|contract\/webhooks|sdk\/webhooks/.test(
        readFileSync(join(import.meta.dirname, path), "utf8"),
      ),
    );
    expect(callers.filter((path) => !/^tools\/(webhook-|audit-list)/.test(path))).toEqual([]);
  });
});

describe("annotations", () => {
  it("follow from what the endpoints do", () => {
    const hints = Object.fromEntries(
      TOOLS.map(({ name, annotations: { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } }) => [
        name,
        [readOnlyHint && "reads", destructiveHint && "destroys", idempotentHint && "repeats", openWorldHint && "open"]
          .filter((word) => word !== false)
          .join(" "),
      ]),
    );
    expect(hints).toEqual({
      status_check: "reads repeats",
      vault_list: "reads repeats",
      vault_access_check: "reads repeats",
      file_list: "reads repeats",
      file_search: "reads repeats",
      file_get: "reads repeats",
      file_read: "reads repeats",
      file_download: "destroys repeats",
      file_verify: "reads repeats",
      change_list: "reads repeats",
      transfer_get: "reads repeats",
      transfer_cancel: "repeats",
      file_upload: "destroys",
      file_write: "destroys",
      file_move: "",
      file_delete: "destroys repeats",
      file_restore: "repeats",
      vault_create: "",
      access_list: "reads repeats",
      access_grant: "",
      access_revoke: "destroys repeats",
      webhook_list: "reads repeats",
      webhook_set: "destroys open",
      webhook_delete: "destroys repeats",
      webhook_send: "open",
      audit_list: "reads repeats",
    });
  });
});

describe("chooseTools", () => {
  it("has the tools of the profile and of those below it", () => {
    expect(chosen({ profile: "owner" })).toEqual(names(TOOLS));
    expect(chosen({ profile: "agent" })).toEqual(names(TOOLS.filter(({ profile }) => profile !== "owner")));
    expect(chosen({ profile: "read" })).toEqual(names(TOOLS.filter(({ profile }) => profile === "read")));
  });

  it("has nothing in the read profile that changes the account", () => {
    expect(TOOLS.filter(({ profile, readsOnly }) => profile === "read" && !readsOnly)).toEqual([]);
  });

  it("read-only wins over all else", () => {
    expect(chosen({ readOnly: true })).toEqual(names(TOOLS.filter(({ readsOnly }) => readsOnly)));
    expect(chosen({ readOnly: true, tools: ["file_upload", "file_get"] })).toEqual(["file_get"]);
  });

  it("takes single tools in and out, and none from outside the profile", () => {
    expect(chosen({ tools: ["file_get", "file_list"] })).toEqual(["file_list", "file_get"]);
    expect(chosen({ excludeTools: ["file_delete"] })).not.toContain("file_delete");
    expect(chosen({ profile: "agent", tools: ["file_get", "vault_create"] })).toEqual(["file_get"]);
  });

  it("for one vault drops vaultId from the schemas and vault_create from the list", () => {
    const tools = chooseTools({ ...all, vaultId: "v" });
    expect(names(tools)).not.toContain("vault_create");
    for (const tool of tools)
      expect(Object.keys(withoutVault(tool.inputSchema)["properties"] as object)).not.toContain("vaultId");
  });
});

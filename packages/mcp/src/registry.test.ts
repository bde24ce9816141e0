import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { KnownAccess } from "@coffer/tasks";
import { describe, expect, it } from "vitest";
import { INSTRUCTIONS } from "./instructions.ts";
import { chooseTools, TOOLS } from "./registry.ts";
import type { Tool } from "./tool.ts";

const all = { profile: null, tools: null, excludeTools: [], readOnly: false, vaultId: null } as const;
const names = (tools: readonly Tool[]) => tools.map((tool) => tool.name);
const chosen = (choice: Partial<Parameters<typeof chooseTools>[0]>, access: KnownAccess) =>
  names(chooseTools({ ...all, ...choice }, access));

/** What a model reads of one tool. */
function visible(tool: Tool): unknown {
  const { name, title, description, annotations, outputSchema } = tool;
  return {
    name,
    title,
    description,
    inputSchema: tool.inputSchema(false),
    ...(outputSchema === null ? {} : { outputSchema }),
    annotations,
  };
}

describe("what a model reads", () => {
  it("stays as it is", () => {
    expect(TOOLS.map(visible)).toMatchSnapshot();
    expect(INSTRUCTIONS).toMatchSnapshot();
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

  it("costs at most 150 tokens a tool, and no description is long", () => {
    const bytes = Buffer.byteLength(JSON.stringify(TOOLS.map(visible)));
    expect(bytes / 4 / TOOLS.length).toBeLessThanOrEqual(150);
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
  it("are no tool's business: what receivers answer never reaches a model [D0-agents-no-webhooks]", () => {
    const groups = TOOLS.flatMap(({ endpoints }) => endpoints.map(({ id }) => id.split(".")[0]));
    expect(groups).toContain("files");
    expect(groups.filter((group) => /^(webhooks|webhookEvents|events)$/.test(group ?? ""))).toEqual([]);
    expect(JSON.stringify([TOOLS.map(visible), INSTRUCTIONS])).not.toMatch(/webhook|deliver/i);
  });

  it("and no source of the server calls them, whatever its tools declare", () => {
    const sources = globSync("**/*.ts", { cwd: import.meta.dirname }).filter((path) => !path.endsWith(".test.ts"));
    expect(sources.length).toBeGreaterThan(20);
    const callers = sources.filter((path) =>
      /\.(webhooks|webhookEvents|events)\b|contract\/webhooks|sdk\/webhooks/.test(
        readFileSync(join(import.meta.dirname, path), "utf8"),
      ),
    );
    expect(callers).toEqual([]);
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
      account_get: "reads repeats",
      status_check: "reads repeats",
      vault_list: "reads repeats",
      vault_create: "",
      vault_access_check: "reads repeats",
      file_list: "reads repeats",
      file_get: "reads repeats",
      file_delete: "destroys repeats",
      file_upload: "destroys",
      file_download: "destroys repeats",
      file_verify: "reads repeats",
      trash_restore: "repeats",
    });
  });
});

describe("chooseTools", () => {
  it("never shows an agent's key an owner tool", () => {
    for (const profile of ["agent", "owner", "read", null] as const) {
      expect(chosen({ profile, tools: ["vault_create", "file_list"] }, "agent")).not.toContain("vault_create");
      expect(chosen({ profile }, "unknown")).not.toContain("vault_create");
    }
  });

  it("shows an owner's key all, unless the agent profile is asked for", () => {
    expect(chosen({}, "owner")).toEqual(names(TOOLS));
    expect(chosen({ profile: "agent" }, "owner")).not.toContain("vault_create");
  });

  it("without a key lists what the profile names", () => {
    expect(chosen({ profile: "owner" }, "none")).toContain("vault_create");
    expect(chosen({}, "none")).not.toContain("vault_create");
  });

  it("read-only wins over all else", () => {
    const reading = [
      "account_get",
      "status_check",
      "vault_list",
      "vault_access_check",
      "file_list",
      "file_get",
      "file_download",
      "file_verify",
    ];
    expect(chosen({ readOnly: true, profile: "owner" }, "owner")).toEqual(reading);
    expect(chosen({ profile: "read" }, "owner")).toEqual(reading);
    expect(chosen({ readOnly: true, tools: ["file_upload", "file_get"] }, "owner")).toEqual(["file_get"]);
  });

  it("takes single tools in and out", () => {
    expect(chosen({ tools: ["file_get", "file_list"] }, "owner")).toEqual(["file_list", "file_get"]);
    expect(chosen({ excludeTools: ["file_delete"] }, "owner")).not.toContain("file_delete");
  });

  it("for one vault drops vaultId from the schemas and vault_create from the list", () => {
    const tools = chooseTools({ ...all, vaultId: "v" }, "owner");
    expect(names(tools)).not.toContain("vault_create");
    for (const tool of tools) expect(JSON.stringify(tool.inputSchema(true))).not.toContain("vaultId");
  });
});

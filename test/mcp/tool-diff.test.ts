import { listTools, TOOLS } from "@coffer/mcp";
import { expect, it } from "vitest";
import { diffLists, type ListedTool } from "../../dev/scripts/tool-diff.ts";

const list = JSON.parse(JSON.stringify(listTools(TOOLS))) as ListedTool[];
const changed = (name: string, change: (tool: ListedTool) => ListedTool): ListedTool[] =>
  list.map((tool) => (tool.name === name ? change(tool) : tool));

it("the same list has no difference", () => {
  expect(diffLists(list, list)).toEqual({ added: [], removed: [], changed: [], isBreaking: false });
});

it("a tool that is gone breaks hosts, a new one does not", () => {
  const fewer = list.filter(({ name }) => name !== "file_move");
  expect(diffLists(list, fewer)).toMatchObject({ removed: ["file_move"], isBreaking: true });
  expect(diffLists(fewer, list)).toMatchObject({ added: ["file_move"], isBreaking: false });
});

it("other words break nothing; an argument that is gone or has to be given, and a fact that is gone, do", () => {
  const worded = changed("file_get", (tool) => ({ ...tool, description: "Other words." }));
  expect(diffLists(list, worded)).toMatchObject({
    changed: [{ tool: "file_get", differs: ["description"] }],
    isBreaking: false,
  });
  const { files: _files, ...rest } = list.find(({ name }) => name === "file_get")?.inputSchema.properties ?? {};
  const fewer = changed("file_get", (tool) => ({ ...tool, inputSchema: { ...tool.inputSchema, properties: rest } }));
  expect(diffLists(list, fewer)).toMatchObject({ changed: [{ removedArguments: ["files"] }], isBreaking: true });
  const stricter = changed("file_list", (tool) => ({
    ...tool,
    inputSchema: { ...tool.inputSchema, required: ["vaultId"] },
  }));
  expect(diffLists(list, stricter)).toMatchObject({ changed: [{ newlyRequired: ["vaultId"] }], isBreaking: true });
  const silent = changed("file_verify", (tool) => ({ ...tool, outputSchema: { properties: {} } }));
  expect(diffLists(list, silent).isBreaking).toBe(true);
});

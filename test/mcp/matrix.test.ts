/** All tools by the ways in which hosts and models send the same arguments: none of them makes a difference. */
import { join } from "node:path";
import { openToolClient, launcherCommand, startStack, type Stack, type ToolClient } from "@coffer/devstack";
import { TOOLS } from "@coffer/mcp";
import { createClient } from "@coffer/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";

let stack: Stack;
let tools: ToolClient;
let base: Record<string, Record<string, unknown>>;
/** Marks that the tool server's process has made. */
let nonce: string;
const folder = makeDirectory();

beforeAll(async () => {
  stack = await startStack();
  const owner = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.apiKey } });
  const vaultId = (await owner.vaults.create({ name: "Matrix", type: "public" })).id;
  const { file } = await owner.files.upload({ vaultId, name: "known.txt", contentType: "text/plain", body: "known" });
  tools = await openToolClient({
    credentialsFile: stack.credentialsFile,
    folders: [folder],
    launcher: launcherCommand(),
    environment: { SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client") },
    flags: ["--profile", "owner", "--confirm", "token"],
  });
  nonce = /<([\w-]{8})>/.exec((await tools.call("file_list", { vaultId })).text)?.[1] ?? "none";
  const absent = "deadbeef";
  base = {
    status_check: {},
    vault_list: {},
    vault_access_check: { vaultId },
    file_list: { vaultId },
    file_search: { query: "known" },
    file_get: { files: [file.id] },
    file_read: { file: file.id },
    file_download: { files: [absent], dest: "x" },
    file_verify: { file: file.id },
    change_list: { vaultId },
    transfer_get: { transferId: "none" },
    transfer_cancel: { transferId: "none" },
    file_upload: { paths: ["none.txt"], vaultId },
    file_write: { name: "same.txt", text: "same", vaultId },
    file_move: { files: [absent], to: "/", vaultId },
    file_delete: { files: [absent], vaultId },
    file_restore: { files: [absent], vaultId },
    vault_create: { name: "Matrix", type: "public" },
    access_list: { vaultId },
    access_grant: { name: "x", vaultIds: [vaultId] },
    access_revoke: { who: absent },
    webhook_list: {},
    webhook_set: { url: "https://receiver.example/hook" },
    webhook_delete: { webhookId: absent },
    webhook_send: { webhookId: absent },
    audit_list: {},
  };
  // What is there already is unchanged each time.
  await tools.call("file_write", base["file_write"]);
});

afterAll(async () => {
  await tools.close();
  await stack.close();
});

const codeOf = async (tool: string, args: Record<string, unknown>): Promise<string | null> =>
  (await tools.call(tool, args)).code;

describe.each(TOOLS)("$name", (tool) => {
  const { properties = {}, required = [] } = tool.inputSchema(false) as {
    properties?: Record<string, { type?: string; default?: string | number | boolean }>;
    required?: string[];
  };
  const given = (): Record<string, unknown> => base[tool.name] ?? {};

  it("takes null, nothing and an empty text of an optional argument for absent", async () => {
    const code = await codeOf(tool.name, given());
    const left = Object.keys(properties).filter((name) => !required.includes(name) && !(name in given()));
    for (const name of left)
      for (const nothing of [null, ""])
        expect([name, nothing, await codeOf(tool.name, { ...given(), [name]: nothing })]).toEqual([
          name,
          nothing,
          code,
        ]);
  });

  it("takes numbers and booleans as text", async () => {
    const code = await codeOf(tool.name, given());
    for (const [name, { type, default: usual }] of Object.entries(properties)) {
      if (usual === undefined || (type !== "integer" && type !== "boolean")) continue;
      expect([name, await codeOf(tool.name, { ...given(), [name]: String(usual) })]).toEqual([name, code]);
    }
  });

  it("names an unknown argument, and those that it has", async () => {
    const answer = await tools.call(tool.name, { ...given(), surprise: 1 });
    expect(answer.code).toBe("invalid_arguments");
    expect(answer.text).toContain("surprise");
    for (const name of Object.keys(properties)) expect(answer.text).toContain(name);
  });

  it("takes marks of this process off, and beginnings of ids for ids", async () => {
    const code = await codeOf(tool.name, given());
    const changed = (change: (text: string) => string): Record<string, unknown> =>
      Object.fromEntries(
        Object.entries(given()).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.map((each) => change(String(each))) : change(String(value)),
        ]),
      );
    expect(
      await codeOf(
        tool.name,
        changed((text) => `<${nonce}>${text}</${nonce}>`),
      ),
    ).toBe(code);
    const shortened = changed((text) => (/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text) ? text.slice(0, 8) : text));
    expect(await codeOf(tool.name, shortened)).toBe(code);
  });
});

it("every tool is in the matrix", () => {
  expect(Object.keys(base).toSorted()).toEqual(TOOLS.map(({ name }) => name).toSorted());
});

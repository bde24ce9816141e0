/** What agents met once, and must not meet again. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { renderKey } from "@coffer/contract";
import { startStack, openToolClient, launcherCommand, type Stack } from "@coffer/devstack";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { serviceOfFile } from "../kit/service-here.ts";
import { openToolsHere } from "../kit/tools-here.ts";

const bare = (cell: unknown): string => String(cell).replaceAll(/<\/?[\w-]{8}>/g, "");

describe("over the service in this process", () => {
  const newAccount = serviceOfFile();

  it("a name among 500 is found with a limit of one, whatever the service lists first", async () => {
    const { client } = await newAccount();
    const { id: vaultId } = await client.vaults.create({ name: "V", type: "public" });
    const names = Array.from({ length: 500 }, (_, at) => `report-${String(at).padStart(3, "0")}.txt`);
    await client.files.uploadMany(names.map((name) => ({ vaultId, name, body: name })));
    await using tools = await openToolsHere({ client });
    for (const at of [0, 250, 499]) {
      const name = names[at] ?? "";
      for (const args of [{ query: name }, { query: name.slice(0, 10), vaultId }]) {
        const { facts, text } = await tools.call("file_search", { ...args, limit: 1 });
        expect(bare(JSON.stringify(facts["files"]))).toContain(name);
        expect(text).not.toContain("0 files");
      }
      const got = await tools.call("file_get", { files: [name], vaultId });
      expect(bare(got.facts["name"])).toBe(name);
    }
    // A page without a match is no "none": there is more to look at.
    const none = await tools.call("file_search", { query: "nothing-like-it", limit: 1 });
    expect(none.facts).toMatchObject({ complete: true });
  });

  it("content types follow from names", async () => {
    const { client } = await newAccount();
    const folder = makeDirectory();
    const { id: vaultId } = await client.vaults.create({ name: "V", type: "public" });
    await using tools = await openToolsHere({ client, folders: [folder] });
    const types = { "a.pdf": "application/pdf", "b.md": "text/markdown", "c.png": "image/png", "d.csv": "text/csv" };
    for (const name of Object.keys(types)) await writeFile(join(folder, name), "x");
    await tools.call("file_upload", { paths: Object.keys(types), vaultId });
    await tools.call("file_write", { name: "e.json", text: "{}", vaultId });
    await tools.call("file_write", { name: "plain", text: "x", vaultId });
    const { files } = await client.files.list({ vaultId });
    expect(Object.fromEntries(files.map(({ name, contentType }) => [name, contentType]))).toEqual({
      ...types,
      "e.json": "application/json",
      plain: "text/plain",
    });
  });

  it("a name of 256 bytes fails for good, wherever it is meant", async () => {
    const { client } = await newAccount();
    const folder = makeDirectory();
    const { id: vaultId } = await client.vaults.create({ name: "V", type: "public" });
    const { file } = await client.files.upload({ vaultId, name: "a.txt", body: "a" });
    await writeFile(join(folder, "local.txt"), "x");
    await using tools = await openToolsHere({ client, folders: [folder] });
    const long = "n".repeat(256);
    for (const [tool, args] of [
      ["file_upload", { paths: ["local.txt"], name: long, vaultId }],
      ["file_upload", { paths: [long], vaultId }],
      ["file_write", { name: long, text: "x", vaultId }],
      ["file_write", { name: "x", folder: long, text: "x", vaultId }],
      ["file_download", { files: [file.id], dest: long }],
      ["file_verify", { file: file.id, path: long }],
      ["vault_create", { name: long, type: "public" }],
    ] as const) {
      const { facts, isError } = await tools.call(tool, args);
      expect([tool, isError]).toEqual([tool, true]);
      expect([tool, facts["error"]]).toEqual([tool, expect.objectContaining({ retryable: false })]);
    }
    const renamed = await tools.call("file_move", { files: [file.id], name: long });
    expect(JSON.stringify(renamed.facts)).not.toContain('"retryable":true');
    expect((await client.files.get(file.id)).name).toBe("a.txt");
  });
});

describe("over a real service", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(async () => {
    await stack.close();
  });

  it("a key that is set after the start is found without a restart, and so is another one", async () => {
    const configuration = makeDirectory();
    const credentialsFile = join(configuration, "agent.json");
    await using tools = await openToolClient({
      credentialsFile,
      folders: [],
      launcher: launcherCommand(),
      environment: { SERVICE_CONFIG_DIR: configuration },
    });
    expect((await tools.call("vault_list")).code).toBe("signed_out");
    const save = (apiKey: string): Promise<void> => {
      const profiles = { default: { baseUrl: stack.baseUrl, apiKey } };
      const text = JSON.stringify({ version: 1, defaultProfile: "default", profiles });
      return writeFile(credentialsFile, text, { mode: 0o600 });
    };
    // One that the service does not know, and then one that it does.
    await save(renderKey(new Uint8Array(32).fill(9)));
    expect((await tools.call("vault_list")).code).toBe("signed_out");
    await save(stack.apiKey);
    expect((await tools.call("vault_list")).isError).toBe(false);
  });
});

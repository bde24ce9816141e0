/**
 * A session of an MCP client with the Coffer tool server, from the first list of tools to a verified download.
 * Run it: `npm run example -- mcp-session`, or copy it into a project of yours. The program checks each claim and
 * ends with 1 at the first that does not hold.
 */
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { configFile } from "@coffer/sdk/node";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

// The only folder the tools may touch.
const folder = await realpath(await mkdtemp(join(tmpdir(), "coffer-example-")));
const settings = await mkdtemp(join(tmpdir(), "coffer-settings-"));

// The program of the package, which npm links as `coffer-mcp`.
const program = fileURLToPath(new URL("../dist/main.js", import.meta.resolve("@coffer/mcp")));
const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [program, "--profile", "owner", "--allow", folder],
    // The file with your key; pins and journals go to a folder of the example's own.
    env: { ...getDefaultEnvironment(), SERVICE_CONFIG_FILE: configFile(), SERVICE_CONFIG_DIR: settings },
  }),
);

try {
  await session();
  console.log("every claim holds");
} finally {
  await client.close();
  for (const each of [folder, settings]) await rm(each, { recursive: true, force: true });
}

async function session(): Promise<void> {
  const { tools } = await client.listTools();
  claim(
    "the owner's profile has the owner's tools",
    tools.some(({ name }) => name === "vault_create"),
  );
  claim(
    "each says whether it changes anything",
    tools.every((tool) => tool.annotations?.readOnlyHint !== undefined),
  );

  const vault = await succeed("vault_create", { name: `Reports ${randomUUID()}` });
  const vaultId = text(vault["vaultId"]);

  const content = randomBytes(3 * 1024 * 1024);
  const path = join(folder, "report.bin");
  await writeFile(path, content);
  const receipt = await succeed("file_upload", { paths: [path], vaultId, idempotencyKey: "report-1" });
  claim(
    "the receipt has bytes and digest",
    receipt["bytes"] === content.length && receipt["sha256"] === sha256(content),
  );

  const repeated = await succeed("file_upload", { paths: [path], vaultId, idempotencyKey: "report-1" });
  claim("the same key makes no second file", repeated["fileId"] === receipt["fileId"]);

  const list = await succeed("file_list", { vaultId });
  claim("the file is listed", JSON.stringify(list["files"]).includes(text(receipt["fileId"]).slice(0, 8)));
  claim("its name is fenced as text that others wrote", JSON.stringify(list["files"]).includes(">report.bin</"));

  // Downloads go below one folder: here the usual one, inside of the allowed one.
  const destPath = join(folder, "coffer", "report.back");
  await succeed("file_download", { files: [receipt["fileId"]], dest: destPath });
  claim("the bytes come back", content.equals(await readFile(destPath)));
  claim("into a file that only its owner reads", ((await stat(destPath)).mode & 0o777) === 0o600);

  const again = await fail("file_download", { files: [receipt["fileId"]], dest: destPath });
  claim(
    "nothing is overwritten without asking",
    again.code === "destination_exists" && again.nextStep.includes("ifExists: replace"),
  );

  const outside = await fail("file_upload", { paths: ["/etc/hostname"], vaultId });
  claim("no path outside the folder is read", outside.code === "path_not_allowed");

  const verified = await succeed("file_verify", { file: receipt["fileId"], path: destPath });
  claim("the stored file is intact and equal", verified["intact"] === true && verified["equal"] === true);

  await succeed("file_delete", { files: [receipt["fileId"]] });
  const restored = await succeed("file_restore", { files: [receipt["fileId"]] });
  claim("a deleted file comes back", restored["done"] === 1);
}

async function succeed(name: string, given: Record<string, unknown>): Promise<Record<string, unknown>> {
  const result = await client.callTool({ name, arguments: given });
  assert.notEqual(result.isError, true, JSON.stringify(result.content));
  return result.structuredContent as Record<string, unknown>;
}

async function fail(name: string, given: Record<string, unknown>): Promise<{ code: string; nextStep: string }> {
  const result = await client.callTool({ name, arguments: given });
  assert.equal(result.isError, true, `${name} should have failed`);
  return (result.structuredContent as { error: { code: string; nextStep: string } }).error;
}

function claim(sentence: string, holds: boolean): void {
  assert.ok(holds, sentence);
  console.log(`ok  ${sentence}`);
}

function text(value: unknown): string {
  assert.ok(typeof value === "string");
  return value;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

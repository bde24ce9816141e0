import { createHash, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launcherCommand, startStack, type Stack } from "@coffer/devstack";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";

const MIB = 1024 * 1024;

let stack: Stack;
const folder = makeDirectory();

beforeAll(async () => {
  stack = await startStack();
});

afterAll(async () => {
  await stack.close();
});

async function connect(mode: "legacy" | { pin: string }): Promise<Client> {
  const { command, args } = launcherCommand();
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: { roots: {} }, versionNegotiation: { mode } },
  );
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: `file://${folder}` }] }));
  const env = {
    PATH: process.env["PATH"] ?? "",
    SERVICE_CONFIG_FILE: stack.credentialsFile,
    SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client"),
  };
  await client.connect(
    new StdioClientTransport({
      command,
      args: [...args, "--profile", "owner", "--allow", tmpdir()],
      env,
      stderr: "pipe",
    }),
  );
  return client;
}

type Facts = Readonly<Record<string, unknown>>;

describe.each([
  ["2025 era", "legacy" as const, "2025-11-25"],
  ["2026 era", { pin: "2026-07-28" }, "2026-07-28"],
])("client 2.4, %s, a client with roots [D0-mcp-library]", (name, mode, revision) => {
  it("stores and fetches a file with progress, and cancels", async () => {
    const client = await connect(mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const call = async (tool: string, given: Facts, options: object = {}): Promise<Facts> => {
      const result = await client.callTool({ name: tool, arguments: given }, options);
      return result.structuredContent as Facts;
    };
    const { vaultId } = await call("vault_create", { name, type: "public" });
    const content = randomBytes(12 * MIB);
    const path = join(folder, "file.bin");
    await writeFile(path, content);

    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress);
    const receipt = await call("file_upload", { paths: [path], vaultId }, { onprogress });
    expect(receipt).toMatchObject({
      bytes: content.length,
      sha256: createHash("sha256").update(content).digest("hex"),
    });
    expect(seen.length).toBeGreaterThan(1);

    const destPath = join(folder, "coffer", `${revision}.back`);
    await call("file_download", { files: [receipt["fileId"]], dest: `${revision}.back` });
    expect(content.equals(await readFile(destPath))).toBe(true);

    const cancel = new AbortController();
    const cancelled = call(
      "file_upload",
      { paths: [path], vaultId, name: "cancelled" },
      {
        signal: cancel.signal,
        onprogress: () => {
          cancel.abort();
        },
      },
    );
    await expect(cancelled).rejects.toThrow();
    expect(JSON.stringify(await call("file_list", { vaultId }))).not.toContain("cancelled");

    // Allowed by the flag, but outside the client's roots.
    const outside = makeDirectory();
    await writeFile(join(outside, "x"), "x");
    const refused = await call("file_upload", { paths: [join(outside, "x")], vaultId });
    expect(refused).toMatchObject({ error: { code: "path_not_allowed" } });
    await client.close();
  });
});

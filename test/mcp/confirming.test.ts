/** A host that can ask its user asks, in both protocol eras, through real processes. confirm-matrix.test.ts has every answer. */
import { join } from "node:path";
import { launcherCommand, startStack, type Stack } from "@coffer/devstack";
import { createClient, type Client as Owner } from "@coffer/sdk";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let stack: Stack;
let owner: Owner;
let vaultId: string;

beforeAll(async () => {
  stack = await startStack();
  owner = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.apiKey } });
  vaultId = (await owner.vaults.create({ name: "Asked", type: "public" })).id;
});

afterAll(async () => {
  await stack.close();
});

type Answer = { action: "accept" | "decline" | "cancel"; content?: Record<string, boolean> };
type Mode = "legacy" | { pin: string };

interface Host extends AsyncDisposable {
  readonly asked: string[];
  call(
    args: Record<string, unknown>,
  ): Promise<{ error?: { code: string; preview?: string; confirm?: string }; done?: number }>;
}

/** null: a host that cannot ask. */
async function openHost(
  mode: Mode,
  answer: (() => Answer | Promise<Answer>) | null,
  flags: string[] = [],
): Promise<Host> {
  const asked: string[] = [];
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: answer === null ? {} : { elicitation: {} }, versionNegotiation: { mode } },
  );
  if (answer !== null)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      return await answer();
    });
  const { command, args } = launcherCommand();
  const env = {
    PATH: process.env["PATH"] ?? "",
    SERVICE_CONFIG_FILE: stack.credentialsFile,
    SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client"),
  };
  await client.connect(new StdioClientTransport({ command, args: [...args, ...flags], env, stderr: "pipe" }));
  return {
    asked,
    call: async (given) => {
      const result = await client.callTool({ name: "file_delete", arguments: given });
      return result.structuredContent as Awaited<ReturnType<Host["call"]>>;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function folder(): Promise<string> {
  const { id } = await owner.folders.create({ vaultId, name: `Folder ${String(Math.random())}` });
  await owner.files.upload({ vaultId, folderId: id, name: "x.txt", body: "x" });
  return id;
}

const isLive = async (id: string): Promise<boolean> => (await owner.folders.get(id)).trashedAt === null;

describe.each([
  ["2025 era", "legacy" as const],
  ["2026 era", { pin: "2026-07-28" }],
])("a host of the %s", (_era, mode) => {
  it("asks its user, with counts, and does it on a yes", async () => {
    const id = await folder();
    await using host = await openHost(mode, () => ({ action: "accept", content: { confirm: true } }));
    expect(await host.call({ files: [id] })).toMatchObject({ done: 1 });
    expect(host.asked).toEqual([expect.stringContaining("1 files")]);
    expect(await isLive(id)).toBe(false);
  });

  it("does nothing when the files changed while the user was asked", async () => {
    const id = await folder();
    const change = async (): Promise<Answer> => {
      await owner.files.upload({ vaultId, folderId: id, name: `y${String(Math.random())}.txt`, body: "y" });
      return { action: "accept", content: { confirm: true } };
    };
    await using host = await openHost(mode, change);
    // The 2026 era is asked anew each time, until the client gives up.
    await host.call({ files: [id] }).catch(() => undefined);
    expect(host.asked.length).toBeGreaterThan(0);
    expect(await isLive(id)).toBe(true);
  });

  it("that cannot ask gets a preview and a token, or with human-only no token", async () => {
    const id = await folder();
    await using host = await openHost(mode, null);
    const { error } = await host.call({ files: [id] });
    expect(error).toMatchObject({
      code: "confirmation_required",
      preview: expect.stringContaining("1 files") as string,
    });
    await using strict = await openHost(mode, null, ["--confirm", "human-only"]);
    const refused = await strict.call({ files: [id] });
    expect(refused.error).toMatchObject({ code: "confirmation_required" });
    expect(refused.error?.confirm).toBeUndefined();
    expect((await strict.call({ files: [id], confirm: error?.confirm })).error?.code).toBe("confirmation_required");
    expect(await isLive(id)).toBe(true);
    expect(await host.call({ files: [id], confirm: error?.confirm })).toMatchObject({ done: 1 });
  });

  it("has a token for what the preview counted: not when 300 files came deeper down, or one beyond the first page", async () => {
    const id = await folder();
    const { id: inner } = await owner.folders.create({ vaultId, parentId: id, name: "inner" });
    const { id: deep } = await owner.folders.create({ vaultId, parentId: inner, name: "deep" });
    await owner.files.upload({ vaultId, folderId: deep, name: "y.txt", body: "yy" });
    const add = async (folderId: string, count: number): Promise<void> => {
      const inputs = Array.from({ length: count }, (_, at) => ({
        vaultId,
        folderId,
        name: `${folderId}${String(at)}`,
        body: "z",
      }));
      for (const { error } of await owner.files.uploadMany(inputs)) expect(error).toBeNull();
    };
    await using host = await openHost(mode, null);
    const ask = async (confirm?: string) => (await host.call({ files: [id], confirm })).error;
    const first = await ask();
    expect(first?.preview).toContain("2 files (3 bytes) and 2 folders");
    await add(deep, 300);
    const second = await ask(first?.confirm);
    expect(second).toMatchObject({ code: "confirmation_required" });
    expect(second?.preview).toContain("302 files (303 bytes) and 2 folders");
    await owner.folders.create({ vaultId, parentId: deep, name: "empty" });
    const third = await ask(second?.confirm);
    expect(third).toMatchObject({ code: "confirmation_required" });
    expect(await isLive(id)).toBe(true);
    expect(await host.call({ files: [id], confirm: third?.confirm })).toMatchObject({ done: 1 });
  });
});

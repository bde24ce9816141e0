import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Client } from "@coffer/sdk";
import { expect, it } from "vitest";
import { startStack, type Stack } from "./stack.ts";

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777;

it("leaves the mode of a data directory that was there, closes one it makes, and keeps the key for the owner alone", async () => {
  const parent = await mkdtemp(join(tmpdir(), "coffer-stack-test-"));
  try {
    await chmod(parent, 0o1777);
    const existing = await startStack({ dataDirectory: parent });
    await existing.close();
    expect(await modeOf(parent)).toBe(0o1777);
    expect(await modeOf(existing.credentialsFile)).toBe(0o600);
    expect(await modeOf(existing.networkFile)).toBe(0o600);
    const made = await startStack({ dataDirectory: join(parent, "deep", "data") });
    await made.close();
    expect(await modeOf(made.dataDirectory)).toBe(0o700);
    expect(await modeOf(made.credentialsFile)).toBe(0o600);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
});

it(
  "keeps account, chain and shared vaults; another stack on the same data uses the chain that is open",
  { timeout: 60_000 },
  async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), "coffer-stack-test-"));
    const ownerOf = ({ baseUrl, apiKey, sharedVaults }: Stack): Client =>
      createClient({ baseUrl, credentials: { apiKey }, sharedVaults });
    const body = new TextEncoder().encode("kept");
    let fileId: string;
    try {
      {
        await using first = await startStack({ dataDirectory });
        const owner = ownerOf(first);
        const vault = await owner.vaults.create({ name: "Kept", type: "shared" });
        fileId = (await owner.files.upload({ vaultId: vault.id, name: "kept.txt", body })).file.id;
      }
      await using again = await startStack({ dataDirectory });
      await using beside = await startStack({ dataDirectory });
      expect([again.newAccount, beside.newAccount]).toEqual([false, false]);
      expect(beside.credentialsFile).not.toBe(again.credentialsFile);
      for (const stack of [again, beside]) {
        expect(Buffer.from(await (await ownerOf(stack).files.download(fileId)).bytes())).toEqual(Buffer.from(body));
      }
    } finally {
      await rm(dataDirectory, { recursive: true, force: true });
    }
  },
);

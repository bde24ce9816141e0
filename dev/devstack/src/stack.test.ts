import { once } from "node:events";
import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openLocalnet } from "@coffer/localnet";
import { createClient, type Client } from "@coffer/sdk";
import { beforeEach, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { failureSentence } from "./failure-sentence.ts";
import { LocalNetworkError, openLocalNetwork } from "./local-network.ts";
import { startStack, type Stack } from "./stack.ts";

let parent: string;
beforeEach(async () => {
  parent = makeDirectory();
});

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777;

it("leaves the mode of a data directory that was there, closes one it makes, and keeps the key for the owner alone", async () => {
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
});

it("keeps account, chain and shared vaults; another stack on the same data uses the chain that is open", async () => {
  const dataDirectory = parent;
  const ownerOf = ({ baseUrl, apiKey, sharedVaults }: Stack): Client =>
    createClient({ baseUrl, credentials: { apiKey }, sharedVaults });
  const body = new TextEncoder().encode("kept");
  let fileId: string;
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
});

it("lets stacks that start at the same moment share one chain and one account", async () => {
  const dataDirectory = parent;
  const started = await Promise.allSettled([1, 2, 3].map(() => startStack({ dataDirectory })));
  const stacks = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  try {
    expect(started.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
    expect(stacks.map(({ newAccount }) => newAccount).sort()).toEqual([false, false, true]);
    expect(new Set(stacks.map(({ apiKey }) => apiKey)).size).toBe(1);
    expect(new Set(stacks.map(({ credentialsFile }) => credentialsFile)).size).toBe(3);
  } finally {
    for (const stack of stacks) await stack.close();
  }
});

it("waits no longer than it should for a chain that is held and not served", async () => {
  const dataDirectory = parent;
  await using _held = await openLocalnet({ directory: join(dataDirectory, "localnet") });
  const failure = await openLocalNetwork(dataDirectory, { patience: 0 }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LocalNetworkError);
  expect((failure as Error).message).toMatch(/in use by another process.*--data/);
});

it("says in a sentence that its data directory cannot be made", async () => {
  const file = join(parent, "a\nfile");
  await writeFile(file, "");
  for (const dataDirectory of [file, join(file, "below")]) {
    const failure: unknown = await startStack({ dataDirectory }).catch((error: unknown) => error);
    const said = failureSentence(failure, dataDirectory);
    expect(said).toMatch(/^The data directory cannot be made: E(EXIST|NOTDIR).*\. Name another with --data$/);
    expect(said).not.toContain("\n");
  }
});

it("says in a sentence that a local chain cannot be opened, and takes nothing else for one that runs", async () => {
  const dataDirectory = parent;
  const localnet = join(dataDirectory, "localnet");
  await using other = createServer((_request, response) => response.end("another program"));
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  await mkdir(localnet);
  const grpcUrl = `http://127.0.0.1:${String((other.address() as AddressInfo).port)}`;
  await writeFile(join(dataDirectory, "network.json"), JSON.stringify({ grpcUrl, originalPackageId: "0x1" }));
  for (const [file, content] of [
    ["key-server-seed", "too short"],
    ["chain.sqlite", "no database"],
  ] as const) {
    await writeFile(join(localnet, file), content);
    const failure = await startStack({ dataDirectory }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LocalNetworkError);
    expect((failure as Error).message).toContain(localnet);
    expect((failure as Error).message).toMatch(/--data/);
  }
});

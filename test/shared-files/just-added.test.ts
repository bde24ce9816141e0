import { afterAll, beforeAll, expect, test } from "vitest";
import { openSharedStack, type SharedStack } from "../kit/shared-stack.ts";

let stack: SharedStack;
beforeAll(async () => {
  stack = await openSharedStack({ environment: { SERVICE_RATE_GENERAL: "100000", SERVICE_RATE_GENERAL_BURST: "10000" } });
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose]());

test("what a member writes right after it was added opens at once to whoever read the vault just before", async () => {
  const vault = await stack.owner.client.vaults.create({ name: "just added", type: "shared" });
  const agent = await stack.invite("agent");
  const reader = stack.owner.another();
  expect(await reader.files.list({ vaultId: vault.id })).toMatchObject({ files: [] });
  const own = await stack.owner.client.files.upload({ vaultId: vault.id, name: "own", body: Buffer.from("own") }).catch(String);
  void own;
  expect(Buffer.from(await (await reader.files.download((own as any).file.id)).bytes()).toString()).toBe("own");
  await stack.owner.client.vaults.members.add(vault.id, agent.signer.chainAddress);
  const { file } = await agent.client.files.upload({ vaultId: vault.id, name: "a.txt", body: Buffer.from("hello") });
  const first = await reader.files.download(file.id).then((d) => d.bytes()).then((b) => Buffer.from(b).toString()).catch((e) => `${e.code} ${e.message}`);
  await new Promise((r) => setTimeout(r, 5500));
  const second = await reader.files.download(file.id).then((d) => d.bytes()).then((b) => Buffer.from(b).toString()).catch((e) => `${e.code} ${e.message}`);
  console.log({ first, second });
}, 60_000);

test("record", async () => {
  const vault = await stack.owner.client.vaults.create({ name: "record", type: "shared" });
  const agent = await stack.invite("agent2");
  const reader = stack.owner.another();
  await reader.vaults.checkAccess(vault.id);
  await reader.files.upload({ vaultId: vault.id, name: "x", body: Buffer.from("own") }).catch(() => null);
  await stack.owner.client.vaults.members.add(vault.id, agent.signer.chainAddress);
  const { file } = await agent.client.files.upload({ vaultId: vault.id, name: "b.txt", body: Buffer.from("hello") });
  const l = await reader.files.list({ vaultId: vault.id }).catch((e) => `${e.code} ${e.message}`);
  console.log(JSON.stringify(l).slice(0, 600), file.id);
}, 60_000);

import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openToolClient, launcherCommand, startStack, textFact, type Stack, type ToolClient } from "@coffer/devstack";
import { chainKeySigner, createClient, generateChainKey } from "@coffer/sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";

const MIB = 1024 * 1024;
const PLAN = { SERVICE_PRO_FILE_BYTES: String(7 * MIB), SERVICE_PRO_STORAGE_BYTES: String(10 * MIB) };

let stack: Stack;
const folder = makeDirectory();
let tools: ToolClient;
let vaultId: string;

beforeAll(async () => {
  stack = await startStack({ environment: PLAN });
  tools = await openToolClient({
    credentialsFile: stack.credentialsFile,
    // The vault of another account is written to after its error was shown.
    flags: ["--profile", "owner", "--confirm", "token"],
    folders: [folder],
    launcher: launcherCommand(),
    environment: { SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client") },
  });
  vaultId = textFact(await tools.call("vault_create", { name: "Room", type: "public" }), "vaultId");
});

afterAll(async () => {
  await tools.close();
  await stack.close();
});

it("an upload that the service takes is not refused before it, near the account's limit", async () => {
  const path = join(folder, "report.bin");
  await writeFile(path, randomBytes(6 * MIB));
  const keyed = { paths: [path], vaultId, idempotencyKey: "report-of-today" };
  const first = await tools.call("file_upload", keyed);
  expect(first.code).toBeNull();
  // The repeat finds the file of the first run, although there is no room for another one like it.
  const repeat = await tools.call("file_upload", keyed);
  expect(repeat.code).toBeNull();
  expect(textFact(repeat, "fileId")).toBe(textFact(first, "fileId"));
  // The version that is replaced is kept, and counts.
  await writeFile(path, randomBytes(6 * MIB));
  expect((await tools.call("file_upload", { paths: [path], vaultId, ifExists: "version" })).code).toBe("storage_quota");
  await writeFile(path, randomBytes(3 * MIB));
  const version = await tools.call("file_upload", { paths: [path], vaultId, ifExists: "version" });
  expect(version.code).toBeNull();
  expect(textFact(version, "fileId")).toBe(textFact(first, "fileId"));
});

it("one that cannot fit is refused: by the account here, by the service under a key, by its size always", async () => {
  const path = join(folder, "other.bin");
  await writeFile(path, randomBytes(6 * MIB));
  const plain = await tools.call("file_upload", { paths: [path], vaultId });
  expect(plain.code).toBe("storage_quota");
  expect(plain.text).toContain("nothing was sent");
  expect((await tools.call("file_upload", { paths: [path], vaultId, idempotencyKey: "other" })).code).toBe(
    "storage_quota",
  );
  expect((await tools.call("file_upload", { paths: [path], vaultId, ifExists: "version" })).code).toBe("storage_quota");
  await writeFile(path, randomBytes(8 * MIB));
  for (const more of [{}, { idempotencyKey: "large" }, { ifExists: "version" }]) {
    const answer = await tools.call("file_upload", { paths: [path], vaultId, ...more });
    expect(answer.code).toBe("file_too_large");
    expect(answer.text).toContain("nothing was sent");
  }
});

it("a member of another account's vault is held to that account's room, not to its own", async () => {
  const { baseUrl, sharedVaults } = stack;
  const { apiKey } = await createClient({ baseUrl }).development.signup({ email: "roomy@example.com" });
  const signer = await chainKeySigner((await generateChainKey()).privateKey);
  const roomy = createClient({ baseUrl, credentials: { apiKey }, sharedVaults: { ...sharedVaults, signer } });
  await roomy.account.linkChain(signer);
  const { id } = await roomy.vaults.create({ name: "Roomy", type: "shared" });
  const { chainAddress, statements } = sharedVaults.signer;
  await roomy.vaults.members.add(id, chainAddress, { signingKey: statements?.publicKey });
  const path = join(folder, "guest.bin");
  await writeFile(path, randomBytes(5 * MIB));
  // The member's own account has 1 MiB left.
  expect((await tools.call("file_upload", { paths: [path], vaultId })).code).toBe("storage_quota");
  expect((await tools.call("file_upload", { paths: [path], vaultId: id })).code).toBeNull();
  await writeFile(path, randomBytes(6 * MIB));
  expect((await tools.call("file_upload", { paths: [path], vaultId: id, name: "more.bin" })).code).toBe(
    "storage_quota",
  );
  expect((await roomy.files.list({ vaultId: id })).files).toHaveLength(1);
});

/** The tools on a shared vault, by a real client over stdio: an agent outside, let in, at work, and out again. */
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openToolClient, launcherCommand, startStack, textFact, type Stack, type ToolClient } from "@coffer/devstack";
import { chainKeySigner, createClient, generateChainKey, type Client, type Vault } from "@coffer/sdk";
import { writeConfig } from "@coffer/sdk/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { describeFiles, filesIn, sha256 } from "./file-cases.ts";

let stack: Stack;
let owner: Client;
let vault: Vault;
const folder = makeDirectory();
let tools: ToolClient;
let address: string;
let secrets: readonly string[];
/** Written by the owner before the agent came. */
let welcomeId: string;
/** Everything that the agent's tools answered. */
const answered: string[] = [];

beforeAll(async () => {
  stack = await startStack();
  owner = createClient({
    baseUrl: stack.baseUrl,
    credentials: { apiKey: stack.apiKey },
    sharedVaults: stack.sharedVaults,
  });
  vault = await owner.vaults.create({ name: "Shared", type: "shared" });
  const body = new TextEncoder().encode("for members");
  welcomeId = (await owner.files.upload({ vaultId: vault.id, name: "welcome.txt", body })).file.id;
  const { privateKey } = await generateChainKey();
  const signer = await chainKeySigner(privateKey);
  address = signer.chainAddress;
  const invite = await owner.invites.create({ name: "agent", vaultIds: [vault.id] });
  const { key } = await createClient({ baseUrl: stack.baseUrl }).invites.redeem(invite.text, signer);
  secrets = [key, privateKey.reveal(), stack.apiKey];
  tools = await open({ SERVICE_API_KEY: key, SERVICE_CHAIN_PRIVATE_KEY: privateKey.reveal() });
});

afterAll(async () => {
  await tools.close();
  await stack.close();
});

async function open(credentials: Record<string, string>): Promise<ToolClient> {
  const client = await openToolClient({
    credentialsFile: join(folder, "none.json"),
    folders: [folder],
    launcher: launcherCommand(),
    environment: {
      SERVICE_BASE_URL: stack.baseUrl,
      SERVICE_NETWORK_FILE: stack.networkFile,
      SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client", "test"),
      ...credentials,
    },
    flags: ["--profile", "owner", "--downloads", folder],
    onLog: (text) => answered.push(text),
  });
  return {
    ...client,
    call: async (...given) => {
      const answer = await client.call(...given);
      answered.push(JSON.stringify(answer));
      return answer;
    },
  };
}

/** The agent's key is limited to the vault: nobody has to name it. */
const scene = () => ({ tools, vaultId: vault.id, folder, dataDirectory: stack.dataDirectory, restoring: {} });
const { place } = filesIn(scene);
const layersOf = (facts: Readonly<Record<string, unknown>>): string[] =>
  (facts["layers"] as string[][]).map(([layer, state]) => `${layer} ${state}`);

describe("an agent that is no member", () => {
  it("is set up all the same, and knows its address", async () => {
    expect((await tools.call("status_check")).facts).toMatchObject({
      signedIn: true,
      accessLevel: "agent",
      sharedVaults: "ready",
      chainAddress: address,
      layers: { service: "ok", chain: "ok", keyServers: "ok" },
    });
    expect((await tools.call("vault_list")).facts["rows"]).toEqual([
      [vault.id.slice(0, 8), "shared", "agent", "not_a_member", expect.any(String), expect.stringContaining("Shared")],
    ]);
  });

  it("is told that the chain or the key servers are away, where they are [issue 48]", async () => {
    const network = JSON.parse(await readFile(stack.networkFile, "utf8")) as { grpcUrl: string };
    const deaf = join(folder, "deaf.json");
    await writeFile(deaf, JSON.stringify({ ...network, grpcUrl: "http://127.0.0.1:9" }));
    const [apiKey = "", privateKey = ""] = secrets;
    const away = { SERVICE_API_KEY: apiKey, SERVICE_CHAIN_PRIVATE_KEY: privateKey, SERVICE_NETWORK_FILE: deaf };
    const cut = await open(away);
    const { facts, text } = await cut.call("status_check");
    expect(facts["layers"]).toMatchObject({ service: "ok", chain: "chain_unavailable" });
    expect(facts["layersStep"]).toMatch(/127\.0\.0\.1:9.*grpcUrl of the network file/);
    expect(text).toContain("Something is missing.");
    await cut.close();
  });

  it("finds the vault that the owner needs by the name that was called, too [issue 48]", async () => {
    const { facts } = await tools.call("file_write", { name: "a", text: "a", vaultId: "Shared" });
    const { nextStep } = facts["error"] as { nextStep: string };
    expect(nextStep).toContain(`coffer agents list --approve ${address}`);
  });

  it("neither reads nor writes; both answers hold its address and what the owner does", async () => {
    const destPath = join(folder, "welcome.back");
    const answers = [
      await tools.call("file_download", { files: [welcomeId], dest: destPath }),
      await tools.call("file_upload", { paths: [await place("early.txt", "early")], vaultId: vault.id }),
    ];
    for (const { isError, code, facts, text } of answers) {
      expect([isError, code]).toEqual([true, "not_a_member"]);
      const { nextStep, retryable } = facts["error"] as { nextStep: string; retryable: boolean };
      expect(retryable).toBe(false);
      expect(nextStep).toContain(address);
      expect(nextStep).toContain(`coffer agents list --approve ${address}, or`);
      expect(nextStep).toContain("client.vaults.members.add(");
      expect(text).toContain(nextStep);
    }
    for (const { text } of answers) expect(text).toContain(`members.add("${vault.id}", { invite: text })`);
    await expect(stat(destPath)).rejects.toThrow("ENOENT");
    expect((await owner.files.list({ vaultId: vault.id })).files).toHaveLength(1);
  });

  it("sees that there is a file, and is told why neither name nor size", async () => {
    const { facts } = await tools.call("file_list", { vaultId: vault.id });
    expect(facts).toMatchObject({
      closed: expect.stringContaining("1 files") as string,
      cause: "not_a_member",
      nextStep: expect.stringContaining(`members.add("${vault.id}", { invite: text })`) as string,
    });
    expect(facts["files"]).toEqual([[welcomeId.slice(0, 8), null, expect.any(String), null]]);
  });

  it("is told by vault_access_check which layer is missing", async () => {
    const { facts } = await tools.call("vault_access_check", { vaultId: vault.id });
    expect(facts).toMatchObject({ chainAddress: address, nextStep: expect.stringContaining(address) as string });
    expect(layersOf(facts)).toEqual(["api failed", "clock ok", "chain failed", "keyServers ok", "key unknown"]);
  });
});

describe("a member", () => {
  beforeAll(async () => {
    await owner.vaults.members.add(vault.id, address, { label: "agent" });
  });

  it("opens every layer", async () => {
    const { facts, text } = await tools.call("vault_access_check", { vaultId: vault.id });
    expect(layersOf(facts)).toEqual(["api ok", "clock ok", "chain ok", "keyServers ok", "key ok"]);
    expect(text).toContain("The vault opens.");
  });

  it("is told of a vault that the service does not show, and not of a service that is away", async () => {
    const nobody = "0b6d5e0e-6a3b-4f0f-9e0a-1c2d3e4f5a6b";
    const { facts, text } = await tools.call("vault_access_check", { vaultId: nobody });
    expect(layersOf(facts)).toEqual(["api failed", "clock unknown", "chain unknown", "keyServers ok", "key unknown"]);
    expect(text).toContain("the service did not show it");
    expect(text).not.toContain("does not answer");
  });

  it("reads what the owner wrote before it came [M1 E1]", async () => {
    const destPath = join(folder, "welcome.back");
    const receipt = await tools.call("file_download", { files: [welcomeId], dest: destPath });
    expect(receipt.facts).toMatchObject({ bytes: 11, sha256: sha256("for members"), fileBytes: 11 });
    expect(await readFile(destPath, "utf8")).toBe("for members");
  });

  describeFiles(scene, {
    shown: (content) => ({
      encrypted: true,
      storedBytes: expect.toSatisfy((bytes) => bytes > content.length) as number,
    }),
    damaged: "damaged",
  });

  it("is told no digest of a content that the service does not know", async () => {
    expect((await tools.call("file_get", { files: [welcomeId] })).facts["sha256"]).toBeUndefined();
  });

  it("gets the stored bytes, of their own size, when it asks for ciphertext", async () => {
    const { facts } = await tools.call("file_get", { files: [welcomeId] });
    const destPath = join(folder, "welcome.stored");
    const asked = await tools.call("file_download", { files: [welcomeId], dest: destPath, ciphertext: true });
    const { storedBytes: bytes, storedSha256 } = facts;
    expect(asked.facts).toMatchObject({ bytes, fileBytes: bytes, sha256: storedSha256 });
  });
});

describe("a server without a chain key", () => {
  it("works on public vaults, and says what shared ones need", async () => {
    await using plain = await open({ SERVICE_API_KEY: stack.apiKey });
    expect((await plain.call("status_check")).facts).toMatchObject({ signedIn: true, sharedVaults: "no chain key" });
    expect((await plain.call("status_check")).text).toContain("Something is missing.");
    const listed = await plain.call("file_list", { vaultId: vault.id });
    expect(listed.facts).toMatchObject({
      cause: "shared_vault",
      nextStep: expect.stringContaining("SERVICE_") as string,
    });
    const shown = await plain.call("file_get", { files: [welcomeId] });
    expect(shown.facts).toMatchObject({ fileId: welcomeId, encrypted: true, cause: "shared_vault" });
    expect(Object.keys(shown.facts)).not.toContain("bytes");
    const publicId = textFact(await plain.call("vault_create", { name: "Open", type: "public" }), "vaultId");
    const path = await place("open.txt", "open");
    expect((await plain.call("file_upload", { paths: [path], vaultId: publicId })).isError).toBe(false);
    expect((await plain.call("vault_access_check", { vaultId: publicId })).facts).toMatchObject({ type: "public" });
    for (const [tool, given] of Object.entries({
      vault_access_check: { vaultId: vault.id },
      file_upload: { paths: [path], vaultId: vault.id },
      file_download: { files: [welcomeId], dest: join(folder, "no.back") },
    })) {
      const answer = await plain.call(tool, given);
      expect([tool, answer.code]).toEqual([tool, "shared_vault"]);
      expect(answer.text).toContain("SERVICE_CHAIN_PRIVATE_KEY");
    }
  });

  it("hands out no encrypted bytes as a file, also where the service calls it public, unless ciphertext is asked for [S30]", async () => {
    await using plain = await open({ SERVICE_API_KEY: stack.apiKey });
    const headers = { authorization: `Bearer ${stack.apiKey}` };
    const stored = await (await fetch(`${stack.baseUrl}/api/files/${welcomeId}/content`, { headers })).bytes();
    const vaultId = textFact(await plain.call("vault_create", { name: "Copies", type: "public" }), "vaultId");
    const path = await place("copy.file", stored);
    const copyId = textFact(await plain.call("file_upload", { paths: [path], vaultId }), "fileId");
    const destPath = join(folder, "ciphertext.back");
    for (const fileId of [copyId, welcomeId]) {
      const given = { files: [fileId], dest: destPath };
      for (const [tool, input] of Object.entries({
        file_download: given,
        file_verify: { file: fileId },
      }))
        expect([tool, (await plain.call(tool, input)).code]).toEqual([tool, "shared_vault"]);
      expect((await plain.call("file_download", { ...given, offset: 20, length: 5 })).code).toBe("shared_vault");
      await expect(stat(destPath)).rejects.toThrow("ENOENT");
      const asked = await plain.call("file_download", { ...given, ciphertext: true });
      expect(asked.facts).toMatchObject({ bytes: stored.length, sha256: sha256(stored), fileBytes: stored.length });
      expect(asked.text).toContain("encrypted");
      expect((await readFile(destPath)).equals(stored)).toBe(true);
      await rm(destPath);
    }
  });
});

describe("an owner's server", () => {
  it("takes chain key and network from the profile, and makes shared vaults", async () => {
    await using own = await openToolClient({
      credentialsFile: stack.credentialsFile,
      folders: [folder],
      launcher: launcherCommand(),
      flags: ["--profile", "owner"],
      environment: { SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client", "owner") },
    });
    const made = await own.call("vault_create", { name: "Made by a tool" });
    expect(made.facts).toMatchObject({ type: "shared" });
    const vaultId = textFact(made, "vaultId");
    const path = await place("owned.txt", "owned");
    expect((await own.call("file_upload", { paths: [path], vaultId })).facts).toMatchObject({
      sha256: sha256("owned"),
    });
    answered.push(JSON.stringify(await own.call("status_check")));
  });

  it("whose chain key is another's says so, and what it cannot use is a setting", async () => {
    const { privateKey } = await generateChainKey();
    const credentialsFile = join(folder, "wrong.json");
    const profile = { baseUrl: stack.baseUrl, apiKey: null, chainPrivateKey: privateKey, networkFile: credentialsFile };
    await writeConfig({ defaultProfile: "default", profiles: { default: profile } }, credentialsFile);
    const environment = { SERVICE_API_KEY: stack.apiKey, SERVICE_CONFIG_DIR: join(folder, "own") };
    const start = { credentialsFile, folders: [folder], launcher: launcherCommand() };
    await using broken = await openToolClient({ ...start, environment });
    expect((await broken.call("file_list", { vaultId: vault.id })).code).toBe("not_configured");
    await using other = await openToolClient({
      ...start,
      environment: { ...environment, SERVICE_NETWORK_FILE: stack.networkFile },
    });
    const { facts, text } = await other.call("status_check");
    expect(facts["chainStep"]).toContain(stack.sharedVaults.signer.chainAddress);
    expect(text).toContain("Something is missing.");
    expect(JSON.stringify(facts)).not.toContain(privateKey.reveal());
  });
});

describe("after its removal", () => {
  it("the agent's key still holds, and the vault is closed to it at once, old files and new", async () => {
    await owner.vaults.members.remove(vault.id, address);
    const body = new TextEncoder().encode("without the agent");
    const { file } = await owner.files.upload({ vaultId: vault.id, name: "later.txt", body });
    for (const fileId of [welcomeId, file.id]) {
      const answer = await tools.call("file_download", { files: [fileId], dest: join(folder, `${fileId}.back`) });
      expect(answer.code).toBe("not_a_member");
    }
    const path = await place("late.txt", "late");
    expect((await tools.call("file_upload", { paths: [path], vaultId: vault.id })).code).toBe("not_a_member");
    expect((await tools.call("status_check")).isError).toBe(false);
  });

  it("no answer and no log line has held a secret [D6]", () => {
    const all = answered.join("\n");
    expect(all).toContain(address);
    expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
    expect(all).not.toMatch(/suiprivkey1/);
  });
});

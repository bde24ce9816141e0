/** What a stolen API key, a stolen chain key, both, and a lost device achieve, and what the owner does about it (docs/threat-model.md). */
import { copyFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { addMember, openChain } from "@coffer/chain";
import { membersGroup, vaultKeysGroup } from "@coffer/contract";
import { createClient, Secret, type Client, type ClientOptions, type Vault } from "@coffer/sdk";
import { fileStore, openSharedVaults, resolveSettings, writeConfig } from "@coffer/sdk/node";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { filesBelow } from "../../journeys/kit/data-directory.ts";
import { makeDirectory } from "../../kit/directory.ts";
import { keepVersion, servingVersion } from "../../kit/lying-service.ts";
import { openVaultOutside } from "../../kit/opened-vault.ts";
import { read, sharedStack } from "../../kit/shared-scene.ts";
import { formsOfBytes } from "../../kit/secret-forms.ts";
import type { SharedPerson } from "../../kit/shared-stack.ts";

/** Milliseconds, on a busy machine. */
const PATIENCE = { timeout: 60_000, interval: 200 };

const MAGIC = "\x93CFR\r\n\x1a\n";
const NAME = "quarterly-plan-canary.txt";
const CONTENT = "content-canary-of-the-plan";

const stack = sharedStack();
let owner: Client;
let agent: SharedPerson;
let vault: Vault;
let fileId: string;

beforeAll(async () => {
  owner = stack.owner.client;
  vault = await owner.vaults.create({ name: "stolen", type: "shared" });
  agent = await stack.invite("agent");
  await owner.vaults.members.add(vault.id, agent.signer.chainAddress);
  fileId = await put(owner, NAME, CONTENT);
});

async function put(client: Client, name: string, content: string, vaultId = vault.id): Promise<string> {
  return (await client.files.upload({ vaultId, name, body: content })).file.id;
}

/** Whoever has this key and nothing else. */
function thiefWith(apiKey: string): Client {
  return createClient({ baseUrl: stack.baseUrl, credentials: { apiKey }, retry: { limit: 0 } });
}

async function allowlistVersion(): Promise<bigint> {
  return (await openChain(stack.network).readVault(vault.chainObjectId ?? "", { maxAge: 0 })).version;
}

describe("a stolen API key of an agent that is a member, alone,", () => {
  test("lists ids, sizes and dates, and fetches encrypted bytes and sealed vault keys: no name, no content [A1]", async () => {
    const thief = thiefWith(agent.apiKey);
    const [listed] = (await thief.files.list({ vaultId: vault.id })).files;
    expect(listed).toMatchObject({ id: fileId, name: "", contentType: "application/octet-stream" });
    const raw = Buffer.from(await (await thief.files.download(fileId, { ciphertext: true })).bytes());
    expect([raw.subarray(0, 8).toString("latin1"), raw.includes(CONTENT)]).toEqual([MAGIC, false]);
    const { keys } = await thief.call(vaultKeysGroup.list, { params: { vaultId: vault.id } });
    expect(keys.length).toBeGreaterThan(0);
    const { members } = await thief.call(membersGroup.list, { params: { vaultId: vault.id } });
    expect(members.map(({ chainAddress }) => chainAddress)).toContain(agent.signer.chainAddress);
  });

  test("trashes every file, which the owner restores; it deletes nothing for good, writes nothing, and changes no allowlist [A2]", async () => {
    const thief = thiefWith(agent.apiKey);
    const before = await allowlistVersion();
    const ids = [fileId, await put(owner, "second", "second")];
    for (const id of ids) expect((await thief.files.delete(id))?.trashedAt).not.toBeNull();
    expect((await owner.files.list({ vaultId: vault.id })).files).toEqual([]);
    await expect(thief.files.delete(fileId, { permanent: true })).rejects.toMatchObject({ code: "owner_only" });
    await expect(thief.trash.empty({ vaultId: vault.id })).rejects.toMatchObject({ code: "owner_only" });
    for (const id of ids) await owner.files.restore(id);
    expect(await read(owner, fileId)).toBe(CONTENT);
    const headers = { authorization: `Bearer ${agent.apiKey}`, "content-type": "application/octet-stream" };
    const sent = await fetch(`${stack.baseUrl}/api/files?vaultId=${vault.id}`, {
      method: "POST",
      headers,
      body: "plain",
    });
    expect(sent.status).toBe(400);
    const path = `${stack.baseUrl}/api/vaults/${vault.id}/members`;
    const body = JSON.stringify({ chainAddress: `0x${"77".repeat(32)}` });
    const added = await fetch(path, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
    });
    expect(added.status).toBe(403);
    expect(await allowlistVersion()).toBe(before);
  });

  test("does no more than its scopes and its vaults allow: one that reads trashes nothing, and finds no other vault [A4]", async () => {
    const other = await owner.vaults.create({ name: "elsewhere", type: "shared" });
    const { key } = await owner.apiKeys.create({ name: "narrow", scopes: ["files:read"], vaultIds: [vault.id] });
    const thief = thiefWith(key);
    expect((await thief.files.list({ vaultId: vault.id })).files.length).toBeGreaterThan(0);
    await expect(thief.files.delete(fileId)).rejects.toMatchObject({ code: "missing_scope" });
    await expect(thief.files.list({ vaultId: other.id })).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a stolen API key of the owner, alone,", () => {
  test("[D5-owner-proof] [S5.7-manage-vaults] destroys nothing of a shared vault: no deletion, purge, permanent deletion or emptied trash [A7]", async () => {
    const thief = thiefWith(stack.owner.apiKey);
    const gone = await put(owner, "in the trash", "in the trash");
    await thief.files.delete(gone);
    const proofless = { code: "owner_proof_required", status: 403 };
    await expect(thief.vaults.delete(vault.id, { force: true })).rejects.toMatchObject(proofless);
    await expect(thief.vaults.delete(vault.id, { force: true, permanent: true })).rejects.toMatchObject(proofless);
    await expect(thief.files.delete(fileId, { permanent: true })).rejects.toMatchObject(proofless);
    await expect(thief.trash.empty({ vaultId: vault.id })).rejects.toMatchObject(proofless);
    expect((await thief.trash.empty()).leftVaults).toEqual([{ id: vault.id, name: "stolen" }]);
    expect((await owner.files.restore(gone)).trashedAt).toBeNull();
    expect(await read(owner, fileId)).toBe(CONTENT);
  });

  test("with a chain key of its own, which is a member's, signs what the service refuses [A7]", async () => {
    const { signer } = agent;
    const thief = stack.owner.another({ shared: { signer } });
    const refused = { code: "signature_invalid" };
    await expect(thief.vaults.delete(vault.id, { force: true })).rejects.toMatchObject(refused);
    await expect(thief.files.delete(fileId, { permanent: true })).rejects.toMatchObject(refused);
    expect(await read(owner, fileId)).toBe(CONTENT);
  });

  test("[D5-owner-proof] the owner's client proves it without a word, act by act, and a deleted vault comes back whole [A8]", async () => {
    const mine = await owner.vaults.create({ name: "mine", type: "shared" });
    const kept = await put(owner, "kept", "kept content", mine.id);
    const [first, second] = [await put(owner, "first", "1", mine.id), await put(owner, "second", "2", mine.id)];
    expect(await owner.files.delete(first, { permanent: true })).toBeNull();
    await owner.files.delete(second);
    expect(await owner.trash.empty({ vaultId: mine.id })).toEqual({ leftVaults: [] });
    expect((await owner.vaults.delete(mine.id, { force: true }))?.trashedAt).not.toBeNull();
    await expect(owner.files.get(kept)).rejects.toMatchObject({ code: "not_found" });
    expect((await owner.trash.vaults()).vaults.map(({ id }) => id)).toEqual([mine.id]);
    await owner.vaults.restore(mine.id);
    expect(await read(owner, kept)).toBe("kept content");
    await owner.vaults.delete(mine.id, { force: true });
    // A client that has never met the vault pins it in the trash, and proves as well.
    expect(await stack.owner.another().vaults.delete(mine.id, { permanent: true })).toBeNull();
    expect((await owner.trash.vaults()).vaults).toEqual([]);
    await expect(owner.vaults.get(mine.id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("makes keys and invites, and deletes public vaults; it reads nothing and changes no allowlist [A3]", async () => {
    const thief = thiefWith(stack.owner.apiKey);
    const before = await allowlistVersion();
    expect((await thief.invites.create({ name: "accomplice" })).text).toContain(".");
    expect(await thief.files.get(fileId)).toMatchObject({ name: "" });
    await expect(thief.vaults.members.add(vault.id, `0x${"77".repeat(32)}`)).rejects.toMatchObject({
      code: "shared_vault",
    });
    expect(await allowlistVersion()).toBe(before);
  });
});

describe("a stolen chain key, alone,", () => {
  test("of a member gets nothing from the service: no account takes the address, and another account's key finds no vault [C1]", async () => {
    const thief = await stack.signUp("chain-thief");
    await expect(thief.client.account.linkChain(agent.signer)).rejects.toMatchObject({ code: "address_conflict" });
    const withKey = thief.another({ shared: { signer: agent.signer } });
    await expect(read(withKey, fileId)).rejects.toMatchObject({ code: "not_found" });
  });

  test("[S5.7-manage-vaults] of the owner manages no vault at the service: it makes, renames and deletes none", async () => {
    const thief = stack.owner.another({ credentials: { apiKey: "cof_unknown" } });
    const refused = { code: "invalid_credential", status: 401 };
    await expect(thief.vaults.create({ name: "thief's", type: "shared" })).rejects.toMatchObject(refused);
    await expect(thief.vaults.update(vault.id, { name: "taken" })).rejects.toMatchObject(refused);
    await expect(thief.vaults.delete(vault.id, { force: true })).rejects.toMatchObject(refused);
    expect(await read(owner, fileId)).toBe(CONTENT);
  });

  test("of the owner puts an address on the allowlist, for which the key servers then open everything; the service gives it no bytes [D3 C2]", async () => {
    const thief = await stack.signUp("owner-thief");
    const { signer } = stack.owner;
    const chainAddress = thief.signer.chainAddress;
    await addMember(openChain(stack.network), signer, { objectId: vault.chainObjectId ?? "", chainAddress });
    await expect(read(thief.client, fileId)).rejects.toMatchObject({ code: "not_found" });
    // With the bytes from somebody who may fetch them:
    expect(await read(stack.owner.another({ shared: { signer: thief.signer } }), fileId)).toBe(CONTENT);
    // The service's list may be a second old.
    await vi.waitFor(async () => {
      const listed = (await owner.vaults.members.list(vault.id)).items;
      expect(listed.find((one) => one.chainAddress === chainAddress)?.layers).toEqual({
        service: "none",
        chain: "active",
      });
    }, PATIENCE);
    await owner.vaults.members.remove(vault.id, chainAddress);
  });
});

describe("both keys of a member", () => {
  test("are the member: they read and write everything, until the owner revokes the agent, which ends both [D1 C3 C4]", async () => {
    const robbed = await stack.invite("robbed");
    await owner.vaults.members.add(vault.id, robbed.signer.chainAddress);
    const thief = robbed.another({ retry: { limit: 0 } });
    expect(await read(thief, fileId)).toBe(CONTENT);
    const forged = await put(thief, "by the thief", "x");
    expect(await read(owner, forged)).toBe("x");
    await owner.agents.revoke(robbed.keyId ?? "");
    await expect(read(thief, fileId)).rejects.toMatchObject({ code: "invalid_credential" });
    const after = await put(owner, "after", "after");
    // Warm, and with the bytes from somebody who may fetch them:
    let apiKey = stack.owner.apiKey;
    const lent = robbed.another({ credentials: () => ({ apiKey }) });
    await expect(read(lent, after)).rejects.toMatchObject({ code: "not_a_member" });
    apiKey = robbed.apiKey;
    await expect(read(lent, after)).rejects.toMatchObject({ code: "invalid_credential" });
  });
});

describe("a lost device", () => {
  const device = makeDirectory();
  let person: SharedPerson;

  beforeAll(async () => {
    person = await stack.invite("traveller");
    await owner.vaults.members.add(vault.id, person.signer.chainAddress);
    await writeFile(join(device, "network.json"), JSON.stringify(stack.network), { mode: 0o600 });
    const profile = {
      baseUrl: stack.baseUrl,
      apiKey: new Secret(person.apiKey),
      networkFile: join(device, "network.json"),
      chainPrivateKey: new Secret(person.privateKey),
    };
    await writeConfig({ profiles: { default: profile } }, join(device, "config.json"));
  });

  /** What a program on the device is, started anew. */
  async function program(more: Partial<ClientOptions> = {}, state = device): Promise<Client> {
    const settings = await resolveSettings({ SERVICE_CONFIG_FILE: join(device, "config.json") });
    const sharedVaults = await openSharedVaults(settings, fileStore(state));
    if (sharedVaults === null || settings.apiKey === null) throw new Error("the device is set up");
    const credentials = { apiKey: settings.apiKey.reveal() };
    return createClient({ baseUrl: stack.baseUrl, credentials, sharedVaults, retry: { limit: 0 }, ...more });
  }

  test("holds its API key and its chain key in one file for its user alone, and no vault key, no name and no content [D2 D4]", async () => {
    const client = await program();
    expect(await read(client, fileId)).toBe(CONTENT);
    expect((await client.files.list({ vaultId: vault.id })).files.map(({ name }) => name)).toContain(NAME);
    await put(client, "from the device", "from the device");
    const { key } = await openVaultOutside(person, vault, stack.network);
    const hidden = [NAME, CONTENT, "from the device", ...formsOfBytes(key.reveal()).map(({ bytes }) => bytes)];
    const paths = await filesBelow(device);
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths) {
      const held = await readFile(path);
      for (const one of hidden) expect([path, held.includes(one)]).toEqual([path, false]);
      const isConfig = basename(path) === "config.json";
      expect([path, held.includes(person.apiKey), held.includes(person.privateKey)]).toEqual([
        path,
        isConfig,
        isConfig,
      ]);
      expect([path, (await stat(path)).mode & 0o077]).toEqual([path, 0]);
    }
  });

  test("forgets what it saw when somebody writes in its state directory, and takes an older version again [D7]", async () => {
    const id = await put(owner, "renewed", "old");
    const before = await keepVersion(stack, id);
    await owner.files.replace(id, { body: "new" });
    expect(await read(await program(), id)).toBe("new");
    const deceived = (state = device) => program({ middleware: [servingVersion(before)] }, state);
    const codeOf = (error: { readonly code?: string }) => error.code;
    expect(await read(await deceived(), id).catch(codeOf)).toBe("rolled_back");
    // What is left when that is taken out, for programs that begin afterwards.
    const robbed = join(device, "robbed");
    await mkdir(robbed, { mode: 0o700 });
    await copyFile(join(device, "pins.table"), join(robbed, "pins.table"));
    expect(await read(await deceived(robbed), id)).toBe("old");
  });

  test("lets its finder read everything, until the owner revokes the agent: then neither service nor key servers open anything, old or new [D1 D2 D4]", async () => {
    expect(await read(await program(), fileId)).toBe(CONTENT);
    await owner.agents.revoke(person.keyId ?? "");
    await expect(read(await program(), fileId)).rejects.toMatchObject({ code: "invalid_credential" });
    const later = await put(owner, "later", "later");
    // Even with the bytes from somebody who may fetch them: vault keys are not on the disk, and are not given any more.
    const lent = { credentials: { apiKey: stack.owner.apiKey } };
    for (const id of [fileId, later])
      await expect(read(await program(lent), id)).rejects.toMatchObject({ code: "not_a_member" });
  });
});

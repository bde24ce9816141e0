/** What a hostile service sees and can achieve, against clients that do all they can (docs/threat-model.md). */
import { readFile } from "node:fs/promises";
import {
  ciphertextSize,
  ENCRYPTED_METADATA_SIZES,
  paddedSize,
  parseEntryStatement,
  parseVersionStatement,
} from "@coffer/crypto";
import { memoryPins, type Client, type File, type Middleware, type Vault } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { filesBelow } from "../../journeys/kit/data-directory.ts";
import { keepVersion, lyingAt, lyingLater, servingVersion } from "../../kit/lying-service.ts";
import { read, sharedStack } from "../../kit/shared-scene.ts";
import type { SharedPerson } from "../../kit/shared-stack.ts";

/** Header, and the length of the envelope at byte 44 (file-format §1). */
const HEADER = 48;

const stack = sharedStack();
let owner: Client;
let vault: Vault;
let member: SharedPerson;

beforeAll(async () => {
  owner = stack.owner.client;
  vault = await owner.vaults.create({ name: "watched", type: "shared" });
  member = await stack.invite("member");
  await owner.vaults.members.add(vault.id, member.signer.chainAddress);
});

async function put(name: string, content: string, more: { padded?: boolean; folderId?: string } = {}): Promise<string> {
  const { padded = false, ...place } = more;
  const input = { vaultId: vault.id, name, body: content, ...place };
  return (await owner.files.upload(input, { padded })).file.id;
}

/** What the service has of a file. */
const stored = (fileId: string) => keepVersion(stack, fileId);

async function indexOf(fileId: string): Promise<string> {
  return (await stored(fileId)).file.shared?.nameIndex ?? "";
}

describe("the service sees", () => {
  test("the exact size of a content, of one that asks for padding the padded size alone, and one of four sizes of metadata [S6]", async () => {
    const messageOf = async (id: string) => {
      const { bytes: raw } = await stored(id);
      return raw.length - HEADER - Buffer.from(raw).readUInt32BE(44);
    };
    expect(await messageOf(await put("exact", "x".repeat(30_001)))).toBe(ciphertextSize(30_001));
    const [one, other] = [
      await put("p1", "x".repeat(30_001), { padded: true }),
      await put("p2", "y".repeat(30_700), { padded: true }),
    ];
    expect(paddedSize(30_001)).toBe(paddedSize(30_700));
    expect([await messageOf(one), await messageOf(other)]).toEqual(Array(2).fill(ciphertextSize(paddedSize(30_001))));
    for (const name of ["a", "b".repeat(200)]) {
      const { file } = await stored(await put(name, "x"));
      expect(ENCRYPTED_METADATA_SIZES).toContain(Buffer.from(file.shared?.metadata ?? "", "base64").length);
    }
  });

  test("who wrote and who read which file id and when, and in which folder it lies [S7 S8]", async () => {
    const folder = await owner.folders.create({ vaultId: vault.id, name: "inner" });
    const id = await put("seen.txt", "seen", { folderId: folder.id });
    await read(member.client, id);
    const { file } = await stored(id);
    const version = parseVersionStatement(Buffer.from(file.shared?.version ?? "", "base64"));
    expect(`0x${Buffer.from(version.signer).toString("hex")}`).toBe(stack.owner.signer.chainAddress);
    expect(Math.abs(version.time - Date.now())).toBeLessThan(600_000);
    expect(file.folderId).toBe(folder.id);
    const line = stack.log
      .join("")
      .split("\n")
      .find((one) => one.includes('"endpoint":"files.content"') && one.includes(member.keyId ?? "?"));
    expect(JSON.parse(line ?? "{}")).toMatchObject({ time: expect.anything() as unknown });
  });

  test("how often a name changed, and that two names in one folder are equal, over time; not in another folder, nor after a rotation [S8]", async () => {
    const [one, two] = [
      await owner.folders.create({ vaultId: vault.id, name: "one" }),
      await owner.folders.create({ vaultId: vault.id, name: "two" }),
    ];
    const id = await put("plan.txt", "1", { folderId: one.id });
    const first = await indexOf(id);
    await owner.files.update(id, { name: "other.txt" });
    expect(await indexOf(id)).not.toBe(first);
    const again = await put("plan.txt", "2", { folderId: one.id });
    expect(await indexOf(again)).toBe(first);
    expect(await indexOf(await put("plan.txt", "3", { folderId: two.id }))).not.toBe(first);
    const entry = (await stored(id)).file.shared?.entry ?? "";
    expect(parseEntryStatement(Buffer.from(entry, "base64")).revision).toBe(2n);
    const leaving = await stack.invite("leaving");
    await owner.vaults.members.add(vault.id, leaving.signer.chainAddress);
    await owner.vaults.members.remove(vault.id, leaving.signer.chainAddress);
    await owner.vaults.rotate(vault.id);
    expect(await indexOf(again)).not.toBe(first);
  });

  test("names where they are plain, and everything of a public vault; the disk holds both in the clear [W6 W7 S9 S27]", async () => {
    const plain = await owner.vaults.create({ name: "plain", type: "shared", plainNames: true });
    await owner.files.upload({ vaultId: plain.id, name: "canary-name-71.txt", body: "canary-hidden-72" });
    const open = await owner.vaults.create({ name: "open", type: "public" });
    await owner.files.upload({ vaultId: open.id, name: "o.txt", body: "canary-content-73" });
    const all = Buffer.concat(await Promise.all((await filesBelow(stack.dataDirectory)).map((path) => readFile(path))));
    expect([all.includes("canary-name-71"), all.includes("canary-content-73")]).toEqual([true, true]);
    expect(all.includes("canary-hidden-72")).toBe(false);
    // So does every key of the account, a member's or not.
    const { apiKey } = await stack.invite("no member");
    const headers = { authorization: `Bearer ${apiKey}` };
    const listed = await fetch(`${stack.baseUrl}/api/files?vaultId=${plain.id}`, { headers });
    expect(await listed.text()).toContain("canary-name-71");
    expect((await (await fetch(`${stack.baseUrl}/api/vaults/${plain.id}`, bearer())).text()).includes('"plain"')).toBe(
      true,
    );
  });
});

function bearer(): RequestInit {
  return { headers: { authorization: `Bearer ${stack.owner.apiKey}` } };
}

describe("the service can", () => {
  test("withhold: what it leaves out of a list is missed by nobody, and what it does not serve is gone [S12]", async () => {
    const id = await put("withheld.txt", "withheld");
    const leaveOut = lyingAt("files.list", (said: { files: File[] }) => ({
      ...said,
      files: said.files.filter((file) => file.id !== id),
    }));
    const { files } = await stack.owner.another({ middleware: [leaveOut] }).files.list({ vaultId: vault.id });
    expect([files.length > 0, files.some((file) => file.id === id)]).toEqual([true, false]);
    const refuse: Middleware = (request, next, { endpointId }) =>
      endpointId === "files.content"
        ? Promise.resolve(new Response('{"error":"gone"}', { status: 404 }))
        : next(request);
    await expect(read(stack.owner.another({ middleware: [refuse], retry: { limit: 0 } }), id)).rejects.toThrow();
  });

  test("show an older version to a client that remembers nothing, and different histories to two; who has seen the newer refuses [S17 S18 S20]", async () => {
    const id = await put("forked.txt", "old");
    const before = await stored(id);
    await owner.files.replace(id, { body: "new" });
    const lies = lyingLater(servingVersion(before));
    const deceived = () => stack.owner.another({ retry: { limit: 0 }, middleware: lies.middleware });
    const warm = deceived();
    expect(await read(warm, id)).toBe("new");
    lies.isLying = true;
    // Two clients of one owner: one is shown the old, one the new, and each takes it for the newest.
    expect([await read(deceived(), id), await read(stack.owner.another(), id)]).toEqual(["old", "new"]);
    await expect(read(warm, id)).rejects.toMatchObject({ code: "rolled_back" });
    // Also after an act that opens its vaults afresh.
    const other = await owner.vaults.create({ name: "another", type: "shared" });
    await warm.vaults.trustOwner(other.id, stack.owner.signer.chainAddress);
    await expect(read(warm, id)).rejects.toMatchObject({ code: "rolled_back" });
  });

  test("have the wrong member removed, or a vault left out, when an owner revokes an agent on its word; not if both are named [S28]", async () => {
    const [agent, other] = [await stack.invite("revoked"), await stack.invite("framed")];
    const [one, hidden] = [
      await owner.vaults.create({ name: "one", type: "shared" }),
      await owner.vaults.create({ name: "hidden", type: "shared" }),
    ];
    for (const { id } of [one, hidden])
      for (const { signer } of [agent, other]) await owner.vaults.members.add(id, signer.chainAddress);
    const namesOther = lyingAt("apiKeys.get", (said: { apiKey: object }) => ({
      apiKey: { ...said.apiKey, chainAddress: other.signer.chainAddress },
    }));
    const leavesOut = lyingAt("vaults.list", (said: { vaults: Vault[] }) => ({
      ...said,
      vaults: said.vaults.filter(({ id }) => id !== hidden.id),
    }));
    const known = { chainAddress: agent.signer.chainAddress, vaultIds: [hidden.id] };
    const keyId = agent.keyId ?? "";
    const membersOf = async (vaultId: string) =>
      (await owner.vaults.members.list(vaultId)).items.flatMap(({ chainAddress, role }) =>
        role === "owner" ? [] : [chainAddress],
      );

    const refused = stack.owner.another({ middleware: [namesOther] }).agents.revoke(keyId, known);
    await expect(refused).rejects.toMatchObject({ code: "vault_changed" });
    expect((await owner.apiKeys.get(keyId)).revokedAt).toBeNull();
    await stack.owner.another({ middleware: [leavesOut] }).agents.revoke(keyId, known);
    for (const { id } of [one, hidden]) expect(await membersOf(id)).toEqual([other.signer.chainAddress]);

    // Nor do vaults that it makes up keep the agent in those that there are.
    for (const { id } of [one, hidden]) await owner.vaults.members.add(id, agent.signer.chainAddress);
    const makesUp = lyingAt("vaults.list", (said: { vaults: Vault[] }) => ({
      ...said,
      vaults: [{ ...vault, id: crypto.randomUUID() }, ...said.vaults],
    }));
    const kept = stack.owner.another({ middleware: [makesUp], retry: { limit: 0 } }).agents.revoke(keyId, known);
    await expect(kept).rejects.toMatchObject({ code: "not_found" });
    for (const { id } of [one, hidden]) expect(await membersOf(id)).toEqual([other.signer.chainAddress]);

    // On its word alone: the framed member is gone, and where a vault is left out it stays.
    const deceived = stack.owner.another({ middleware: [namesOther, leavesOut] });
    const { memberships } = await deceived.agents.revoke(keyId);
    expect(memberships.some(({ vaultId }) => vaultId === hidden.id)).toBe(false);
    expect([await membersOf(one.id), await membersOf(hidden.id)]).toEqual([[], [other.signer.chainAddress]]);
  });

  test("lead a client to another object at its first meeting with a vault, and read what it writes there; never a pinned client [S25]", async () => {
    const thief = await stack.signUp("thief");
    const trap = await thief.client.vaults.create({ name: "trap", type: "shared" });
    await thief.client.vaults.members.add(trap.id, stack.owner.signer.chainAddress, {
      signingKey: stack.owner.signer.statements?.publicKey,
    });
    const trapped = redirected(vault.id, trap.id);
    const pins = memoryPins();
    const known = stack.owner.another({ shared: { pins } });
    await known.files.list({ vaultId: vault.id });
    const pinned = stack.owner.another({ middleware: [trapped], retry: { limit: 0 }, shared: { pins } });
    await expect(pinned.files.upload({ vaultId: vault.id, name: "safe.txt", body: "safe" })).rejects.toThrow();
    expect((await thief.client.files.list({ vaultId: trap.id })).files).toEqual([]);

    const fresh = stack.owner.another({ middleware: [trapped], retry: { limit: 0 } });
    await fresh.files.upload({ vaultId: vault.id, name: "trapped.txt", body: "for the members alone" });
    const [caught] = (await thief.client.files.list({ vaultId: trap.id })).files;
    expect(await read(thief.client, caught?.id ?? "")).toBe("for the members alone");
  });
});

/** A service that answers for one vault with another one, in every request and every answer. */
function redirected(from: string, to: string): Middleware {
  const swap = (text: string, a: string, b: string): string => text.replaceAll(a, b);
  return async (request, next) => {
    const asked = { ...request, url: swap(request.url, from, to) };
    const answer = await next(asked);
    if (!(answer.headers.get("content-type") ?? "").includes("json")) return answer;
    const headers = new Headers(answer.headers);
    headers.delete("content-length");
    return new Response(swap(await answer.text(), to, from), { status: answer.status, headers });
  };
}

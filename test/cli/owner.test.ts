/** What an owner does with `coffer`, against a service and a chain. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { chainKeySigner, createClient, generateChainKey } from "@coffer/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { onlyDocument, openScene, openSharedStack, type Scene } from "./owner-scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene(await openSharedStack());
});
afterAll(async () => {
  await scene.stack[Symbol.asyncDispose]();
});

describe("vaults [issue 19]", () => {
  it("makes, lists and shows them [S4.3-cli-vault-create S4.3-cli-vault-list]", async () => {
    const { owner } = scene;
    const made = await owner.run(["vaults", "create", "Team", "--shared"]);
    expect([made.code, made.err]).toEqual([0, ""]);
    const [, id = ""] = /Created the shared vault ([0-9a-f-]{36})/.exec(made.out) ?? [];
    const { vaults } = await owner.json<{ vaults: { id: string; name: string; type: string }[] }>(["vaults", "list"]);
    expect(vaults.find((vault) => vault.id === id)).toMatchObject({ name: "Team", type: "shared" });
    expect((await owner.run(["vaults", "get", "Team"])).out).toContain(id);
  });

  it("names the chain key that is missing, and sends nothing", async () => {
    const { owner } = scene;
    const ran = await owner.run(["vaults", "create", "None", "--shared"], {
      // A service that is not there would be another failure.
      env: { SERVICE_CHAIN_PRIVATE_KEY: undefined, SERVICE_BASE_URL: "http://127.0.0.1:1" },
    });
    expect(ran.code).toBe(4);
    expect(ran.err).toContain("SERVICE_CHAIN_PRIVATE_KEY");
    expect(ran.err).toMatch(/^next: /m);
  });
});

describe("what one member does with a shared vault [issue 19]", () => {
  it("rotates, reseals, names its key, hands the vault on, and leaves it", async () => {
    const { owner, stack } = scene;
    const other = await stack.signUp("other-owner");
    const { vault } = await owner.json<{ vault: { id: string; chainObjectId: string } }>([
      ...["vaults", "create", "Handed on", "--shared"],
    ]);
    await stack.owner.client.files.upload({ vaultId: vault.id, name: "a.txt", body: "content" });
    const address = other.signer.chainAddress;
    expect((await owner.run(["vaults", "members", "add", vault.id, address])).code).toBe(0);
    const rotated = await owner.json(["vaults", "rotate", vault.id, "--yes"]);
    expect(rotated).toMatchObject({ files: 1, failed: [] });
    expect((await owner.run(["vaults", "reseal", vault.id])).out).toMatch(/^Sealed again: 0 keys/);
    const their = scene.shellOf(other);
    const told = ["--object", vault.chainObjectId, "--owner", stack.owner.signer.chainAddress];
    expect((await their.run(["vaults", "trust", vault.id, ...told])).code).toBe(0);
    expect((await their.run(["vaults", "trust", "Handed on", ...told])).code).toBe(2);
    expect(await their.json(["vaults", "set-signing-key", vault.id])).toMatchObject({ outcome: "done" });
    expect(await their.json(["vaults", "set-signing-key", vault.id])).toMatchObject({ outcome: "already" });
    expect((await their.run(["vaults", "accept", vault.id, "--yes"])).err).toContain("not offered");
    expect((await owner.run(["vaults", "offer", vault.id])).code).toBe(2);
    expect((await owner.run(["vaults", "offer", vault.id, address, "--yes"])).code).toBe(0);
    const accepted = await their.json(["vaults", "accept", vault.id, "--yes"]);
    expect(accepted).toMatchObject({ outcome: "done", vaultId: vault.id });
    expect((await owner.run(["vaults", "list"])).out).not.toContain(vault.id);
    const back = stack.owner.signer.chainAddress;
    expect((await their.run(["vaults", "members", "add", vault.id, back])).code).toBe(0);
    const changed = await owner.run(["vaults", "tree", vault.id]);
    expect([changed.code, changed.err]).toEqual([expect.any(Number), expect.stringContaining("pinned")]);
    expect((await owner.run(["vaults", "trust-owner", vault.id, address])).code).toBe(0);
    expect((await owner.run(["vaults", "list", "--shared-with-me"])).out).toContain(vault.id);
    expect((await owner.run(["vaults", "forget-seen", vault.id, "--yes"])).code).toBe(0);
    expect((await owner.run(["vaults", "tree", vault.id])).out).toContain("a.txt");
    const left = await owner.run(["vaults", "leave", vault.id], { answers: ["y"] });
    expect([left.code, left.out]).toEqual([0, expect.stringContaining(`coffer vaults rotate ${vault.id}`)]);
  });
});

describe("an agent is let in [issue 19]", () => {
  it("by its invite, whose code is printed once, and its address [S4.3-cli-invite-create S4.3-cli-invite-list S4.3-invite-options S4.3-cli-member-add S4.3-cli-member-remove]", async () => {
    const { owner, stack } = scene;
    const { vault } = await owner.json<{ vault: { id: string } }>(["vaults", "create", "Inviting", "--shared"]);
    const words = ["invites", "create", "--name", "bot", "--scopes", "files:read,files:write"];
    const { invite } = await owner.json<{ invite: { id: string; code: string; vaultIds: string[]; scopes: string[] } }>(
      [...words, "--vaults", "Inviting", "--expires", "1"],
    );
    expect(invite.code).toMatch(/^cofi_/);
    expect([invite.vaultIds, invite.scopes]).toEqual([[vault.id], ["files:read", "files:write"]]);
    const kept = join(owner.home, ".config/coffer/handed-out", `invite-${invite.id}.txt`);
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(readFileSync(kept, "utf8").trim()).toBe(invite.code);
    const listed = await owner.run(["invites", "list"]);
    expect(listed.out).toMatch(/created/);
    expect(listed.out).not.toContain(invite.code.slice(0, 20));

    const agent = await stack.invite("other");
    const added = await owner.json<{ member: { chainAddress: string } }>([
      ...["vaults", "members", "add", vault.id, agent.signer.chainAddress, "--until", "3d", "--label", "bot"],
    ]);
    expect(added.member).toMatchObject({ chainAddress: agent.signer.chainAddress, label: "bot" });
    const { members } = await owner.json<{ members: unknown[] }>(["members", "list", "Inviting"]);
    expect(members).toHaveLength(2);
    const ended = await owner.run(["members", "set-until", "Inviting", agent.signer.chainAddress, "never"]);
    expect(ended.out).toContain("never");
    const asked = await owner.run(["members", "remove", "Inviting", agent.signer.chainAddress]);
    expect([asked.code, asked.err]).toEqual([2, expect.stringContaining("--yes")]);
    const removed = await owner.run(["members", "remove", "Inviting", agent.signer.chainAddress, "--rotate"], {
      answers: ["y"],
    });
    expect(removed.out).toContain("is no member of");
    expect(removed.code).toBe(0);
    expect(existsSync(kept)).toBe(true);
  });

  it("refuses hours above 72 before it asks the service, and takes 72 [S4.3-cli-invite-revoke]", async () => {
    const { owner } = scene;
    const words = ["invites", "create", "--name", "late", "--expires"];
    const refused = await owner.run([...words, "73"]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("72")]);
    const taken = await owner.run([...words, "72"]);
    expect(taken.code).toBe(0);
    const revoked = await owner.run(["invites", "revoke", "late"]);
    expect(revoked.out).toMatch(/^Revoked the invite/);
  });

  it("with one question for those that wait, proven by the invite that this machine made", async () => {
    const { owner, stack } = scene;
    const { vault } = await owner.json<{ vault: { id: string } }>(["vaults", "create", "Waiting", "--shared"]);
    const words = ["invites", "create", "--name", "waiting bot", "--vaults", vault.id, "--to-file", "invite.txt"];
    const made = await owner.run(words);
    expect([made.code, made.out.includes("cofi_")]).toEqual([0, false]);
    const text = readFileSync(join(owner.home, "invite.txt"), "utf8").trim();
    const { privateKey } = await generateChainKey();
    const { key, keyId, chainAddress } = await createClient({ baseUrl: stack.baseUrl }).invites.redeem(
      text,
      await chainKeySigner(privateKey),
    );
    const agent = scene.shellOf({ apiKey: key, privateKey: privateKey.reveal() });
    const blind = await agent.run(["vaults", "check", vault.id]);
    expect([blind.code, blind.out]).toEqual([1, expect.stringContaining("not_a_member")]);
    expect((await owner.run(["agents", "list"])).out).toContain("coffer agents list --approve");
    const { agents } = await owner.json<{ agents: { apiKeyId: string; waitsFor: string[] }[] }>(["agents", "list"]);
    expect(agents.find(({ apiKeyId }) => apiKeyId === keyId)?.waitsFor).toEqual([vault.id]);
    const approved = await owner.run(["agents", "list", "--approve", "--json"], { answers: ["y"] });
    expect(onlyDocument(approved)).toMatchObject({
      approved: [{ keyId, chainAddress, vaultId: vault.id, outcome: "added" }],
    });
    expect(approved.err).toContain("waiting bot");
    expect((await agent.run(["vaults", "check", "Waiting"])).out).toMatch(/^The vault opens/);
    // Nothing waits any more, so nobody is asked.
    expect((await owner.run(["agents", "list", "--approve"])).code).toBe(0);

    const revoked = await owner.json(["agents", "revoke", keyId, "--yes"]);
    expect(revoked).toMatchObject({
      key: "revoked",
      memberships: expect.arrayContaining([
        expect.objectContaining({ vaultId: vault.id, outcome: "removed" }),
      ]) as unknown,
    });
    const again = await owner.run(["agents", "revoke", keyId, "--yes"]);
    expect([again.code, again.out]).toEqual([0, expect.stringContaining("What it has downloaded, it still has.")]);
  });

  it("not by the service's word alone", async () => {
    const { owner, stack } = scene;
    const vault = await stack.owner.client.vaults.create({ name: "Elsewhere", type: "shared" });
    const { text } = await stack.owner.client.invites.create({ name: "elsewhere", vaultIds: [vault.id] });
    const { privateKey } = await generateChainKey();
    await createClient({ baseUrl: stack.baseUrl }).invites.redeem(text, await chainKeySigner(privateKey));
    const ran = await owner.run(["agents", "list", "--approve", "elsewhere", "--yes"]);
    expect([ran.code, ran.err]).toEqual([5, expect.stringContaining(`coffer vaults members add ${vault.id} 0x`)]);
    expect((await stack.owner.client.vaults.members.list(vault.id)).items).toHaveLength(1);
    const added = await owner.run(["vaults", "members", "add", vault.id, "--invite-file", "-"], { input: text });
    expect(added.code).toBe(0);
  });

  it("prints what to paste to an agent", async () => {
    const { owner, stack } = scene;
    const ran = await owner.run(["invites", "create", "--name", "pasted", "--prompt"]);
    expect(ran.out).toMatch(/echo cofi_\S+ \| coffer login --invite-code -/);
    expect(ran.out).toContain(stack.baseUrl);
  });
});

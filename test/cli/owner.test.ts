/** What an owner does with `coffer`, against a service and a chain. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openScene, openSharedStack, type Scene } from "./owner-scene.ts";

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
    const before = scene.stack.log.length;
    const ran = await owner.run(["vaults", "create", "None", "--shared"], {
      env: { SERVICE_CHAIN_PRIVATE_KEY: undefined },
    });
    expect(ran.code).toBe(4);
    expect(ran.err).toContain("SERVICE_CHAIN_PRIVATE_KEY");
    expect(ran.err).toMatch(/^next: /m);
    expect(scene.stack.log.length).toBe(before);
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

  it("prints what to paste to an agent", async () => {
    const { owner, stack } = scene;
    const ran = await owner.run(["invites", "create", "--name", "pasted", "--prompt"]);
    expect(ran.out).toMatch(/npx coffer login --invite-code cofi_/);
    expect(ran.out).toContain(stack.baseUrl);
  });
});

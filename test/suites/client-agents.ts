import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { BudgetError, chainKeySigner, generateChainKey, type Middleware, type Signer, toRequest } from "@coffer/sdk";
import { expect, it } from "vitest";
import type { Accounts } from "./client-subject.ts";

const newSigner = async (): Promise<Signer> => chainKeySigner((await generateChainKey()).privateKey);

/** Keys and their budgets, chain addresses, invites, and the audit log of it all. */
export function agentsSuite(accounts: () => Accounts): void {
  it("makes, rotates and revokes keys; a revoked one is refused once and for all [D4-keys-list] [D4-keys-get] [D4-keys-revoke] [D1-second-delete-kept]", async () => {
    const { client } = await accounts().signup();
    const made = await client.apiKeys.create({ name: "reader", scopes: ["files:read"] });
    expect((await client.apiKeys.get(made.id)).scopes).toEqual(["files:read"]);
    const reader = accounts().connect(made.key);
    await expect(reader.folders.list()).rejects.toMatchObject({ code: "missing_scope", status: 403 });
    const rotated = await client.apiKeys.rotate(made.id);
    await expect(reader.account.get()).rejects.toMatchObject({
      code: "invalid_credential",
      status: 401,
      retryable: false,
    });
    await client.apiKeys.revoke(rotated.id);
    await client.apiKeys.revoke(rotated.id);
    expect((await client.apiKeys.list()).items.find(({ id }) => id === rotated.id)?.revokedAt).not.toBeNull();
  });

  it("lets no key be rotated into one that may more than its holder", async () => {
    const { client } = await accounts().signup();
    const wider = await client.apiKeys.create({ name: "wider", scopes: ["files:read", "api-keys:write"] });
    const narrow = await client.apiKeys.create({ name: "narrow", scopes: ["api-keys:write"] });
    const holder = accounts().connect(narrow.key);
    await expect(holder.apiKeys.rotate(wider.id)).rejects.toMatchObject({ code: "scope_too_wide" });
    expect((await client.apiKeys.get(wider.id)).revokedAt).toBeNull();
  });

  it("writes no more with a key than its budgets say, whose errors say which and when [D4-key-budgets]", async () => {
    const { client } = await accounts().signup();
    const budgets = { storedBytes: 100, bytesPerDay: 60 };
    const made = await client.apiKeys.create({ name: "agent", budgets });
    const agent = accounts().connect(made.key);
    await agent.files.upload({ name: "a", body: new Uint8Array(50) });
    const refused: unknown = await agent.files.upload({ name: "b", body: new Uint8Array(20) }).catch((e: unknown) => e);
    expect(refused).toBeInstanceOf(BudgetError);
    expect(refused).toMatchObject({ code: "budget_exceeded", status: 429, budget: "bytesPerDay", retryable: false });
    expect((refused as BudgetError).retryAt?.getTime()).toBeGreaterThan(Date.now());
    const next = accounts().connect((await client.apiKeys.rotate(made.id)).key);
    const { credential } = await next.account.get();
    expect(credential.budgets).toEqual(budgets);
    expect(credential.budgetUse).toMatchObject({ storedBytes: { used: 50, left: 50 }, bytesPerDay: { left: 10 } });
    await expect(next.files.upload({ name: "c", body: new Uint8Array(51) })).rejects.toMatchObject({
      code: "budget_storage",
      budget: "storedBytes",
      retryAt: null,
      retryable: false,
    });
  });

  it("links the address of a signature, as one of @mysten/sui's signers makes it [D4-link-chain]", async () => {
    const { client } = await accounts().signup();
    const keypair = Ed25519Keypair.generate();
    const account = await client.account.linkChain({
      chainAddress: keypair.toSuiAddress(),
      signPersonalMessage: async (bytes) => (await keypair.signPersonalMessage(bytes)).signature,
    });
    expect(account).toMatchObject({ chainAddress: keypair.toSuiAddress(), chainAddressSource: "external" });
  });

  it("links nothing by a signature for another chain or of another, nor what another account has [D4-link-chain]", async () => {
    const { client } = await accounts().signup();
    const { client: other, apiKey } = await accounts().signup();
    const signer = await newSigner();
    const impostor: Signer = { ...signer, chainAddress: (await newSigner()).chainAddress };
    await expect(client.account.linkChain(impostor)).rejects.toMatchObject({ code: "signature_invalid" });
    const elsewhere = accounts().connect(apiKey, { network: "testnet" });
    await expect(elsewhere.account.linkChain(signer)).rejects.toMatchObject({ code: "signature_invalid" });
    await client.account.linkChain(signer);
    await expect(other.account.linkChain(signer)).rejects.toMatchObject({ code: "address_conflict" });
  });

  it("makes a key an agent's, when its address is not the account's own [D4-level-owner]", async () => {
    const { client } = await accounts().signup();
    const [mine, agent] = [await newSigner(), await newSigner()];
    await client.account.linkChain(mine);
    const own = await client.apiKeys.create({ name: "own", chainAddress: mine.chainAddress });
    const bound = await client.apiKeys.create({ name: "agent", signer: agent });
    const levelOf = async (key: string) => (await accounts().connect(key).account.get()).account.accessLevel;
    expect([await levelOf(own.key), await levelOf(bound.key)]).toEqual(["owner", "agent"]);
    const unproven = client.apiKeys.create({ name: "x", chainAddress: (await newSigner()).chainAddress });
    await expect(unproven).rejects.toMatchObject({ code: "signature_invalid" });
  });

  it("invites an agent, once, and can tell its address from one that the service put in [D4-invite-redeem]", async () => {
    const { client } = await accounts().signup();
    const visitor = accounts().connect(null);
    const invite = await client.invites.create({ name: "agent", scopes: ["files:read"] });
    const { text: foreign } = await client.invites.create({ name: "other" });
    const signer = await newSigner();
    const { key, chainAddress } = await visitor.invites.redeem(invite.text, signer);
    expect(chainAddress).toBe(signer.chainAddress);
    const { account, credential } = await accounts().connect(key).account.get();
    expect([account.accessLevel, credential.scopes]).toEqual(["agent", ["files:read"]]);
    await expect(visitor.invites.redeem(invite.text, signer)).rejects.toMatchObject({ code: "invite_ended" });
    const used = (await client.invites.list()).invites.find(({ id }) => id === invite.id);
    if (used === undefined) throw new Error("the invite is gone");
    expect(used).toMatchObject({ status: "used", chainAddress });
    expect(await client.invites.checkAddressProof(invite.text, used)).toBe(true);
    const swapped = { ...used, chainAddress: (await newSigner()).chainAddress };
    expect(await client.invites.checkAddressProof(invite.text, swapped)).toBe(false);
    expect(await client.invites.checkAddressProof(foreign, used)).toBe(false);
  });

  it("redeems an invite without its secret, which proves nothing elsewhere nor for another key", async () => {
    const bodies: string[] = [];
    const middleware: Middleware = async (request, next) => {
      bodies.push(await toRequest(request).clone().text());
      return await next(request);
    };
    const { client } = await accounts().signup({ middleware: [middleware] });
    const visitor = accounts().connect(null, { middleware: [middleware] });
    const { text } = await client.invites.create({ name: "agent" });
    await visitor.invites.redeem(text, await newSigner());
    expect(text).toMatch(/^cofi_\w{49}\.[\w-]{43}$/);
    expect(bodies.join("\n")).not.toContain(text.split(".")[1]);
    const [used] = (await client.invites.list()).invites;
    if (used === undefined) throw new Error("no invite was used");
    expect(await client.invites.checkAddressProof(text, used, new Uint8Array(32).fill(1))).toBe(false);
    expect(await client.invites.checkAddressProof(text, { ...used, addressProof: null })).toBe(false);
    const elsewhere = accounts().connect(null, { baseUrl: "https://elsewhere.test" });
    expect(await elsewhere.invites.checkAddressProof(text, used)).toBe(false);
    bodies.length = 0;
    const typo = text.replace(/^cofi_(.)/, (_, first: string) => `cofi_${first === "A" ? "B" : "A"}`);
    for (const wrong of [typo, "", "cofi_", `${text}x`, text.replace(".", ",")])
      await expect(visitor.invites.redeem(wrong, await newSigner())).rejects.toMatchObject({ code: "invalid_request" });
    expect(bodies).toEqual([]);
  });

  it("is one key for many who redeem at once, and none for an invite that was revoked [D4-invite-redeem]", async () => {
    const { client } = await accounts().signup();
    const visitor = accounts().connect(null);
    const { text } = await client.invites.create({ name: "agent" });
    const signers = await Promise.all(Array.from({ length: 8 }, newSigner));
    const results = await Promise.allSettled(signers.map((signer) => visitor.invites.redeem(text, signer)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const revoked = await client.invites.create({ name: "revoked" });
    await client.invites.revoke(revoked.id);
    await client.invites.revoke(revoked.id);
    const late = visitor.invites.redeem(revoked.text, await newSigner());
    await expect(late).rejects.toMatchObject({ code: "invite_ended", status: 410 });
    expect((await client.apiKeys.list()).apiKeys.map(({ accessLevel }) => accessLevel)).toEqual(["agent", "owner"]);
  });

  it("finds the audit log whole, and what was done in it by action [D4-audit-log]", async () => {
    const { client } = await accounts().signup();
    const vault = await client.vaults.create({ name: "v", type: "public" });
    await client.vaults.update(vault.id, { name: "w" });
    await client.invites.create({ name: "agent" });
    const { entries, newest, fault } = await client.audit.verify();
    expect({ entries, fault }).toEqual({ entries: 6, fault: null });
    if (newest === null) throw new Error("the log is empty");
    expect((await client.audit.verify({ expect: newest })).fault).toBeNull();
    const wrong = { ...newest, hash: "0".repeat(64) };
    expect((await client.audit.verify({ expect: wrong })).fault).toMatchObject({ sequence: 6, kind: "altered" });
    const { events } = await client.audit.list({ action: "vault" });
    expect(events.map(({ action }) => action)).toEqual(["vault.updated", "vault.created", "vault.created"]);
  });

  it("undoes what one key did, and leaves what others changed since [D5-rewind]", async () => {
    const { client } = await accounts().signup();
    const { id: vaultId } = await client.vaults.create({ name: "v", type: "public" });
    const { id: keyId, key } = await client.apiKeys.create({ name: "busy", vaultIds: [vaultId] });
    const busy = accounts().connect(key);
    const body = (text: string) => new TextEncoder().encode(text);
    const put = async (by: typeof client, name: string, folderId?: string) =>
      (await by.files.upload({ vaultId, name, body: body(name), ...(folderId === undefined ? {} : { folderId }) }))
        .file;
    const folder = await client.folders.create({ vaultId, name: "f" });
    const [one, two, theirs] = [await put(client, "one", folder.id), await put(client, "two"), await put(client, "x")];
    const [since] = (await client.changes.list({ limit: 1, kind: "api_key" })).changes.map(
      ({ occurredAt }) => occurredAt,
    );
    await busy.files.replace(one.id, { body: body("other") });
    await busy.files.update(two.id, { name: "away" });
    await busy.files.update(one.id, { name: "two", folderId: null });
    await busy.folders.delete(folder.id);
    const made = await put(busy, "made");
    await busy.files.replace(theirs.id, { body: body("by busy") });
    await client.files.replace(theirs.id, { body: body("by me") });
    const input = { keyId, since: since ?? "", vaultId };
    const plan = await client.agents.rewind({ ...input, dryRun: true });
    expect(plan).toMatchObject({
      rows: 6,
      bytes: 3,
      counts: { trash: 1, restore: 1, move: 2, content: 1 },
      left: [{ kind: "file", id: theirs.id, vaultId, act: "content", reason: "changed_since" }],
    });
    expect((await client.files.get(made.id)).trashedAt).toBeNull();
    const { left, steps } = await client.agents.rewind(input);
    expect([left, steps.length]).toEqual([plan.left, plan.steps.length]);
    const { name, folderId, sha256 } = await client.files.get(one.id);
    expect({ name, folderId, sha256 }).toEqual({ name: "one", folderId: folder.id, sha256: one.sha256 });
    expect((await client.files.get(two.id)).name).toBe("two");
    expect((await client.files.get(made.id)).trashedAt).not.toBeNull();
    expect((await client.agents.rewind(input)).steps).toEqual([]);
    const signer = await newSigner();
    const { text } = await client.invites.create({ name: "agent" });
    const agent = accounts().connect((await accounts().connect(null).invites.redeem(text, signer)).key);
    await expect(agent.agents.rewind(input)).rejects.toMatchObject({ code: "owner_only" });
    await expect(client.agents.rewind({ ...input, chainAddress: signer.chainAddress })).rejects.toThrow(TypeError);
  });

  it("lists changes in pages, and follows them from a place on [D6-change-list D6-change-wait D6-change-rights]", async () => {
    const { client } = await accounts().signup();
    const vault = await client.vaults.create({ name: "v", type: "public" });
    const limited = await client.apiKeys.create({ name: "limited", vaultIds: [vault.id] });
    const agent = accounts().connect(limited.key);
    const folder = await client.folders.create({ vaultId: vault.id, name: "f" });
    const inner = await agent.folders.create({ vaultId: vault.id, parentId: folder.id, name: "in" });
    const kinds: (string | null)[][] = [];
    for await (const { kind, name } of agent.changes.list({ limit: 1 })) kinds.push([kind, name]);
    expect(kinds).toEqual([
      ["vault.created", null],
      ["folder.created", "f"],
      ["folder.created", "in"],
    ]);
    const { changes, nextCursor } = await client.changes.list({ by: limited.id, wait: 0 }, { names: false });
    expect(changes.map(({ object, name }) => [object.id, object.folderId, name])).toEqual([
      [inner.id, folder.id, null],
    ]);
    expect((await client.changes.list({ folderId: folder.id })).changes).toHaveLength(1);
    const feed = client.changes.follow({
      cursor: nextCursor ?? "",
      kind: "folder",
      signal: AbortSignal.timeout(20_000),
    });
    const next = feed.next();
    await client.folders.update(inner.id, { name: "renamed" });
    expect((await next).value).toMatchObject({ kind: "folder.updated", name: "renamed", author: null });
    await feed.return();
    await expect(client.changes.list({ after: 999 })).rejects.toMatchObject({ code: "cursor_expired", status: 410 });
    await expect(agent.changes.list({ vaultId: crypto.randomUUID() })).rejects.toMatchObject({ code: "not_found" });
  });
}

import { randomUUID } from "node:crypto";
import { api, plainTag, type AuditEvent, type EndpointDefinition, type File } from "@coffer/contract";
import { expect, it } from "vitest";
import { newTestVault } from "../../drivers/chain/chain.test-kit.ts";
import { openTestApp } from "../../app.test-kit.ts";
import { openSigner } from "../chain-proofs/signer.test-kit.ts";
import { signRecord } from "../shared-vaults/statements.test-kit.ts";
import { verifyAccount } from "./verify.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { batchForm, FORM_TYPE } from "../../../../test/kit/batch-form.ts";

const service = ofEachTest(openTestApp);

const signer = openSigner(new Uint8Array(32).fill(7));
const { chainAddress } = signer;
const member = `0x${"b".repeat(64)}`;
const chainObjectId = `0x${"a".repeat(64)}`;

/** An owner's key that is bound to the account's chain address. */
async function boundOwner(): Promise<{ id: string; key: string; keyId: string }> {
  const owner = await service.signUp();
  const { database } = service.deps;
  const bound = { chain_address: chainAddress };
  await database.run(database.build.updateTable("accounts").set(bound).where("id", "=", owner.id));
  await database.run(database.build.updateTable("api_keys").set(bound).where("account_id", "=", owner.id));
  const { body } = await service.ask("GET", "/api/account", { key: owner.key });
  return { ...owner, keyId: (body["credential"] as { id: string }).id };
}

type Body = Record<string, { id: string }>;

/** What changes an account by its credential, each by method and path. */
const changing = Object.values(api)
  .flatMap((group) => Object.values<EndpointDefinition>(group))
  .filter(({ auth, effect }) => auth === "credential" && effect !== "read");

function endpointOf(method: string, url: string): string {
  const { pathname } = new URL(url, "http://a.test");
  const isAt = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname);
  return changing.find((endpoint) => endpoint.method === method && isAt(endpoint.path))?.id ?? `${method} ${pathname}`;
}

/** Proved beside what they need: a password, a web session, a signature; a nonce to sign changes nothing. */
const elsewhere = ["auth.changePassword", "sessions.end", "account.linkChain", "account.linkChainChallenge"];

it("[D1-changes-row D1-changes-audit D1-changes-sequence] every change is in the audit log with key, access level, chain address and request", async () => {
  const { id: accountId, key, keyId } = await boundOwner();
  const { database } = service.deps;
  const seen = async (): Promise<AuditEvent[]> =>
    (await service.ask("GET", "/api/audit-log?limit=1000", { key })).body["events"] as AuditEvent[];
  const userAgent = "recorded/1";

  const made = new Set(elsewhere);

  /** Makes the call, and expects just these new entries, oldest first. */
  const changes = async (
    actions: readonly string[],
    method: "POST" | "PATCH" | "PUT" | "DELETE",
    url: string,
    more: { json?: unknown; payload?: string; headers?: Record<string, string> } = {},
  ): Promise<Body> => {
    made.add(endpointOf(method, url));
    const before = (await seen()).length;
    const headers = { "user-agent": userAgent, ...more.headers };
    const answer = await service.ask(method, url, { key, ...more, headers });
    expect(answer.status, `${method} ${url}: ${answer.text}`).toBeLessThan(300);
    const added = (await seen()).toReversed().slice(before);
    expect(
      added.map(({ action }) => action),
      `${method} ${url}`,
    ).toEqual(actions);
    for (const { actor, context, targets } of added) {
      expect(actor).toEqual({ type: "api-key", id: keyId, accessLevel: "owner", chainAddress });
      expect(context).toEqual({
        requestId: answer.headers["x-request-id"],
        location: "127.0.0.1",
        userAgent,
      });
      expect(targets).toHaveLength(1);
    }
    return { ...(answer.body as Body), location: { id: String(answer.headers["location"]) } };
  };

  const vault = (await changes(["vault.created"], "POST", "/api/vaults", { json: { name: "v", type: "public" } }))[
    "vault"
  ]?.id;
  await changes(["vault.updated"], "PATCH", `/api/vaults/${vault}`, { json: { name: "w" } });
  const bytes = { headers: { "content-type": "application/octet-stream" }, payload: "abc" };
  const folder = (await changes(["folder.created"], "POST", "/api/folders", { json: { name: "f", vaultId: vault } }))[
    "folder"
  ]?.id;
  await changes(["folder.updated"], "PATCH", `/api/folders/${folder}`, { json: { name: "g" } });
  const file = (await changes(["file.uploaded"], "POST", `/api/files?name=a&vaultId=${vault}`, bytes))["file"]?.id;
  await changes(["file.updated"], "PUT", `/api/files/${file}/content`, bytes);
  const { body: past } = await service.ask("GET", `/api/files/${file}/versions`, { key });
  const first = `/api/files/${file}/versions/${(past["versions"] as { versionId: string }[])[1]?.versionId}`;
  for (const actions of [["file.updated"], []]) await changes(actions, "POST", `${first}/restore`);
  await changes(["file.version_deleted"], "DELETE", first);
  await changes(["file.updated"], "PATCH", `/api/files/${file}`, { json: { name: "b" } });
  const form = batchForm([{ said: { name: "in a batch" }, content: "abc" }]);
  const batch = { headers: { "content-type": FORM_TYPE }, payload: form.toString() };
  await changes(["file.uploaded"], "POST", `/api/files/batch?vaultId=${vault}`, batch);
  const many = { json: { ids: [file] } };
  await changes(["file.trashed"], "POST", "/api/files/trash", many);
  await changes(["file.restored"], "POST", "/api/files/restore", many);
  await changes(["file.updated"], "POST", "/api/files/move", { json: { ids: [file], folderId: folder } });
  const { body: shown } = await service.ask("GET", `/api/files/${file}`, { key });
  const commit = { vaultId: vault, changes: [{ id: file, ifMatch: plainTag(shown["file"] as File), name: "c" }] };
  await changes(["file.updated"], "POST", "/api/files/commit", { json: commit });
  await changes(["file.trashed"], "DELETE", `/api/files/${file}`);
  await changes(["file.restored"], "POST", `/api/files/${file}/restore`);
  await changes(["file.deleted"], "DELETE", `/api/files/${file}?permanent=true`);
  await changes(["folder.trashed"], "DELETE", `/api/folders/${folder}`);
  await changes(["folder.restored"], "POST", `/api/folders/${folder}/restore`);
  await changes(["folder.trashed"], "DELETE", `/api/folders/${folder}`);
  await changes(["folder.deleted"], "DELETE", "/api/trash");
  const tus = { "tus-resumable": "1.0.0" };
  const part = { ...tus, "content-type": "application/offset+octet-stream", "upload-offset": "0" };
  for (const finish of [true, false]) {
    const metadata = `filename ${Buffer.from(`u${String(finish)}`).toString("base64")},vaultId ${Buffer.from(String(vault)).toString("base64")}`;
    const begin = { ...tus, "upload-length": "3", "upload-metadata": metadata };
    const { pathname } = new URL(
      (await changes([], "POST", "/api/uploads", { headers: begin }))["location"]?.id ?? "",
      "http://a.test",
    );
    if (finish) await changes(["file.uploaded"], "PATCH", pathname, { headers: part, payload: "abc" });
    else await changes([], "DELETE", pathname, { headers: tus });
  }
  await changes(["vault.trashed"], "DELETE", `/api/vaults/${vault}?force=true`);
  await changes([], "DELETE", `/api/vaults/${vault}`);
  await changes(["vault.restored"], "POST", `/api/vaults/${vault}/restore`);
  await changes(["vault.deleted"], "DELETE", `/api/vaults/${vault}?force=true&permanent=true`);

  service.chain.set(chainObjectId, newTestVault({ address: chainAddress, signingKey: signer.publicKey }));
  service.chain.add(chainObjectId, { address: member, signingKey: new Uint8Array(0) });
  const wanted = { name: "s", type: "shared", chainObjectId };
  const shared = `/api/vaults/${(await changes(["vault.created"], "POST", "/api/vaults", { json: wanted }))["vault"]?.id}`;
  await changes(["vault.member_added"], "POST", `${shared}/members`, { json: { chainAddress: member } });
  await changes([], "POST", `${shared}/members`, { json: { chainAddress: member } });
  service.chain.remove(chainObjectId, member);
  await changes(["vault.member_removed"], "DELETE", `${shared}/members/${member}`);
  await changes([], "DELETE", `${shared}/members/${member}`);
  const record = signRecord(signer, { vault: chainObjectId, generation: 2 });
  const published = await changes(["vault.key_published"], "POST", `${shared}/keys`, { json: { record } });
  const { keyId: vaultKey } = published["key"] as unknown as { keyId: string };
  await changes(["vault.names_changed"], "PUT", `${shared}/names`, {
    json: { folderId: null, keyId: vaultKey, entries: [] },
  });

  await changes([], "POST", `${shared}/deletion-challenge`, { json: { act: "delete-vault" } });

  // Its own already; what a transfer records in both accounts is held beside it (ownership.test.ts).
  await changes([], "POST", `${shared}/claim`, { json: {} });

  await changes(["account.updated"], "PATCH", "/api/account", { json: { name: randomUUID() } });
  const minted = (await changes(["api_key.created"], "POST", "/api/auth/api-keys", {
    json: { name: "k" },
  })) as unknown as { id: string };
  const rotated = (await changes(
    ["api_key.revoked", "api_key.created"],
    "POST",
    `/api/auth/api-keys/${minted.id}/rotate`,
    {
      json: {},
    },
  )) as unknown as { id: string };
  await changes(["api_key.updated", "api_key.created"], "POST", `/api/auth/api-keys/${rotated.id}/rotate`, {
    json: { overlapHours: 1 },
  });
  await changes(["api_key.revoked"], "DELETE", `/api/auth/api-keys/${rotated.id}`);
  const invite = (await changes(["invite.created"], "POST", "/api/auth/invites", {
    json: { name: "i" },
  })) as unknown as { id: string };
  await changes(["invite.revoked"], "DELETE", `/api/auth/invites/${invite.id}`);

  const hook = (
    await changes(["webhook.created"], "POST", "/api/webhooks", {
      json: { url: "http://127.0.0.1:9/", events: ["webhook.test"] },
    })
  )["webhook"]?.id;
  await changes(["webhook.updated"], "PATCH", `/api/webhooks/${hook}`, { json: { description: "d" } });
  await changes(["webhook.secret_rotated"], "POST", `/api/webhooks/${hook}/rotate-secret`);
  const sent = (await changes([], "POST", `/api/webhooks/${hook}/test`))["delivery"]?.id;
  await changes([], "POST", `/api/webhooks/${hook}/deliveries/${sent}/redeliver`);
  await changes([], "POST", `/api/webhooks/${hook}/recover`, { json: { since: "2026-01-01T00:00:00.000Z" } });
  await changes(["webhook.deleted"], "DELETE", `/api/webhooks/${hook}`);

  await database.run(database.build.updateTable("accounts").set({ email_verified: 1 }).where("id", "=", accountId));
  await changes(["account.plan_changed"], "POST", "/api/billing/plan", { json: { plan: "free" } });
  await changes([], "POST", "/api/billing/checkout", { json: { plan: "pro" } });
  expect([...made].toSorted(), "a changing endpoint is missing here").toEqual(changing.map(({ id }) => id).toSorted());
  const check = await database.transaction((transaction) => verifyAccount(transaction, accountId));
  expect(check?.fault).toBeNull();
});

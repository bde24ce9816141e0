import { api, isKeyText } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";

export const apiKeysFlow: Flow = async (subject) => {
  await lifeOfAKey(subject);
  await scopes(subject);
  await vaultLimits(subject);
  await budgets(subject);
};

async function lifeOfAKey({ owner, name }: Subject): Promise<void> {
  const { create, get, list, revoke, rotate } = api.apiKeys;
  owner.step("a key is made, shown once, and works");
  const made = (await owner.call(create, { body: { name: name("key"), expiresInDays: 1 } })).value();
  owner.check(create, isKeyText(made.key), "the key does not have the published form");
  owner.check(create, made.scopes === null && made.vaultIds === null, "absent limits are not null");
  owner.check(create, made.expiresAt !== null, "expiresAt is null although expiresInDays was given");
  await owner.as(made.key).call(api.account.get, {});

  owner.step("it is read and listed without the raw key");
  const params = { keyId: made.id };
  const read = (await owner.call(get, { params })).value();
  owner.check(
    get,
    made.key.endsWith(read.apiKey.last4) && read.apiKey.revokedAt === null,
    "last4 or revokedAt is wrong",
  );
  const page = (await owner.call(list, { query: { limit: 10 } })).value();
  owner.check(
    list,
    page.apiKeys.some((key) => key.id === made.id),
    "the newest page does not hold the new key",
  );

  owner.step("rotation ends the old key at once");
  const rotated = (await owner.call(rotate, { params, body: {} })).value();
  owner.check(rotate, rotated.id !== made.id && rotated.key !== made.key, "rotation answered the old key");
  await owner.as(made.key).call(api.account.get, {}, { expect: "invalid_credential" });
  await owner.as(rotated.key).call(api.account.get, {});
  await owner.call(rotate, { params }, { expect: "key_inactive" });

  owner.step("rotation with overlap leaves both alive");
  const overlapped = (await owner.call(rotate, { params: { keyId: rotated.id }, body: { overlapHours: 1 } })).value();
  await owner.as(rotated.key).call(api.account.get, {});

  owner.step("revocation is immediate and a second one changes nothing");
  for (const keyId of [rotated.id, overlapped.id]) await owner.call(revoke, { params: { keyId } });
  await owner.as(overlapped.key).call(api.account.get, {}, { expect: "invalid_credential" });
  await owner.call(revoke, { params: { keyId: overlapped.id } });
}

async function scopes({ owner, name }: Subject): Promise<void> {
  owner.step("a key with scopes does no more than they say");
  const made = (
    await owner.call(api.apiKeys.create, { body: { name: name("reader"), scopes: ["files:read"] } })
  ).value();
  const reader = owner.as(made.key);
  await reader.call(api.files.list, {});
  await reader.call(api.vaults.list, {});
  await reader.call(api.folders.list, {}, { expect: "missing_scope" });
  await reader.call(
    api.files.upload,
    { query: { name: "refused.txt" }, headers: {}, body: new Uint8Array(1) },
    { expect: "missing_scope" },
  );
  await reader.call(api.apiKeys.create, { body: { name: "wider" } }, { expect: "missing_scope" });
  await owner.call(api.apiKeys.revoke, { params: { keyId: made.id } });
}

async function vaultLimits({ owner, name, vaultId }: Subject): Promise<void> {
  owner.step("a key limited to a vault sees that vault alone");
  const other = (await owner.call(api.vaults.create, { body: { name: name("hidden"), type: "public" } })).value().vault;
  const made = (await owner.call(api.apiKeys.create, { body: { name: name("limited"), vaultIds: [vaultId] } })).value();
  const limited = owner.as(made.key);
  const seen = (await limited.call(api.vaults.list, {})).value().vaults;
  owner.check(api.vaults.list, seen.length === 1 && seen[0]?.id === vaultId, "the list holds other vaults");
  await limited.call(api.vaults.get, { params: { vaultId: other.id } }, { expect: "not_found" });
  await limited.call(api.vaults.get, { params: { vaultId } });
  await limited.call(
    api.vaults.create,
    { body: { name: name("more"), type: "public" } },
    { expect: "vault_limited_key" },
  );
  await limited.call(api.files.list, { query: { vaultId: other.id } }, { expect: "not_found" });
  owner.step("a key for vaults of nobody cannot be made");
  const unknown = ["00000000-0000-4000-8000-000000000000"];
  await owner.call(api.apiKeys.create, { body: { name: "nobody", vaultIds: unknown } }, { expect: "not_found" });
  await owner.call(api.apiKeys.revoke, { params: { keyId: made.id } });
  await owner.call(api.vaults.delete, { params: { vaultId: other.id }, query: { permanent: true } }, { expect: 204 });
}

async function budgets({ owner, name, vaultId }: Subject): Promise<void> {
  owner.step("a key with budgets writes no more than they say, and shows what is left");
  const limits = { storedBytes: 10, filesPerDay: 2, requestsPerMinute: 1000 };
  const made = (await owner.call(api.apiKeys.create, { body: { name: name("budgeted"), budgets: limits } })).value();
  const limited = owner.as(made.key);
  const store = (title: string, bytes: number, expect: "budget_storage" | "budget_exceeded" | 201) =>
    limited.call(
      api.files.upload,
      { query: { name: name(title), vaultId }, headers: {}, body: new Uint8Array(bytes) },
      { expect },
    );
  await store("first.txt", 6, 201);
  await store("too-large.txt", 5, "budget_storage");
  await store("second.txt", 4, 201);
  await store("third.txt", 0, "budget_exceeded");
  const { credential } = (await limited.call(api.account.get, {})).value();
  const { storedBytes, filesPerDay, bytesPerDay } = credential.budgetUse ?? {};
  owner.check(api.account.get, storedBytes?.used === 10 && storedBytes.left === 0, "the stored bytes are not counted");
  owner.check(api.account.get, storedBytes?.renewsAt === null, "no time changes what is stored");
  owner.check(api.account.get, filesPerDay?.used === 2 && filesPerDay.renewsAt !== null, "the files are not counted");
  owner.check(api.account.get, bytesPerDay === undefined, "a budget is shown that the key has not");
  await owner.call(api.apiKeys.revoke, { params: { keyId: made.id } });
}

import { describe, expect, test } from "vitest";
import { newTestVault } from "../../drivers/chain/chain.test-kit.ts";
import type { Principal } from "../../handler.ts";
import type { Database } from "../../ports/database.ts";
import { signEntry, signVersion } from "../shared-vaults/statements.test-kit.ts";
import { purgeVault } from "../deletion/proofs.test-kit.ts";
import {
  addMember,
  addPerson,
  agentOf,
  openSharedVault,
  placeVault,
  publishKey,
  type TestPerson,
} from "../shared-vaults/vaults.test-kit.ts";
import { answerOf, codeOf, contextOf, openTestService, outcomes, type TestService } from "../service.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);

async function create(as: Principal, body: { name?: string; chainObjectId?: string }) {
  const { name = "S", chainObjectId } = body;
  const object = chainObjectId === undefined ? {} : { chainObjectId };
  const input = { body: { name, type: "shared" as const, ...object } };
  return answerOf(await service.handlers.vaults.create(input, contextOf(as))).vault;
}

async function get(service: TestService, as: Principal, vaultId: string) {
  return answerOf(await service.handlers.vaults.get({ params: { vaultId } }, contextOf(as))).vault;
}

async function list(as: Principal, query: { shared?: boolean; type?: "public" | "shared" } = {}) {
  const { vaults } = answerOf(await service.handlers.vaults.list({ query }, contextOf(as)));
  return vaults.map(({ name, role }) => [name, role]);
}

function remove(as: Principal, vaultId: string, force = false) {
  return service.handlers.vaults.delete({ params: { vaultId }, query: { force }, headers: {} }, contextOf(as));
}

async function rowsOf(database: Database, table: "vault_members" | "vault_keys" | "ladder_steps" | "file_versions") {
  return database.all(database.build.selectFrom(table).selectAll());
}

describe("a shared vault is made of an object on the chain", () => {
  test("[S1-vault-type] and says what was read there", async () => {
    const owner = await addPerson(service);
    const chainObjectId = placeVault(service, owner, { plainNames: true });
    const vault = await create(owner.principal, { chainObjectId });
    const facts = { type: "shared", chainObjectId, role: "owner", generation: 1, plainNames: true, isDefault: false };
    expect(vault).toMatchObject({ name: "S", ...facts });
    expect(await get(service, owner.principal, vault.id)).toEqual(vault);
    const secret = await create(owner.principal, { name: "T", chainObjectId: placeVault(service, owner) });
    expect(secret).toMatchObject({ plainNames: false });
    const all = answerOf(await service.handlers.vaults.list({ query: {} }, contextOf(owner.principal))).vaults;
    expect(all.find(({ type }) => type === "public")).toMatchObject({ generation: null, plainNames: null });
  });

  test("[D5-shared-one-object] by an account that has a chain address, for an object of this very address, read anew", async () => {
    const [owner, other] = [await addPerson(service), await addPerson(service)];
    const chainObjectId = placeVault(service, owner);
    expect(await codeOf(create(service.owner, { chainObjectId }))).toBe("address_required");
    expect(await codeOf(create(other.principal, { chainObjectId }))).toBe("chain_object_invalid");
    const nowhere = `0x${"9".repeat(64)}`;
    expect(await codeOf(create(owner.principal, { chainObjectId: nowhere }))).toBe("chain_object_invalid");
    // The object goes to another owner after it was read the last time.
    service.chain.set(chainObjectId, {
      ...newTestVault({ address: other.chainAddress, signingKey: other.publicKey }),
      generation: 2,
    });
    expect(await codeOf(create(owner.principal, { chainObjectId }))).toBe("chain_object_invalid");
    expect(await codeOf(create(other.principal, { chainObjectId }))).toBe("ok");
  });

  test("[D5-shared-one-object] once: one vault for one object, whoever asks, and for many at the same time", async () => {
    const owner = await addPerson(service);
    const chainObjectId = placeVault(service, owner);
    const names = ["a", "b", "c", "d"];
    const made = await outcomes(names.map((name) => create(owner.principal, { name, chainObjectId })));
    expect(made).toEqual({ ok: 1, chain_object_taken: 3 });
    const next = await addPerson(service);
    service.chain.set(
      chainObjectId,
      newTestVault({ address: next.chainAddress, signingKey: next.publicKey }, { generation: 2 }),
    );
    expect(await codeOf(create(next.principal, { chainObjectId }))).toBe("chain_object_taken");
  });

  test("and of nothing else: names, types and objects that do not go together are refused", async () => {
    const owner = await addPerson(service);
    const chainObjectId = placeVault(service, owner);
    expect(await codeOf(create(owner.principal, {}))).toBe("validation_failed");
    const body = { name: "P", type: "public", chainObjectId } as const;
    expect(await codeOf(service.handlers.vaults.create({ body }, contextOf(owner.principal)))).toBe(
      "validation_failed",
    );
    expect(await codeOf(create(owner.principal, { name: "Files", chainObjectId }))).toBe("name_exists");
    service.chain.down = true;
    expect(await codeOf(create(owner.principal, { chainObjectId }))).toBe("chain_unavailable");
    expect(await list(owner.principal)).toEqual([["Files", "owner"]]);
  });
});

describe("who sees a shared vault", () => {
  async function open(service: TestService) {
    const shared = await openSharedVault(service);
    const member = await addPerson(service);
    await addMember(service, shared, member);
    return {
      shared,
      member,
      agent: agentOf(shared.owner),
      membersAgent: agentOf(member),
      stranger: await addPerson(service),
    };
  }
  const seen = async (service: TestService, who: TestPerson, vaultId: string) =>
    codeOf(get(service, who.principal, vaultId));

  test("[D5-isolation-members] its account, and members of other accounts, who see nothing else of it [M10]", async () => {
    const { shared, member, agent, membersAgent, stranger } = await open(service);
    for (const who of [shared.owner, member, agent]) expect(await seen(service, who, shared.vaultId)).toBe("ok");
    for (const who of [membersAgent, stranger]) expect(await seen(service, who, shared.vaultId)).toBe("not_found");
    const vault = await get(service, member.principal, shared.vaultId);
    expect(vault).toMatchObject({ role: "member", isDefault: false, type: "shared", generation: 1 });
    const others = answerOf(
      await service.handlers.vaults.list({ query: {} }, contextOf(shared.owner.principal)),
    ).vaults;
    for (const { id } of others.filter(({ id }) => id !== shared.vaultId))
      expect(await seen(service, member, id)).toBe("not_found");
  });

  test("a member's key of the same address sees it, and one that is limited to vaults does not", async () => {
    const { shared, member, stranger } = await open(service);
    const bound = { ...stranger.principal, accessLevel: "agent", chainAddress: member.chainAddress } as const;
    expect(await codeOf(get(service, bound, shared.vaultId))).toBe("ok");
    expect(await list(bound, { shared: true })).toHaveLength(1);
    const limited = { ...member.principal, vaultIds: new Set(["00000000-0000-4000-8000-000000000000"]) };
    expect(await codeOf(get(service, limited, shared.vaultId))).toBe("not_found");
    expect(await list(limited, { shared: true })).toEqual([]);
    // An agent without an address of the account is nobody on the chain.
    const unbound = { ...member.principal, accessLevel: "agent" } as const;
    expect(await codeOf(get(service, unbound, shared.vaultId))).toBe("not_found");
  });

  test("a list has one's own vaults, or with shared=true those of others", async () => {
    const { shared, member } = await open(service);
    const own = await openSharedVault(service, { owner: member });
    const name = (id: string) => `vault ${id.slice(2, 10)}`;
    expect(await list(member.principal)).toHaveLength(2);
    expect(await list(member.principal, { type: "shared" })).toEqual([[name(own.objectId), "owner"]]);
    expect(await list(member.principal, { shared: true })).toEqual([[name(shared.objectId), "member"]]);
    expect(await list(member.principal, { shared: true, type: "shared" })).toHaveLength(1);
    expect(await list(member.principal, { shared: true, type: "public" })).toEqual([]);
    expect(await list(shared.owner.principal, { shared: true })).toEqual([]);
    expect(await list(service.owner, { shared: true })).toEqual([]);
  });

  test("pages of others' vaults hold each once", async () => {
    const member = await addPerson(service);
    for (let count = 0; count < 3; count += 1) {
      await addMember(service, await openSharedVault(service), member);
      service.clock.advance(count);
    }
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { shared: true, limit: 1, ...(cursor === undefined ? {} : { cursor }) };
      const page = answerOf(await service.handlers.vaults.list({ query }, contextOf(member.principal)));
      found.push(...page.vaults.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(found).size).toBe(3);
    expect(found).toHaveLength(3);
  });

  test("changing it is its account's owner's: a member may not, and a stranger does not know of it", async () => {
    const { shared, member, stranger } = await open(service);
    const { vaultId } = shared;
    const rename = (who: TestPerson) =>
      codeOf(
        service.handlers.vaults.update(
          { params: { vaultId }, headers: {}, body: { name: "renamed" } },
          contextOf(who.principal),
        ),
      );
    expect([await rename(member), await rename(stranger), await rename(shared.owner)]).toEqual([
      ...["owner_only", "not_found", "ok"],
    ]);
    expect(await codeOf(remove(member.principal, vaultId))).toBe("owner_only");
    expect(await codeOf(remove(stranger.principal, vaultId))).toBe("not_found");
  });
});

test("the generation is a hint that follows what is read of the chain", async () => {
  const shared = await openSharedVault(service);
  const member = await addPerson(service);
  await addMember(service, shared, member);
  service.chain.remove(shared.objectId, member.chainAddress);
  expect(await get(service, shared.owner.principal, shared.vaultId)).toMatchObject({ generation: 1 });
  await service.handlers.members.list({ params: { vaultId: shared.vaultId } }, contextOf(shared.owner.principal));
  service.clock.advance(1000);
  await service.handlers.members.list({ params: { vaultId: shared.vaultId } }, contextOf(shared.owner.principal));
  expect(await get(service, shared.owner.principal, shared.vaultId)).toMatchObject({ generation: 2 });
});

test("a deletion for good takes members, keys and replaced versions along, and queues their blobs", async () => {
  const shared = await openSharedVault(service);
  const { owner, vaultId, objectId } = shared;
  await addMember(service, shared, await addPerson(service));
  const keyId = await publishKey(service, shared, owner);
  const place = { vault: objectId, fileId: service.random.uuid(), versionId: service.random.uuid() };
  const shared_json = JSON.stringify({
    version: signVersion(owner, { ...place, generation: 1, keyId }),
    entry: signEntry(owner, { vault: objectId, kind: "file", id: place.fileId, generation: 1, keyId, metadata: "" }),
  });
  const { database } = service;
  await database.run(
    database.build.insertInto("file_versions").values({
      vault_id: vaultId,
      file_id: place.fileId,
      version_id: place.versionId,
      blob_key: "replaced",
      size: 1,
      sha256: "",
      shared_json,
      expires_at: 1,
      number: 1,
      charged: 0,
      content_type: "",
      how: "upload",
      author: null,
      author_key: "",
      created_at: 0,
      replaced_at: 0,
    }),
  );
  const step = { vault_id: vaultId, created_at: 0, id: "0".repeat(32), step: "" };
  await database.run(database.build.insertInto("ladder_steps").values(step));
  expect(await rowsOf(database, "vault_members")).toHaveLength(1);
  expect(await rowsOf(database, "vault_keys")).toHaveLength(1);
  await purgeVault(service, shared);
  for (const table of ["vault_members", "vault_keys", "ladder_steps", "file_versions"] as const)
    expect(await rowsOf(database, table)).toEqual([]);
  const queued = await database.all(database.build.selectFrom("blob_deletions").select("blob_key"));
  expect(queued).toEqual([{ blob_key: "replaced" }]);
  // The object is free again.
  expect(await codeOf(create(owner.principal, { chainObjectId: objectId }))).toBe("ok");
});

import { TUS_VERSION } from "@coffer/contract";
import { describe, expect, test } from "vitest";
import { deleteVault, prove } from "../deletion/proofs.test-kit.ts";
import { newTestVault } from "../../drivers/chain/chain.test-kit.ts";
import {
  newUpload,
  nextVersion,
  openWriting,
  put,
  replace,
  send,
  type Upload,
  type Writing,
} from "../files/shared-files.test-kit.ts";
import {
  addMember,
  addPerson,
  openSharedVault,
  publishKey,
  type TestPerson,
} from "../shared-vaults/vaults.test-kit.ts";
import { between } from "../../between.test-kit.ts";
import { membersHandlers } from "../members/handlers.ts";
import { ownershipHandlers } from "./handlers.ts";
import { sumHeldBytes } from "../holds/store.ts";
import {
  answerOf,
  bodyOf,
  codeOf,
  contextOf,
  openTestService,
  outcomes,
  type TestService,
} from "../service.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);

/** A vault with a file and one in the trash, which its owner has handed on to a member of another account. */
async function openHandedOn(service: TestService, { isAccepted = true } = {}) {
  const { member: third, ...writing } = await openWriting(service);
  const { shared, by } = writing;
  const heir = await addPerson(service);
  await addMember(service, shared, heir);
  const first = await put(service, writing, "kept");
  const file = await replace(service, writing, nextVersion(writing, first));
  const trashed = await put(service, writing, "trashed");
  await service.handlers.files.delete(
    { params: { fileId: trashed.id }, query: {}, headers: {} },
    contextOf(by.principal),
  );
  if (isAccepted) handOn(service, shared.objectId, heir, third);
  return { shared, former: by, heir, third, writing, file, trashed };
}

function handOn(service: TestService, objectId: string, heir: TestPerson, third: TestPerson): void {
  const entry = ({ chainAddress, publicKey }: TestPerson) => ({ address: chainAddress, signingKey: publicKey });
  const members = [{ ...entry(third), since: 1, endsAt: null, until: null }];
  service.chain.set(objectId, { ...newTestVault(entry(heir)), generation: 2, members });
}

function claim(service: TestService, { principal }: Pick<TestPerson, "principal">, vaultId: string, name?: string) {
  const input = { params: { vaultId }, body: name === undefined ? {} : { name } };
  return service.handlers.ownership.claim(input, contextOf(principal));
}

function get(service: TestService, { principal }: Pick<TestPerson, "principal">, vaultId: string) {
  return service.handlers.vaults.get({ params: { vaultId } }, contextOf(principal));
}

async function usageOf({ database }: TestService, { principal }: TestPerson) {
  const account = await database.first(
    database.build
      .selectFrom("accounts")
      .select(["usage_bytes as bytes", "usage_files as files", "usage_version_bytes as versions"])
      .where("id", "=", principal.accountId),
  );
  return account ?? { bytes: -1, files: -1, versions: -1 };
}

async function actionsOf({ database }: TestService, { principal }: TestPerson): Promise<string[]> {
  const query = database.build.selectFrom("changes").select("action").where("account_id", "=", principal.accountId);
  return (await database.all(query.orderBy("sequence"))).map(({ action }) => action);
}

describe("a vault that was handed on", () => {
  test("comes to the new owner's account with all that lies in it, and counts there", async () => {
    const { shared, former, heir, third, file, trashed } = await openHandedOn(service);
    const before = await usageOf(service, former);
    const { vault } = answerOf(await claim(service, heir, shared.vaultId));
    expect(vault).toMatchObject({ id: shared.vaultId, role: "owner", chainObjectId: shared.objectId, generation: 2 });
    expect([before.files, await usageOf(service, former)]).toEqual([2, { bytes: 0, files: 0, versions: 0 }]);
    expect(await usageOf(service, heir)).toEqual(before);

    const files = { query: { vaultId: shared.vaultId } };
    const listed = answerOf(await service.handlers.files.list(files, contextOf(heir.principal))).files;
    expect(listed.map(({ id }) => id)).toEqual([file.id]);
    // Keys of the account before are none of the new owner's business.
    expect(listed[0]?.createdBy).toMatchObject({ kind: "api-key", id: null, name: null });
    const trash = answerOf(await service.handlers.trash.list(files, contextOf(heir.principal)));
    expect(trash.files.map(({ id }) => id)).toEqual([trashed.id]);
    expect(await codeOf(get(service, former, shared.vaultId))).toBe("not_found");
    expect(await codeOf(service.handlers.files.get({ params: { fileId: file.id } }, contextOf(former.principal)))).toBe(
      "not_found",
    );
    expect(answerOf(await get(service, third, shared.vaultId)).vault.role).toBe("member");
  });

  test("is the new owner's to manage: members, name and end", async () => {
    const { shared, former, heir, third } = await openHandedOn(service, { isAccepted: false });
    const params = { vaultId: shared.vaultId };
    const noted = { chainAddress: third.chainAddress, label: "a note of the owner before" };
    await service.handlers.members.add({ params, body: noted }, contextOf(former.principal));
    handOn(service, shared.objectId, heir, third);
    await claim(service, heir, shared.vaultId);
    const { members } = answerOf(await service.handlers.members.list({ params }, contextOf(heir.principal)));
    expect(members.map(({ chainAddress, role, label }) => [chainAddress, role, label])).toEqual([
      [heir.chainAddress, "owner", ""],
      [third.chainAddress, "member", ""],
    ]);
    service.chain.remove(shared.objectId, third.chainAddress);
    const removal = { params: { ...params, chainAddress: third.chainAddress } };
    expect(await codeOf(service.handlers.members.remove(removal, contextOf(former.principal)))).toBe("not_found");
    expect(await codeOf(service.handlers.members.remove(removal, contextOf(heir.principal)))).toBe("ok");
    // The proof of who handed it on is good for nothing any more.
    const purge = async (by: TestPerson) => {
      const proof = await prove(service, { ...shared, owner: heir }, "purge-vault", { by });
      return deleteVault(service, { ...shared, owner: heir }, { proof, permanent: true });
    };
    expect(await codeOf(purge(former))).toBe("signature_invalid");
    expect(await codeOf(purge(heir))).toBe("ok");
    expect(await usageOf(service, heir)).toEqual({ bytes: 0, files: 0, versions: 0 });
  });

  test("is told to both accounts, once, however often and by however many it is claimed", async () => {
    const { shared, former, heir } = await openHandedOn(service);
    expect(await outcomes(Array.from({ length: 4 }, () => claim(service, heir, shared.vaultId)))).toEqual({ ok: 4 });
    expect((await actionsOf(service, former)).filter((action) => action === "vault.deleted")).toHaveLength(1);
    expect((await actionsOf(service, heir)).filter((action) => action === "vault.created")).toHaveLength(1);
  });

  test("takes another name where its own is taken", async () => {
    const { shared, heir } = await openHandedOn(service);
    const { name } = answerOf(await get(service, heir, shared.vaultId)).vault;
    const body = { name, type: "public" } as const;
    await service.handlers.vaults.create({ body }, contextOf(heir.principal));
    expect(await codeOf(claim(service, heir, shared.vaultId))).toBe("name_exists");
    expect(answerOf(await claim(service, heir, shared.vaultId, "inherited")).vault.name).toBe("inherited");
  });

  test("ends the uploads that had begun, and nothing of the account before is charged for them", async () => {
    const { shared, former, heir, third, writing } = await openHandedOn(service, { isAccepted: false });
    const [late, begun] = [newUpload(writing, "late"), newUpload(writing, "begun")];
    await beginUpload(writing, begun);
    const { accountId } = former.principal;
    const held = () => sumHeldBytes(service.database, { accountId, rowsAfter: service.clock.now() });
    expect(await held()).toBe(begun.file.bytes.length);
    handOn(service, shared.objectId, heir, third);
    await claim(service, heir, shared.vaultId);
    expect(await codeOf(send(service, writing, late))).toBe("not_found");
    expect([await usageOf(service, former), await held()]).toEqual([{ bytes: 0, files: 0, versions: 0 }, 0]);
    const { build } = service.database;
    expect(await service.database.all(build.selectFrom("uploads").select("id"))).toEqual([]);
    expect(await service.database.all(build.selectFrom("blob_deletions").select("blob_key"))).toHaveLength(1);
  });
});

/** A resumable one, without any of its bytes yet. */
async function beginUpload({ shared, by }: Writing, { version, entry, file }: Upload) {
  const values = { vaultId: shared.vaultId, version, ...entry };
  const metadata = Object.entries(values).map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`);
  const headers = {
    "tus-resumable": TUS_VERSION,
    "upload-length": file.bytes.length,
    "upload-metadata": metadata.join(","),
  };
  await service.handlers.uploads.create({ headers, body: bodyOf("", { length: 0 }) }, contextOf(by.principal));
}

test("a vault that was handed on to somebody whom its account never recorded is no hostage of that", async () => {
  const { shared, third, former } = await openHandedOn(service, { isAccepted: false });
  const [heir, stranger] = [await addPerson(service), await addPerson(service)];
  expect(await codeOf(claim(service, heir, shared.vaultId))).toBe("not_found");
  handOn(service, shared.objectId, heir, third);
  service.clock.advance(250);
  for (const fault of [{ down: true }, { skew: 31_000 }, { skew: -31_000 }]) {
    Object.assign(service.chain, fault);
    for (const person of [heir, stranger])
      expect(await codeOf(claim(service, person, shared.vaultId))).toBe("not_found");
    Object.assign(service.chain, { down: false, skew: 0 });
  }
  expect(await codeOf(claim(service, stranger, shared.vaultId))).toBe("not_found");
  expect(await codeOf(claim(service, { principal: service.owner }, shared.vaultId))).toBe("not_found");
  expect(answerOf(await claim(service, heir, shared.vaultId)).vault).toMatchObject({ role: "owner" });
  expect(await codeOf(get(service, former, shared.vaultId))).toBe("not_found");
});

describe("a claim is refused", () => {
  test("to everyone but the owner on the chain, who is asked for anew", async () => {
    const { shared, heir, third, former } = await openHandedOn(service, { isAccepted: false });
    for (const person of [heir, third]) {
      expect(await codeOf(claim(service, person, shared.vaultId))).toBe("chain_object_invalid");
    }
    expect(await codeOf(claim(service, await addPerson(service), shared.vaultId))).toBe("not_found");
    expect(await codeOf(claim(service, former, shared.vaultId))).toBe("ok");
    handOn(service, shared.objectId, heir, third);
    for (const person of [former, third]) {
      expect(await codeOf(claim(service, person, shared.vaultId))).toBe("chain_object_invalid");
    }
    service.chain.down = true;
    expect(await codeOf(claim(service, heir, shared.vaultId))).toBe("chain_unavailable");
    service.chain.down = false;
    expect(await codeOf(claim(service, heir, shared.vaultId))).toBe("ok");
  });

  test("where the new account has no room for it, and nothing has moved", async () => {
    await using service = await openTestService({ environment: { SERVICE_PRO_STORAGE_BYTES: "2000" } });
    const { shared, former, heir } = await openHandedOn(service);
    const own = await openSharedVault(service, { owner: heir });
    await put(service, { shared: own, by: heir, keyId: await publishKey(service, own, heir) }, "own");
    const before = [await usageOf(service, former), await usageOf(service, heir)];
    expect(await codeOf(claim(service, heir, shared.vaultId))).toBe("storage_quota");
    expect([await usageOf(service, former), await usageOf(service, heir)]).toEqual(before);
    expect(await codeOf(get(service, former, shared.vaultId))).toBe("ok");
  });

  test("for a public vault, and for one that is not there for the caller", async () => {
    const { vaults } = answerOf(await service.handlers.vaults.list({ query: {} }, contextOf(service.owner)));
    expect(await codeOf(claim(service, { principal: service.owner }, vaults[0]?.id ?? ""))).toBe("public_vault");
    const { vaultId } = await openSharedVault(service);
    expect(await codeOf(claim(service, { principal: service.owner }, vaultId))).toBe("not_found");
  });
});

describe("a claim between looking and deciding", () => {
  test("takes nothing from a later owner, who was faster", async () => {
    const { shared, heir, third } = await openHandedOn(service);
    const { address, signingKey } = { address: third.chainAddress, signingKey: third.publicKey };
    const database = between(service.database, async () => {
      service.chain.set(shared.objectId, { ...newTestVault({ address, signingKey }), generation: 3 });
      expect(await codeOf(claim(service, third, shared.vaultId))).toBe("ok");
    });
    const input = { params: { vaultId: shared.vaultId }, body: {} };
    const late = ownershipHandlers({ ...service, database }).claim(input, contextOf(heir.principal));
    expect(await codeOf(late)).toBe("chain_object_invalid");
    expect(answerOf(await get(service, third, shared.vaultId)).vault.role).toBe("owner");
    expect((await actionsOf(service, third)).filter((action) => action === "vault.deleted")).toEqual([]);
  });

  test("leaves the account before no say over members", async () => {
    const { shared, former, heir, third } = await openHandedOn(service);
    service.chain.remove(shared.objectId, third.chainAddress);
    const database = between(service.database, () => claim(service, heir, shared.vaultId));
    const input = { params: { vaultId: shared.vaultId, chainAddress: third.chainAddress } };
    const removal = membersHandlers({ ...service, database }).remove(input, contextOf(former.principal));
    expect(await codeOf(removal)).toBe("not_found");
    expect((await actionsOf(service, former)).filter((action) => action === "vault.member_removed")).toEqual([]);
  });
});

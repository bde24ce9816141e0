import { describe, expect, test } from "vitest";
import type { Principal } from "../../handler.ts";
import {
  addMember,
  addPerson,
  agentOf,
  openSharedVault,
  type TestPerson,
  type TestSharedVault,
} from "../shared-vaults/test-vaults.ts";
import { answerOf, codeOf, contextOf, openTestService, outcomes, type TestService } from "../test-service.ts";

interface Wanted {
  readonly chainAddress: string;
  readonly label?: string;
}

async function add(
  service: TestService,
  shared: TestSharedVault,
  body: Wanted,
  as: Principal = shared.owner.principal,
) {
  const input = { params: { vaultId: shared.vaultId }, body };
  return answerOf(await service.handlers.members.add(input, contextOf(as))).member;
}

function remove(
  service: TestService,
  { vaultId, owner }: TestSharedVault,
  chainAddress: string,
  as: Principal = owner.principal,
) {
  return service.handlers.members.remove({ params: { vaultId, chainAddress } }, contextOf(as));
}

async function list(service: TestService, { vaultId, owner }: TestSharedVault, as: Principal = owner.principal) {
  return answerOf(await service.handlers.members.list({ params: { vaultId } }, contextOf(as))).members;
}

/** The changes of the vault's account, without those before its members'. */
async function changesOf(service: TestService, { owner }: TestSharedVault) {
  const { database } = service;
  const rows = await database.all(
    database.build
      .selectFrom("changes")
      .select(["action", "object_json", "target_json"])
      .where("account_id", "=", owner.principal.accountId)
      .orderBy("sequence"),
  );
  return rows.filter(({ action }) => action.startsWith("vault.") && action !== "vault.created");
}

const name = (service: TestService, { objectId }: TestSharedVault, { chainAddress, publicKey }: TestPerson) =>
  service.chain.add(objectId, { address: chainAddress, signingKey: publicKey });

describe("a member", () => {
  test("[D5-members] [S5.7-allowlist-placement] [D6-member-events] is recorded when the chain names it, read at this moment, and an event tells of it", async () => {
    await using service = await openTestService();
    const shared = await openSharedVault(service);
    const person = await addPerson(service);
    const { chainAddress } = person;
    expect(await codeOf(add(service, shared, { chainAddress }))).toBe("not_on_allowlist");
    name(service, shared, person);
    const member = await add(service, shared, { chainAddress, label: "Ada" });
    expect(member).toMatchObject({ chainAddress, role: "member", label: "Ada", since: 1 });
    expect(member.layers).toEqual({ service: "active", chain: "active" });
    const [change, ...more] = await changesOf(service, shared);
    expect(more).toEqual([]);
    expect(change?.action).toBe("vault.member_added");
    const object = { type: "vault_member", id: chainAddress, vaultId: shared.vaultId };
    expect(JSON.parse(change?.object_json ?? "")).toEqual(object);
    expect(JSON.parse(change?.target_json ?? "")).toEqual(object);
  });

  test("is recorded once, however often it is added and by how many at a time", async () => {
    await using service = await openTestService();
    const shared = await openSharedVault(service);
    const person = await addPerson(service);
    name(service, shared, person);
    const first = await add(service, shared, { chainAddress: person.chainAddress, label: "Ada" });
    service.clock.advance(1000);
    expect(await add(service, shared, { chainAddress: person.chainAddress })).toEqual(first);
    expect(await add(service, shared, { chainAddress: person.chainAddress, label: "Ada" })).toEqual(first);
    const other = await addPerson(service);
    name(service, shared, other);
    const many = Array.from({ length: 5 }, () => add(service, shared, { chainAddress: other.chainAddress }));
    expect(await outcomes(many)).toEqual({ ok: 5 });
    expect((await changesOf(service, shared)).map(({ action }) => action)).toEqual([
      ...["vault.member_added", "vault.member_added"],
    ]);
    const relabelled = await add(service, shared, { chainAddress: person.chainAddress, label: "Ada L." });
    expect(relabelled).toEqual({ ...first, label: "Ada L." });
    expect((await changesOf(service, shared)).at(-1)?.action).toBe("vault.updated");
  });

  test("[D5-members] [D6-member-events] stays until the chain stops naming it, and then sees nothing any more", async () => {
    await using service = await openTestService();
    const shared = await openSharedVault(service);
    const person = await addPerson(service);
    const { chainAddress, principal } = person;
    await addMember(service, shared, person);
    expect(await codeOf(remove(service, shared, chainAddress))).toBe("still_on_allowlist");
    service.chain.remove(shared.objectId, chainAddress);
    expect(await codeOf(remove(service, shared, chainAddress))).toBe("ok");
    expect(await codeOf(list(service, shared, principal))).toBe("not_found");
    expect(await list(service, shared)).toHaveLength(1);
    service.chain.down = true;
    expect(await outcomes([remove(service, shared, chainAddress), remove(service, shared, chainAddress)])).toEqual({
      ok: 2,
    });
    const actions = (await changesOf(service, shared)).map(({ action }) => action);
    expect(actions).toEqual(["vault.member_added", "vault.member_removed"]);
  });

  test("can come back after it was removed", async () => {
    await using service = await openTestService();
    const shared = await openSharedVault(service);
    const person = await addPerson(service);
    const { chainAddress } = person;
    name(service, shared, person);
    await add(service, shared, { chainAddress, label: "before" });
    service.chain.remove(shared.objectId, chainAddress);
    await remove(service, shared, chainAddress);
    expect(await codeOf(add(service, shared, { chainAddress }))).toBe("not_on_allowlist");
    service.clock.advance(5000);
    name(service, shared, person);
    const back = await add(service, shared, { chainAddress });
    expect(back).toMatchObject({ label: "", since: 2, layers: { service: "active", chain: "active" } });
    expect(Date.parse(back.addedAt ?? "")).toBe(service.clock.now());
    expect(await codeOf(list(service, shared, person.principal))).toBe("ok");
    expect(await changesOf(service, shared)).toHaveLength(3);
  });

  test("is unknown when nobody recorded it, and the owner is none", async () => {
    await using service = await openTestService();
    const shared = await openSharedVault(service);
    const person = await addPerson(service);
    expect(await codeOf(remove(service, shared, person.chainAddress))).toBe("not_found");
    const own = shared.owner.chainAddress;
    expect(await codeOf(remove(service, shared, own))).toBe("still_on_allowlist");
    expect(await add(service, shared, { chainAddress: own, label: "me" })).toMatchObject({ role: "owner", since: 1 });
    expect(await changesOf(service, shared)).toEqual([]);
    expect(await list(service, shared)).toHaveLength(1);
  });

  test("waits for the chain: while it is down nobody is added or removed", async () => {
    await using service = await openTestService();
    const shared = await openSharedVault(service);
    const person = await addPerson(service);
    await addMember(service, shared, person);
    service.chain.down = true;
    expect(await codeOf(add(service, shared, { chainAddress: person.chainAddress }))).toBe("chain_unavailable");
    expect(await codeOf(remove(service, shared, person.chainAddress))).toBe("chain_unavailable");
    expect(await codeOf(list(service, shared))).toBe("ok");
  });
});

describe("the list of members", () => {
  test("shows both layers, the owner first", async () => {
    await using service = await openTestService();
    const shared = await openSharedVault(service);
    const [both, gone, unrecorded] = [await addPerson(service), await addPerson(service), await addPerson(service)];
    for (const [at, person] of [gone, both].entries()) {
      service.clock.advance(at);
      await addMember(service, shared, person);
    }
    name(service, shared, unrecorded);
    service.chain.remove(shared.objectId, gone.chainAddress);
    service.clock.advance(1000);
    const shown = async () =>
      (await list(service, shared)).map(({ chainAddress, role, layers, since }) => ({
        chainAddress,
        role,
        layers,
        since,
      }));
    const at = (who: TestPerson, role: string, layers: object, since: number | null) => ({
      ...{ chainAddress: who.chainAddress, role, layers, since },
    });
    expect(await shown()).toEqual([
      at(shared.owner, "owner", { service: "active", chain: "active" }, 1),
      at(gone, "member", { service: "active", chain: "none" }, null),
      at(both, "member", { service: "active", chain: "active" }, 1),
      at(unrecorded, "member", { service: "none", chain: "active" }, 1),
    ]);
    service.chain.down = true;
    service.clock.advance(1000);
    const unknown = { service: "active", chain: "unknown" };
    expect(await shown()).toEqual([
      at(shared.owner, "owner", unknown, null),
      at(gone, "member", unknown, null),
      at(both, "member", unknown, null),
    ]);
  });

  test("is for all who see the vault, and its labels for the owner alone", async () => {
    await using service = await openTestService();
    const shared = await openSharedVault(service);
    const person = await addPerson(service);
    name(service, shared, person);
    await add(service, shared, { chainAddress: person.chainAddress, label: "a note" });
    for (const who of [person, agentOf(shared.owner)]) {
      const members = await list(service, shared, who.principal);
      expect(members.map(({ label }) => label)).toEqual(["", ""]);
    }
    expect((await list(service, shared)).map(({ label }) => label)).toEqual(["", "a note"]);
    expect(await codeOf(list(service, shared, (await addPerson(service)).principal))).toBe("not_found");
    const limited = { ...shared.owner.principal, vaultIds: new Set<string>() };
    expect(await codeOf(list(service, shared, limited))).toBe("not_found");
  });

  test("follows a transfer on the chain: the new owner is named, and is shown to see it once it is recorded", async () => {
    await using service = await openTestService();
    const shared = await openSharedVault(service);
    const next = await addPerson(service);
    const signing = { address: next.chainAddress, signingKey: next.publicKey, since: 2 };
    const vault = await service.chain.readVault(shared.objectId, { maxAge: 0 });
    if (vault === null) throw new Error("no vault");
    service.chain.set(shared.objectId, { ...vault, owner: signing, generation: 2 });
    service.clock.advance(10_000);
    expect((await list(service, shared))[0]).toMatchObject({
      ...{ chainAddress: next.chainAddress, role: "owner", layers: { service: "none", chain: "active" } },
    });
    await add(service, shared, { chainAddress: next.chainAddress });
    expect(await list(service, shared, next.principal)).toMatchObject([
      { chainAddress: next.chainAddress, role: "owner", layers: { service: "active", chain: "active" } },
    ]);
  });
});

test("a public vault has no members, and another account's is not there", async () => {
  await using service = await openTestService();
  const person = await addPerson(service);
  const { vaults } = answerOf(await service.handlers.vaults.list({ query: {} }, contextOf(person.principal)));
  const shared = { vaultId: vaults[0]?.id ?? "", objectId: "", owner: person };
  const { chainAddress } = person;
  const calls = (as: Principal) => [
    ...[
      list(service, shared, as),
      add(service, shared, { chainAddress }, as),
      remove(service, shared, chainAddress, as),
    ],
  ];
  expect(await outcomes(calls(person.principal))).toEqual({ public_vault: 3 });
  expect(await outcomes(calls((await addPerson(service)).principal))).toEqual({ not_found: 3 });
});

test("[D4-owner-only-members] [S5.9-members] only the owner of the vault's account changes its members", async () => {
  await using service = await openTestService();
  const shared = await openSharedVault(service);
  const person = await addPerson(service);
  await addMember(service, shared, person);
  for (const who of [person.principal, agentOf(shared.owner).principal]) {
    expect(await codeOf(add(service, shared, { chainAddress: person.chainAddress }, who))).toBe("owner_only");
    expect(await codeOf(remove(service, shared, person.chainAddress, who))).toBe("owner_only");
  }
});

import { describe, expect, test } from "vitest";
import type { Principal } from "../../handler.ts";
import {
  addMember,
  addPerson,
  agentOf,
  openSharedVault,
  type TestPerson,
  type TestSharedVault,
} from "../shared-vaults/vaults.test-kit.ts";
import { answerOf, codeOf, contextOf, openTestService, outcomes } from "../service.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);
const shared = ofEachTest(() => openSharedVault(service));
const person = ofEachTest(() => addPerson(service));

interface Wanted {
  readonly chainAddress: string;
  readonly label?: string;
}

async function add(shared: TestSharedVault, body: Wanted, as: Principal = shared.owner.principal) {
  const input = { params: { vaultId: shared.vaultId }, body };
  return answerOf(await service.handlers.members.add(input, contextOf(as))).member;
}

function remove({ vaultId, owner }: TestSharedVault, chainAddress: string, as: Principal = owner.principal) {
  return service.handlers.members.remove({ params: { vaultId, chainAddress } }, contextOf(as));
}

async function list({ vaultId, owner }: TestSharedVault, as: Principal = owner.principal) {
  return answerOf(await service.handlers.members.list({ params: { vaultId } }, contextOf(as))).members;
}

/** The changes of the vault's account, without those before its members'. */
async function changesOf({ owner }: TestSharedVault) {
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

const name = ({ objectId }: TestSharedVault, { chainAddress, publicKey }: TestPerson) =>
  service.chain.add(objectId, { address: chainAddress, signingKey: publicKey });

describe("a member", () => {
  test("[D5-members] [S5.7-allowlist-placement] [D6-member-events] is recorded when the chain names it, read at this moment, and an event tells of it", async () => {
    const { chainAddress } = person;
    expect(await codeOf(add(shared, { chainAddress }))).toBe("not_on_allowlist");
    name(shared, person);
    const member = await add(shared, { chainAddress, label: "Ada" });
    expect(member).toMatchObject({ chainAddress, role: "member", label: "Ada", since: 1 });
    expect(member.layers).toEqual({ service: "active", chain: "active" });
    const [change, ...more] = await changesOf(shared);
    expect(more).toEqual([]);
    expect(change?.action).toBe("vault.member_added");
    const object = { type: "vault_member", id: chainAddress, vaultId: shared.vaultId };
    expect(JSON.parse(change?.object_json ?? "")).toEqual(object);
    expect(JSON.parse(change?.target_json ?? "")).toEqual(object);
  });

  test("is recorded once, however often it is added and by how many at a time", async () => {
    name(shared, person);
    const first = await add(shared, { chainAddress: person.chainAddress, label: "Ada" });
    service.clock.advance(1000);
    expect(await add(shared, { chainAddress: person.chainAddress })).toEqual(first);
    expect(await add(shared, { chainAddress: person.chainAddress, label: "Ada" })).toEqual(first);
    const other = await addPerson(service);
    name(shared, other);
    const many = Array.from({ length: 5 }, () => add(shared, { chainAddress: other.chainAddress }));
    expect(await outcomes(many)).toEqual({ ok: 5 });
    expect((await changesOf(shared)).map(({ action }) => action)).toEqual([
      ...["vault.member_added", "vault.member_added"],
    ]);
    const relabelled = await add(shared, { chainAddress: person.chainAddress, label: "Ada L." });
    expect(relabelled).toEqual({ ...first, label: "Ada L." });
    expect((await changesOf(shared)).at(-1)?.action).toBe("vault.updated");
  });

  test("[D5-members] [D6-member-events] stays until the chain stops naming it, and then sees nothing any more", async () => {
    const { chainAddress, principal } = person;
    await addMember(service, shared, person);
    expect(await codeOf(remove(shared, chainAddress))).toBe("still_on_allowlist");
    service.chain.remove(shared.objectId, chainAddress);
    expect(await codeOf(remove(shared, chainAddress))).toBe("ok");
    expect(await codeOf(list(shared, principal))).toBe("not_found");
    expect(await list(shared)).toHaveLength(1);
    service.chain.down = true;
    expect(await outcomes([remove(shared, chainAddress), remove(shared, chainAddress)])).toEqual({
      ok: 2,
    });
    const actions = (await changesOf(shared)).map(({ action }) => action);
    expect(actions).toEqual(["vault.member_added", "vault.member_removed"]);
  });

  test("can come back after it was removed", async () => {
    const { chainAddress } = person;
    name(shared, person);
    await add(shared, { chainAddress, label: "before" });
    service.chain.remove(shared.objectId, chainAddress);
    await remove(shared, chainAddress);
    expect(await codeOf(add(shared, { chainAddress }))).toBe("not_on_allowlist");
    service.clock.advance(5000);
    name(shared, person);
    const back = await add(shared, { chainAddress });
    expect(back).toMatchObject({ label: "", since: 2, layers: { service: "active", chain: "active" } });
    expect(Date.parse(back.addedAt ?? "")).toBe(service.clock.now());
    expect(await codeOf(list(shared, person.principal))).toBe("ok");
    expect(await changesOf(shared)).toHaveLength(3);
  });

  test("is unknown when nobody recorded it, and the owner is none", async () => {
    expect(await codeOf(remove(shared, person.chainAddress))).toBe("not_found");
    const own = shared.owner.chainAddress;
    expect(await codeOf(remove(shared, own))).toBe("still_on_allowlist");
    expect(await add(shared, { chainAddress: own, label: "me" })).toMatchObject({ role: "owner", since: 1 });
    expect(await changesOf(shared)).toEqual([]);
    expect(await list(shared)).toHaveLength(1);
  });

  test("waits for the chain: while it is down nobody is added or removed [N11]", async () => {
    await addMember(service, shared, person);
    service.chain.down = true;
    expect(await codeOf(add(shared, { chainAddress: person.chainAddress }))).toBe("chain_unavailable");
    expect(await codeOf(remove(shared, person.chainAddress))).toBe("chain_unavailable");
    expect(await codeOf(list(shared))).toBe("ok");
  });
});

describe("the list of members", () => {
  test("shows both layers, the owner first", async () => {
    const [both, gone, unrecorded] = [await addPerson(service), await addPerson(service), await addPerson(service)];
    for (const [at, person] of [gone, both].entries()) {
      service.clock.advance(at);
      await addMember(service, shared, person);
    }
    name(shared, unrecorded);
    service.chain.remove(shared.objectId, gone.chainAddress);
    service.clock.advance(1000);
    const shown = async () =>
      (await list(shared)).map(({ chainAddress, role, layers, since }) => ({
        chainAddress,
        role,
        layers,
        since,
      }));
    const at = (who: TestPerson, role: string, layers: object, since: number | null) => ({
      chainAddress: who.chainAddress,
      role,
      layers,
      since,
    });
    expect(await shown()).toEqual([
      at(shared.owner, "owner", { service: "active", chain: "active" }, 1),
      at(gone, "member", { service: "active", chain: "none" }, null),
      at(both, "member", { service: "active", chain: "active" }, 1),
      at(unrecorded, "member", { service: "none", chain: "active" }, 1),
    ]);
    const unknown = { service: "active", chain: "unknown" };
    for (const fault of [{ skew: 31_000 }, { skew: -31_000 }, { skew: 0, down: true }]) {
      Object.assign(service.chain, fault);
      service.clock.advance(1000);
      expect(await shown()).toEqual([
        at(shared.owner, "owner", unknown, null),
        at(gone, "member", unknown, null),
        at(both, "member", unknown, null),
      ]);
    }
  });

  test("is for all who see the vault, and its labels for the owner alone", async () => {
    name(shared, person);
    await add(shared, { chainAddress: person.chainAddress, label: "a note" });
    for (const who of [person, agentOf(shared.owner)]) {
      const members = await list(shared, who.principal);
      expect(members.map(({ label }) => label)).toEqual(["", ""]);
    }
    expect((await list(shared)).map(({ label }) => label)).toEqual(["", "a note"]);
    expect(await codeOf(list(shared, (await addPerson(service)).principal))).toBe("not_found");
    const limited = { ...shared.owner.principal, vaultIds: new Set<string>() };
    expect(await codeOf(list(shared, limited))).toBe("not_found");
  });

  test("follows a transfer on the chain: the new owner is named, and is shown to see it once it is recorded", async () => {
    const next = await addPerson(service);
    const signing = { address: next.chainAddress, signingKey: next.publicKey, since: 2, endsAt: null };
    const vault = await service.chain.readVault(shared.objectId, { maxAge: 0 });
    if (vault === null) throw new Error("no vault");
    service.chain.set(shared.objectId, { ...vault, owner: signing, generation: 2 });
    service.clock.advance(10_000);
    expect((await list(shared))[0]).toMatchObject({
      chainAddress: next.chainAddress,
      role: "owner",
      layers: { service: "none", chain: "active" },
    });
    await add(shared, { chainAddress: next.chainAddress });
    expect(await list(shared, next.principal)).toMatchObject([
      { chainAddress: next.chainAddress, role: "owner", layers: { service: "active", chain: "active" } },
    ]);
  });
});

test("a public vault has no members, and another account's is not there", async () => {
  const { vaults } = answerOf(await service.handlers.vaults.list({ query: {} }, contextOf(person.principal)));
  const shared = { vaultId: vaults[0]?.id ?? "", objectId: "", owner: person };
  const { chainAddress } = person;
  const calls = (as: Principal) => [
    ...[list(shared, as), add(shared, { chainAddress }, as), remove(shared, chainAddress, as)],
  ];
  expect(await outcomes(calls(person.principal))).toEqual({ public_vault: 3 });
  expect(await outcomes(calls((await addPerson(service)).principal))).toEqual({ not_found: 3 });
});

test("[D4-owner-only-members] [S5.9-members] only the owner of the vault's account changes its members", async () => {
  await addMember(service, shared, person);
  for (const who of [person.principal, agentOf(shared.owner).principal]) {
    expect(await codeOf(add(shared, { chainAddress: person.chainAddress }, who))).toBe("owner_only");
    expect(await codeOf(remove(shared, person.chainAddress, who))).toBe("owner_only");
  }
});

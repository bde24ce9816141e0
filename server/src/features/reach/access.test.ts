import { describe, expect, test } from "vitest";
import { ChainUnavailableError, ClockSkewError } from "../../ports/chain.ts";
import { DatabaseFullError } from "../../ports/database.ts";
import { codeOf, openTestService, type TestService } from "../service.test-kit.ts";
import { findActingAddress, readVaultFor, requireMember, requireShared, requireWriter } from "./access.ts";
import { readChainVault } from "./chain-vaults.ts";
import {
  addMember,
  addPerson,
  agentOf,
  openSharedVault,
  type TestPerson,
  type TestSharedVault,
} from "../shared-vaults/vaults.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);
const shared = ofEachTest(() => openSharedVault(service));

const see = ({ vaultId }: TestSharedVault, who: TestPerson) => readVaultFor(service.database, who.principal, vaultId);

async function write(who: TestPerson, generation = 1, after = 0) {
  return requireWriter(service, who.principal, await see(shared, who), { place: { generation, after } });
}

test("a caller acts with its key's address, else at the owner's level with the account's, else with none", async () => {
  const person = await addPerson(service);
  const agent = agentOf(person);
  const acting = (principal: TestPerson["principal"]) => findActingAddress(service.database, principal);
  expect(await acting(person.principal)).toBe(person.chainAddress);
  expect(await acting(agent.principal)).toBe(agent.chainAddress);
  expect(await acting({ ...person.principal, accessLevel: "agent" })).toBeNull();
  expect(await acting(service.owner)).toBeNull();
});

describe("standing", () => {
  test("is the owner's, an agent's, or a member's of another account", async () => {
    const member = await addPerson(service);
    await addMember(service, shared, member);
    const standings = [];
    for (const who of [shared.owner, agentOf(shared.owner), member]) standings.push((await see(shared, who)).standing);
    expect(standings).toEqual(["owner", "agent", "member"]);
    const vault = await see(shared, member);
    expect([vault.account_id, vault.chain_object_id]).toEqual([shared.owner.principal.accountId, shared.objectId]);
    expect(() => requireShared(vault)).not.toThrow();
  });

  test("names what is not there as its caller does", async () => {
    const { vaultId } = await openSharedVault(service);
    const { principal } = await addPerson(service);
    await expect(readVaultFor(service.database, principal, vaultId, "File")).rejects.toThrow("File not found");
  });
});

describe("using a vault", () => {
  test("[D5-shared-authorised] costs its owner no read of the chain, and the others one in ten seconds", async () => {
    const member = await addPerson(service);
    await addMember(service, shared, member);
    const before = service.chain.reads;
    service.clock.advance(10_000);
    for (const who of [shared.owner, member, member, member])
      await requireMember(service, who.principal, await see(shared, who));
    expect(service.chain.reads - before).toBe(1);
    service.clock.advance(9_999);
    await requireMember(service, member.principal, await see(shared, member));
    expect(service.chain.reads - before).toBe(1);
  });

  test("of another account without a chain is unavailable, and so is one whose object is gone", async () => {
    const vault = await see(shared, agentOf(shared.owner));
    const { principal } = agentOf(shared.owner);
    expect(await codeOf(requireMember({ ...service, chain: null }, principal, vault))).toBe("chain_unavailable");
    expect(await codeOf(readChainVault(service, { ...vault, chain_object_id: null }, { maxAge: 0 }))).toBe(
      "chain_unavailable",
    );
    service.chain.set(shared.objectId, null);
    expect(await codeOf(readChainVault(service, vault, { maxAge: 0 }))).toBe("chain_unavailable");
  });

  test("says by how much the chain's clock and its own differ, and no other words of a node", async () => {
    const vault = await see(shared, agentOf(shared.owner));
    for (const [failure, code, status, told] of [
      [new ClockSkewError("31 s behind"), "clock_skew", 503, true],
      [new ChainUnavailableError("an inner address"), "chain_unavailable", 503, false],
    ] as const) {
      const chain = { readVault: () => Promise.reject(failure), [Symbol.asyncDispose]: () => Promise.resolve() };
      const read = readChainVault({ ...service, chain }, vault, { maxAge: 0 });
      const { message } = failure;
      const said = { message: told ? message : (expect.not.stringContaining(message) as string) };
      await expect(read).rejects.toMatchObject({ code, status, ...said });
    }
  });

  test("believes no node that has fallen behind what another process has seen, and looks again when its memory has", async () => {
    const member = await addPerson(service);
    await addMember(service, shared, member);
    const { database } = service;
    const note = (generation: number) =>
      database.run(
        database.build.updateTable("vaults").set({ chain_generation: generation }).where("id", "=", shared.vaultId),
      );
    const use = async () => requireMember(service, member.principal, await see(shared, member));
    await note(2);
    expect(await codeOf(use())).toBe("chain_unavailable");
    await note(1);
    expect(await codeOf(use())).toBe("ok");
    // This process remembers the member; another one has seen the removal.
    service.chain.remove(shared.objectId, member.chainAddress);
    expect(await codeOf(use())).toBe("ok");
    await note(2);
    expect(await codeOf(use())).toBe("not_a_member");
  });

  test("works on a full disk: what was read of the chain is noted another time", async () => {
    const member = await addPerson(service);
    await addMember(service, shared, member);
    const vault = await see(shared, shared.owner);
    service.chain.remove(shared.objectId, member.chainAddress);
    const { database } = service;
    const full = {
      ...service,
      database: { build: database.build, run: () => Promise.reject(new DatabaseFullError()) },
    };
    const read = readChainVault(full as unknown as TestService, vault, { maxAge: 0 });
    expect(await read).toMatchObject({ generation: 2 });
    expect((await see(shared, shared.owner)).chain_generation).toBe(1);
    await readChainVault(service, vault, { maxAge: 0 });
    expect((await see(shared, shared.owner)).chain_generation).toBe(2);
  });
});

describe("signing for a vault", () => {
  test("is for those who have a signing key there, and a key that was set a moment ago counts", async () => {
    const agent = agentOf(shared.owner);
    const { chainAddress: address } = agent;
    expect(await codeOf(write(agent))).toBe("not_a_member");
    service.chain.add(shared.objectId, { address, signingKey: new Uint8Array(0) });
    service.clock.advance(250);
    expect(await codeOf(write(agent))).toBe("statement_invalid");
    const vault = await service.chain.readVault(shared.objectId, { maxAge: 0 });
    if (vault === null) throw new Error("no vault");
    const members = [{ address, signingKey: agent.publicKey, since: 1, endsAt: null, until: null }];
    service.chain.set(shared.objectId, { ...vault, members });
    expect(await write(agent)).toMatchObject({ member: { address, since: 1 } });
    expect((await write(shared.owner)).member.address).toBe(shared.owner.chainAddress);
  });

  test("is for the generation that the chain has now", async () => {
    const member = await addPerson(service);
    await addMember(service, shared, member);
    expect(await codeOf(write(member, 1))).toBe("ok");
    expect(await codeOf(write(member, 0))).toBe("generation_moved");
    expect(await codeOf(write(member, 2))).toBe("chain_unavailable");
    service.chain.remove(shared.objectId, member.chainAddress);
    expect(await codeOf(write(shared.owner, 2))).toBe("ok");
    // The read for the owner is remembered, and shows everybody else what happened.
    expect(await codeOf(write(shared.owner, 1))).toBe("generation_moved");
    expect(await codeOf(write(member, 1))).toBe("not_a_member");
  });

  test("costs whoever is refused few reads of the chain, and what is over for good none", async () => {
    const [member, agent] = [await addPerson(service), agentOf(shared.owner)];
    await addMember(service, shared, member);
    service.chain.remove(shared.objectId, member.chainAddress);
    expect(await codeOf(write(shared.owner, 2))).toBe("ok");
    const before = service.chain.reads;
    for (let times = 0; times < 20; times += 1) {
      for (const generation of [1, 2, 3]) {
        expect(await codeOf(write(agent, generation))).toBe("not_a_member");
        expect(await codeOf(write(member, generation))).toBe("not_a_member");
      }
      expect(await codeOf(write(shared.owner, 1))).toBe("generation_moved");
      service.clock.advance(25);
    }
    expect(service.chain.reads - before).toBeLessThanOrEqual(2);
  });

  test("of an account that holds no address any more is nobody's", async () => {
    const { database } = service;
    await database.run(database.build.updateTable("accounts").set({ chain_address: null }));
    expect(await codeOf(write(shared.owner))).toBe("not_a_member");
  });
});

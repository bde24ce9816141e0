import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Principal } from "../../handler.ts";
import { ConstraintError } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { between } from "../../between.test-kit.ts";
import { digestOfBase64, type RecordToSign, signRecord } from "../shared-vaults/statements.test-kit.ts";
import {
  addMember,
  addPerson,
  agentOf,
  openSharedVault,
  publishKey,
  type TestPerson,
  type TestSharedVault,
} from "../shared-vaults/vaults.test-kit.ts";
import { answerOf, codeOf, contextOf, openTestService, outcomes } from "../service.test-kit.ts";
import { vaultKeysHandlers } from "./handlers.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);
const shared = ofEachTest(() => openSharedVault(service));

interface Publishing {
  readonly record: string;
  readonly replaces?: string;
}

async function publish({ vaultId }: TestSharedVault, as: TestPerson, body: Publishing) {
  const input = { params: { vaultId }, body };
  return answerOf(await service.handlers.vaultKeys.publish(input, contextOf(as.principal))).key;
}

async function list(
  { vaultId }: TestSharedVault,
  as: Principal,
  query: { generation?: string; limit?: number; cursor?: string } = {},
) {
  return answerOf(await service.handlers.vaultKeys.list({ params: { vaultId }, query }, contextOf(as)));
}

const recordOf = ({ objectId, owner }: TestSharedVault, more: Partial<RecordToSign> = {}, by = owner) =>
  signRecord(by, { vault: objectId, generation: 1, ...more });

/** The id that `key_exists` names. */
async function standing(refused: Promise<unknown>): Promise<unknown> {
  const error = await refused.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) return error;
  expect(error.code).toBe("key_exists");
  return error.headers["Coffer-Key-Id"];
}

describe("publishing a vault key", () => {
  test("sets a generation's record, answers it again to a repeat, and is in the audit log", async () => {
    const record = recordOf(shared);
    const key = await publish(shared, shared.owner, { record });
    expect(key).toMatchObject({ keyId: digestOfBase64(record), generation: 1, record, current: true });
    service.clock.advance(1000);
    expect(await publish(shared, shared.owner, { record })).toEqual(key);
    const { database } = service;
    const changes = await database.all(
      database.build
        .selectFrom("changes")
        .select(["action", "object_json", "target_json"])
        .where("action", "like", "%key%")
        .where("account_id", "=", shared.owner.principal.accountId),
    );
    const target = { type: "vault_key", id: key.keyId, vaultId: shared.vaultId };
    expect(changes).toEqual([
      { action: "vault.key_published", object_json: null, target_json: JSON.stringify(target) },
    ]);
  });

  test("is open to every member with a signing key, whoever's account it calls with", async () => {
    const agent = agentOf(shared.owner);
    const [member, reader] = [await addPerson(service), await addPerson(service)];
    await addMember(service, shared, member);
    service.chain.add(shared.objectId, { address: agent.chainAddress, signingKey: agent.publicKey });
    service.chain.add(shared.objectId, { address: reader.chainAddress, signingKey: new Uint8Array(0) });
    const { vaultId, owner } = shared;
    const chainAddress = reader.chainAddress;
    await service.handlers.members.add({ params: { vaultId }, body: { chainAddress } }, contextOf(owner.principal));
    let replaces: string | undefined;
    for (const who of [member, agent, owner]) {
      const body = { record: recordOf(shared, {}, who), ...(replaces === undefined ? {} : { replaces }) };
      replaces = (await publish(shared, who, body)).keyId;
    }
    const refused = publish(shared, reader, { record: recordOf(shared, {}, reader) });
    await expect(refused).rejects.toMatchObject({
      code: "statement_invalid",
      message: "The chain address has no signing key in the vault: set one first",
    });
  });

  test("[D5-vault-keys] of several at once exactly one wins, and the others are told its id", async () => {
    const records = Array.from({ length: 6 }, () => recordOf(shared));
    const made = records.map((record) => publish(shared, shared.owner, { record }));
    expect(await outcomes(made)).toEqual({ ok: 1, key_exists: 5 });
    const { keys } = await list(shared, shared.owner.principal);
    expect(keys).toHaveLength(1);
    for (const record of records.filter((record) => record !== keys[0]?.record))
      expect(await standing(publish(shared, shared.owner, { record }))).toBe(keys[0]?.keyId);
  });

  test("replaces the record that it names, if that is the current one", async () => {
    const { owner } = shared;
    const nothing = publish(shared, owner, { record: recordOf(shared), replaces: "ab".repeat(32) });
    expect(await codeOf(nothing)).toBe("statement_invalid");
    const first = await publish(shared, owner, { record: recordOf(shared) });
    const wrong = { record: recordOf(shared), replaces: "ab".repeat(32) };
    expect(await standing(publish(shared, owner, wrong))).toBe(first.keyId);
    const many = Array.from({ length: 4 }, () =>
      publish(shared, owner, { record: recordOf(shared), replaces: first.keyId }),
    );
    expect(await outcomes(many)).toEqual({ ok: 1, key_exists: 3 });
    const { keys } = await list(shared, owner.principal);
    const current = keys.find((key) => key.current);
    expect(keys.map(({ keyId }) => keyId).sort()).toEqual([first.keyId, current?.keyId ?? ""].sort());
    // What was replaced does not come back.
    const again = { record: first.record, replaces: current?.keyId ?? "" };
    expect(await standing(publish(shared, owner, again))).toBe(current?.keyId);
  });

  test("where writers run side by side, the unique index has the last word", async () => {
    const { owner, vaultId } = shared;
    const won = await publishKey(service, shared, owner);
    const database = between(service.database, () => Promise.reject(new ConstraintError("taken", { kind: "unique" })));
    const handlers = vaultKeysHandlers({ ...service, database });
    const input = { params: { vaultId }, body: { record: recordOf(shared) } };
    expect(await standing(handlers.publish(input, contextOf(owner.principal)))).toBe(won);
  });

  test("ends after a hundred records of one creator in a generation, which keep nobody else from it", async () => {
    const { database } = service;
    const member = await addPerson(service);
    await addMember(service, shared, member);
    const first = await publishKey(service, shared, shared.owner);
    const rows = Array.from({ length: 100 }, (_, at) => ({
      vault_id: shared.vaultId,
      key_id: String(at).padStart(64, "0"),
      generation: 1,
      after: 0,
      record: "",
      creator: member.chainAddress,
      created_at: 1,
      replaced_at: 1,
    }));
    await database.run(database.build.insertInto("vault_keys").values(rows));
    const next = publish(shared, member, { record: recordOf(shared, {}, member), replaces: first });
    expect(await codeOf(next)).toBe("limit_reached");
    expect(await codeOf(publish(shared, shared.owner, { record: recordOf(shared), replaces: first }))).toBe("ok");
  });
});

describe("a key that is sealed again for other key servers", () => {
  const OTHER = Buffer.alloc(32, 8);

  test("takes its record's place, also in a generation that is over, by whoever could sign in that", async () => {
    const { owner } = shared;
    const [leaving, late] = [await addPerson(service), await addPerson(service)];
    await addMember(service, shared, leaving);
    const first = await publishKey(service, shared, owner);
    service.chain.remove(shared.objectId, leaving.chainAddress);
    service.clock.advance(10_000);
    await addMember(service, shared, late);
    await publishKey(service, shared, owner, 2);
    const again = { record: recordOf(shared), replaces: first };
    const made = await publish(shared, owner, again);
    expect(made).toMatchObject({ generation: 1, current: true });
    expect(await publish(shared, owner, again)).toEqual(made);
    // The loser of a race is told what stands.
    expect(await standing(publish(shared, owner, { ...again, record: recordOf(shared) }))).toBe(made.keyId);
    const { keys } = await list(shared, owner.principal, { generation: "1" });
    expect(keys.map(({ keyId, current }) => [keyId, current]).sort()).toEqual(
      [
        [first, false],
        [made.keyId, true],
      ].sort(),
    );
    const replaces = made.keyId;
    expect(await codeOf(publish(shared, late, { record: recordOf(shared, { maker: owner }, late), replaces }))).toBe(
      "statement_invalid",
    );
    const removed = publish(shared, leaving, { record: recordOf(shared, {}, leaving), replaces });
    expect(await codeOf(removed)).toBe("not_a_member");
  });

  test("is no way to put another key into a generation that is over, or to bring one back as the current one", async () => {
    const { owner } = shared;
    const first = await publishKey(service, shared, owner);
    const other = await publish(shared, owner, {
      record: recordOf(shared, { check: OTHER }),
      replaces: first,
    });
    // Files still name the key that was replaced: it is stored behind the current one.
    const behind = { record: recordOf(shared), replaces: first };
    const stored = await publish(shared, owner, behind);
    expect(stored.current).toBe(false);
    expect(await publish(shared, owner, behind)).toEqual(stored);
    const member = await addPerson(service);
    await addMember(service, shared, member);
    service.chain.remove(shared.objectId, member.chainAddress);
    service.clock.advance(10_000);
    await publishKey(service, shared, owner, 2);
    for (const body of [
      { record: recordOf(shared, { check: randomBytes(32) }), replaces: other.keyId },
      { record: recordOf(shared, { check: OTHER }), replaces: first },
      { record: recordOf(shared), replaces: "ab".repeat(32) },
      { record: recordOf(shared) },
    ])
      expect(await codeOf(publish(shared, owner, body))).toBe("generation_moved");
    const { keys } = await list(shared, owner.principal, { generation: "1" });
    expect(keys.filter(({ current }) => current).map(({ keyId }) => keyId)).toEqual([other.keyId]);
    const forged = recordOf(shared, { creator: owner.chainAddress, maker: owner }, member);
    expect(await codeOf(publish(shared, owner, { record: forged, replaces: stored.keyId }))).toBe("statement_invalid");
    // Its maker is part of a key: in another's name it is another key.
    const posed = recordOf(shared, { maker: member });
    expect(await codeOf(publish(shared, owner, { record: posed, replaces: stored.keyId }))).toBe("generation_moved");
  });
});

describe("a record is refused", () => {
  test("when it is of another vault, another creator, or signed by another key", async () => {
    const elsewhere = await openSharedVault(service, { owner: shared.owner });
    const member = await addPerson(service);
    await addMember(service, shared, member);
    const said = async (record: string, by = shared.owner) => {
      const error: unknown = await publish(shared, by, { record }).catch((reason: unknown) => reason);
      return error instanceof ServiceError ? `${error.code}: ${error.message}` : error;
    };
    const invalid = (what: string) => `statement_invalid: record: ${what}`;
    expect(await said(recordOf(shared, { vault: elsewhere.objectId }))).toBe(invalid("it is for another vault"));
    // Somebody else's record, brought along; and one in the caller's name that another signed.
    expect(await said(recordOf(shared, {}, member))).toBe(invalid("the signer is not the caller's chain address"));
    const forged = recordOf(shared, { creator: shared.owner.chainAddress }, member);
    expect(await said(forged)).toBe(invalid("the signature is not of the caller's signing key"));
    const bytes = Buffer.from(recordOf(shared), "base64");
    expect(await said(recordOf(shared, { maker: member }))).toBe(invalid("another made the key than who publishes it"));
    for (const at of [80, 150, 220, bytes.length - 1]) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      expect(await said(flipped.toString("base64"))).toBe(invalid("the signature is not of the caller's signing key"));
    }
    expect((await list(shared, shared.owner.principal)).keys).toEqual([]);
  });

  test("when it has not the form of one", async () => {
    const good = Buffer.from(recordOf(shared), "base64");
    const longer = Buffer.concat([good, Uint8Array.of(0)]);
    const empty = recordOf(shared, { sealedKey: new Uint8Array(0) });
    const large = recordOf(shared, { sealedKey: randomBytes(3585) });
    const texts = ["", "AAAA", good.subarray(0, -1).toString("base64"), longer.toString("base64"), empty, large];
    for (const record of texts)
      expect(await codeOf(publish(shared, shared.owner, { record }))).toBe("statement_invalid");
    const most = recordOf(shared, { sealedKey: randomBytes(3584) });
    expect(await codeOf(publish(shared, shared.owner, { record: most }))).toBe("ok");
  });

  test("when its generation is over, and waits where the node has not seen it yet", async () => {
    const member = await addPerson(service);
    await addMember(service, shared, member);
    const { owner } = shared;
    expect(await codeOf(publish(shared, owner, { record: recordOf(shared, { generation: 2 }) }))).toBe(
      "chain_unavailable",
    );
    // The service remembers generation 1; who names 2 makes it look again.
    service.chain.remove(shared.objectId, member.chainAddress);
    const next = { record: recordOf(shared, { generation: 2 }) };
    expect(await publish(shared, owner, next)).toMatchObject({ generation: 2, current: true });
    expect(await codeOf(publish(shared, owner, { record: recordOf(shared) }))).toBe("generation_moved");
    const removed = { record: recordOf(shared, { generation: 2 }, member) };
    expect(await codeOf(publish(shared, member, removed))).toBe("not_a_member");
  });

  test("while the chain does not answer", async () => {
    service.chain.down = true;
    service.clock.advance(5_000);
    expect(await codeOf(publish(shared, shared.owner, { record: recordOf(shared) }))).toBe("chain_unavailable");
  });
});

describe("the list of vault keys", () => {
  test("[D5-isolation-members] [D5-shared-authorised] is for the owner, and for those whom the chain names: a removed member gets none within ten seconds", async () => {
    const [member, agent] = [await addPerson(service), agentOf(shared.owner)];
    await addMember(service, shared, member);
    const keyId = await publishKey(service, shared, member);
    for (const who of [shared.owner, member])
      expect((await list(shared, who.principal)).keys).toMatchObject([{ keyId }]);
    expect(await codeOf(list(shared, agent.principal))).toBe("not_a_member");
    expect(await codeOf(list(shared, (await addPerson(service)).principal))).toBe("not_found");
    service.chain.remove(shared.objectId, member.chainAddress);
    expect(await codeOf(list(shared, member.principal))).toBe("ok");
    service.clock.advance(10_000);
    expect(await codeOf(list(shared, member.principal))).toBe("not_a_member");
    service.clock.advance(10_000);
    service.chain.down = true;
    expect(await codeOf(list(shared, member.principal))).toBe("chain_unavailable");
    expect(await codeOf(list(shared, shared.owner.principal))).toBe("ok");
  });

  test("opens at once to a member who was just added, though the service read the chain before", async () => {
    const agent = agentOf(shared.owner);
    expect(await codeOf(list(shared, agent.principal))).toBe("not_a_member");
    service.chain.add(shared.objectId, { address: agent.chainAddress, signingKey: agent.publicKey });
    service.clock.advance(250);
    expect(await codeOf(list(shared, agent.principal))).toBe("ok");
  });

  test("costs a stranger's account few reads of the chain", async () => {
    const agent = agentOf(shared.owner);
    const before = service.chain.reads;
    for (let times = 0; times < 20; times += 1) {
      expect(await codeOf(list(shared, agent.principal))).toBe("not_a_member");
      service.clock.advance(25);
    }
    expect(service.chain.reads - before).toBeLessThanOrEqual(2);
  });

  test("comes in pages, newest first, each key once, and by generation", async () => {
    const { owner, objectId } = shared;
    const members = [await addPerson(service), await addPerson(service)];
    const ids: string[] = [];
    for (const [at, member] of members.entries()) {
      await addMember(service, shared, member);
      const first = await publishKey(service, shared, owner, at + 1);
      const record = recordOf(shared, { generation: at + 1 });
      ids.push(first, (await publish(shared, owner, { record, replaces: first })).keyId);
      service.chain.remove(objectId, member.chainAddress);
    }
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const more = cursor === undefined ? {} : { cursor };
      const page = await list(shared, owner.principal, { limit: 1, ...more });
      expect(page.keys.length).toBeLessThanOrEqual(1);
      found.push(...page.keys.map(({ keyId }) => keyId));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toHaveLength(4);
    expect([...found].sort()).toEqual([...ids].sort());
    const second = await list(shared, owner.principal, { generation: "2" });
    expect(second.keys.map(({ keyId }) => keyId).sort()).toEqual(ids.slice(2).sort());
    expect((await list(shared, owner.principal, { generation: "9" })).keys).toEqual([]);
  });
});

test("a public vault has no keys, and another account's is not there", async () => {
  const person = await addPerson(service);
  const { vaults } = answerOf(await service.handlers.vaults.list({ query: {} }, contextOf(person.principal)));
  const shared = { vaultId: vaults[0]?.id ?? "", objectId: `0x${"1".repeat(64)}`, owner: person };
  const calls = (as: TestPerson) => [
    ...[list(shared, as.principal), publish(shared, as, { record: recordOf(shared) })],
  ];
  expect(await outcomes(calls(person))).toEqual({ public_vault: 2 });
  expect(await outcomes(calls(await addPerson(service)))).toEqual({ not_found: 2 });
});

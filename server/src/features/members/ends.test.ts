import { END_STEP } from "@coffer/contract";
import { beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../handler.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { between } from "../../between.test-kit.ts";
import { contentOf, newUpload, openWriting, put, send } from "../files/shared-files.test-kit.ts";
import { addMember, addPerson, openSharedVault } from "../shared-vaults/vaults.test-kit.ts";
import { answerOf, codeOf, contextOf, openTestService, outcomes } from "../service.test-kit.ts";
import { FRESHNESS } from "../reach/freshness.ts";
import { reportEnds } from "./ending.ts";

const service = ofEachTest(openTestService);
const shared = ofEachTest(() => openSharedVault(service));
const person = ofEachTest(() => addPerson(service));
const running = new AbortController().signal;
const textOf = (at: number) => new Date(at).toISOString();
let end = 0;

beforeEach(() => {
  end = service.clock.now() + END_STEP;
});

/** A member with an end at the next quarter of an hour. */
async function addUntil(at: number | null = end): Promise<void> {
  const { chainAddress, publicKey } = person;
  service.chain.add(shared.objectId, { address: chainAddress, signingKey: publicKey, endsAt: at });
  await record(at);
}

function record(at: number | null) {
  const body = { chainAddress: person.chainAddress, until: at === null ? null : textOf(at) };
  const input = { params: { vaultId: shared.vaultId }, body };
  return service.handlers.members.add(input, contextOf(shared.owner.principal));
}

async function members(as: Principal = shared.owner.principal) {
  const input = { params: { vaultId: shared.vaultId } };
  return answerOf(await service.handlers.members.list(input, contextOf(as))).members;
}

const shownMember = async () => (await members()).find(({ chainAddress }) => chainAddress === person.chainAddress);

function listKeys(as: Principal) {
  return service.handlers.vaultKeys.list({ params: { vaultId: shared.vaultId }, query: {} }, contextOf(as));
}

function listFiles(as: Principal) {
  return service.handlers.files.list({ query: { vaultId: shared.vaultId } }, contextOf(as));
}

async function events(): Promise<string[]> {
  const rows = await service.database.all(
    service.database.build
      .selectFrom("changes")
      .select(["action", "object_json"])
      .where("account_id", "=", shared.owner.principal.accountId)
      .where("action", "like", "vault.member%")
      .orderBy("sequence"),
  );
  return rows.map(({ action, object_json }) => {
    const { endsAt } = JSON.parse(object_json ?? "{}") as { endsAt?: string };
    return endsAt === undefined ? action : `${action} ${endsAt}`;
  });
}

const tell = async () => (await reportEnds(service, running)).ended;

describe("a member whose access ends", () => {
  test("is served until its end, and refused with the time from then on, without an act of anybody", async () => {
    await addUntil();
    const { principal } = person;
    service.clock.advance(END_STEP - 1);
    expect(await outcomes([listKeys(principal), listFiles(principal), members(principal)])).toEqual({ ok: 3 });
    service.clock.advance(1);
    for (const asked of [listKeys(principal), listFiles(principal), members(principal)])
      await expect(asked).rejects.toMatchObject({
        code: "membership_ended",
        message: `The chain address's access to the vault ended at ${textOf(end)}`,
      });
    expect(await shownMember()).toMatchObject({
      endsAt: textOf(end),
      layers: { service: "ended", chain: "ended" },
    });
  });

  test("ends by the service's clock or the chain's, whichever comes first [E16]", async () => {
    await addUntil();
    service.clock.advance(END_STEP - 20_000);
    service.chain.skew = 20_000;
    expect(await codeOf(listKeys(person.principal))).toBe("membership_ended");
    service.chain.skew = -20_000;
    service.clock.advance(10_000);
    expect(await codeOf(listKeys(person.principal))).toBe("ok");
    service.clock.advance(10_000);
    expect(await codeOf(listKeys(person.principal))).toBe("membership_ended");
  });

  test("is refused where it is marked or swept, and told why", async () => {
    await addUntil();
    service.clock.advance(END_STEP);
    const vault = await service.chain.readVault(shared.objectId, { maxAge: 0 });
    if (vault === null) throw new Error("no vault");
    const [entry] = vault.members;
    if (entry === undefined) throw new Error("no member");
    service.chain.set(shared.objectId, { ...vault, members: [{ ...entry, until: 1 }], generation: 2 });
    expect(await codeOf(listKeys(person.principal))).toBe("membership_ended");
    service.chain.set(shared.objectId, { ...vault, members: [], former: [{ ...entry, until: 1 }], generation: 2 });
    service.clock.advance(10_000);
    expect(await codeOf(listKeys(person.principal))).toBe("membership_ended");
  });

  test("stays when its end is put off at the last moment, and goes at once when it comes nearer", async () => {
    await addUntil();
    service.clock.advance(END_STEP - 1);
    expect(await codeOf(listKeys(person.principal))).toBe("ok");
    service.chain.setUntil(shared.objectId, person.chainAddress, end + 4 * END_STEP);
    service.clock.advance(FRESHNESS.refusing);
    expect(await codeOf(listKeys(person.principal))).toBe("ok");
    expect(await tell()).toBe(0);
    service.chain.setUntil(shared.objectId, person.chainAddress, end + END_STEP);
    service.clock.advance(END_STEP);
    expect(await codeOf(listKeys(person.principal))).toBe("membership_ended");
    expect(await tell()).toBe(1);
    expect(await events()).toEqual(["vault.member_added", `vault.member_ended ${textOf(end + END_STEP)}`]);
  });

  test("[D5-member-until] is recorded only with the end that the service's node shows", async () => {
    await addUntil();
    expect(await codeOf(record(end + END_STEP))).toBe("not_on_allowlist");
    expect(await codeOf(record(null))).toBe("not_on_allowlist");
    service.chain.setUntil(shared.objectId, person.chainAddress, end + END_STEP);
    expect(await codeOf(record(end + END_STEP))).toBe("ok");
    expect((await shownMember())?.endsAt).toBe(textOf(end + END_STEP));
    service.clock.advance(2 * END_STEP);
    expect(await codeOf(record(end + END_STEP))).toBe("not_on_allowlist");
  });

  test("comes back as a new member, and its record can be ended without an act on the chain", async () => {
    await addUntil();
    service.clock.advance(END_STEP);
    expect(await tell()).toBe(1);
    expect(await service.handlers.vaults.list({ query: { shared: true } }, contextOf(person.principal))).toMatchObject({
      vaults: [],
    });
    await addUntil(null);
    expect(await codeOf(listKeys(person.principal))).toBe("ok");
    expect(await shownMember()).toMatchObject({
      since: 2,
      endsAt: null,
      layers: { service: "active", chain: "active" },
    });
    service.clock.advance(END_STEP);
    expect(await tell()).toBe(0);
    expect(await events()).toEqual([
      ...["vault.member_added", `vault.member_ended ${textOf(end)}`, "vault.member_added"],
    ]);
    service.chain.setUntil(shared.objectId, person.chainAddress, service.clock.now() + END_STEP);
    service.clock.advance(END_STEP);
    const { vaultId } = shared;
    const input = { params: { vaultId, chainAddress: person.chainAddress } };
    expect(await codeOf(service.handlers.members.remove(input, contextOf(shared.owner.principal)))).toBe("ok");
  });
});

describe("an end", () => {
  test("[D6-member-ended] is told once, by however many processes, and not while the chain cannot be read", async () => {
    await addUntil();
    expect(await tell()).toBe(0);
    service.clock.advance(END_STEP);
    for (const fault of [{ skew: 31_000 }, { skew: -31_000 }, { skew: 0, down: true }]) {
      Object.assign(service.chain, fault);
      expect(await tell()).toBe(0);
    }
    service.chain.down = false;
    const told = await Promise.all(Array.from({ length: 5 }, () => reportEnds(service, running)));
    expect(told.reduce((sum, { ended }) => sum + ended, 0)).toBe(1);
    expect(await tell()).toBe(0);
    expect(await events()).toEqual(["vault.member_added", `vault.member_ended ${textOf(end)}`]);
  });

  test("is not told before the chain has reached it: until then it can be put off", async () => {
    await addUntil();
    service.clock.advance(END_STEP);
    service.chain.skew = -10_000;
    expect(await tell()).toBe(0);
    service.chain.setUntil(shared.objectId, person.chainAddress, end + END_STEP);
    service.chain.skew = 0;
    expect(await tell()).toBe(0);
    service.clock.advance(END_STEP);
    expect(await tell()).toBe(1);
    expect(await events()).toEqual(["vault.member_added", `vault.member_ended ${textOf(end + END_STEP)}`]);
  });

  test("that is put off while it is told is not told", async () => {
    await addUntil();
    service.clock.advance(END_STEP);
    // Between the look at the chain and the act: another process noted a later end.
    const database = between(service.database, () => noteLater());
    const noteLater = async () => {
      const { vaultId } = shared;
      await service.database.run(
        service.database.build
          .updateTable("vault_members")
          .set({ ends_at: end + END_STEP })
          .where("vault_id", "=", vaultId),
      );
    };
    expect((await reportEnds({ ...service, database }, running)).ended).toBe(0);
    expect(await events()).toEqual(["vault.member_added"]);
  });

  test("refuses the commit of an upload that began before it, and its download", async () => {
    const writing = await openWriting(service);
    const member = await addPerson(service);
    await addMember(service, writing.shared, member);
    const { objectId } = writing.shared;
    service.chain.setUntil(objectId, member.chainAddress, end);
    const upload = newUpload({ ...writing, by: member }, "late");
    const stored = await put(service, writing, "early");
    service.clock.advance(END_STEP);
    expect(await codeOf(send(service, { ...writing, by: member }, upload))).toBe("membership_ended");
    expect(await codeOf(contentOf(service, member, stored.id))).toBe("membership_ended");
  });
});

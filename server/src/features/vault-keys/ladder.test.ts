import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { MAX_STEPS } from "@coffer/contract";
import { ofEachTest } from "../../each.test-kit.ts";
import { parseKeyRecord } from "../shared-vaults/statements.ts";
import { signRecord } from "../shared-vaults/statements.test-kit.ts";
import {
  addMember,
  addPerson,
  openSharedVault,
  publishKey,
  type TestPerson,
} from "../shared-vaults/vaults.test-kit.ts";
import { answerOf, codeOf, contextOf, openTestService } from "../service.test-kit.ts";

const service = ofEachTest(openTestService);
const shared = ofEachTest(() => openSharedVault(service));

interface WantedStep {
  readonly step: string;
  readonly to: string;
}

/** A record in base64, which brings these steps. */
async function publish(
  record: string,
  steps: readonly WantedStep[],
  { as = shared.owner, replaces }: { readonly as?: TestPerson; readonly replaces?: string } = {},
): Promise<string> {
  const body = { record, steps: [...steps], ...(replaces === undefined ? {} : { replaces }) };
  const input = { params: { vaultId: shared.vaultId }, body };
  return answerOf(await service.handlers.vaultKeys.publish(input, contextOf(as.principal))).key.keyId;
}

const list = async (query: { limit?: number; cursor?: string } = {}, as: TestPerson = shared.owner) =>
  answerOf(
    await service.handlers.vaultKeys.steps({ params: { vaultId: shared.vaultId }, query }, contextOf(as.principal)),
  );

const recordOf = (generation: number, by: TestPerson = shared.owner): string =>
  signRecord(by, { vault: shared.objectId, generation });

/** Somebody comes and goes. */
function raiseGeneration(): void {
  const address = `0x${randomBytes(32).toString("hex")}`;
  service.chain.add(shared.objectId, { address, signingKey: new Uint8Array(0) });
  service.chain.remove(shared.objectId, address);
}

/** A record in each of the first generations, without steps, and their ids by generation. */
async function publishAll(last: number): Promise<string[]> {
  const ids = [""];
  for (let generation = 1; generation <= last; generation += 1) {
    if (generation > 1) raiseGeneration();
    ids.push(await publishKey(service, shared, shared.owner, generation));
  }
  return ids;
}

async function checkOf(keyId: string): Promise<string> {
  const { database } = service;
  const row = await database.first(
    database.build.selectFrom("vault_keys").select("record").where("key_id", "=", keyId),
  );
  return parseKeyRecord(row?.record ?? "").check;
}

interface Ends {
  readonly ids: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** A step whose link is noise: the service opens none. */
async function stepOf({ ids, from, to }: Ends, more: { vault?: string; check?: string } = {}): Promise<WantedStep> {
  const lower = ids[to] ?? "";
  const check = more.check ?? (await checkOf(lower));
  const hex = [(more.vault ?? shared.objectId).slice(2), place(from), place(to), check].join("");
  const bytes = Buffer.concat([Buffer.from(hex, "hex"), randomBytes(104)]);
  return { step: bytes.toString("base64"), to: lower };
}

const place = (generation: number, after = 0): string =>
  [generation, after].map((number) => number.toString(16).padStart(16, "0")).join("");

describe("the steps of the ladder", () => {
  test("[D5-ladder] come with a record, several at once, and are listed in pages, the newest record's first", async () => {
    const ids = await publishAll(3);
    const brought: string[][] = [];
    for (const from of [4, 5]) {
      raiseGeneration();
      service.clock.advance(1_000);
      const steps = await Promise.all([from - 1, 1].map((to) => stepOf({ ids, from, to })));
      ids.push(await publish(recordOf(from), steps));
      brought.unshift(steps.map(({ step }) => step).sort());
    }
    const { steps: listed, nextCursor } = await list();
    expect(nextCursor).toBeNull();
    expect([listed.slice(0, 2).sort(), listed.slice(2).sort()]).toEqual(brought);
    const found: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await list({ limit: 3, ...(cursor === undefined ? {} : { cursor }) });
      found.push(...page.steps);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(found).toEqual(listed);
  });

  test("of two publishers at once only the winner's are stored, and a repeat stores them once", async () => {
    const ids = await publishAll(1);
    const member = await addPerson(service);
    await addMember(service, shared, member);
    raiseGeneration();
    const tries = await Promise.all(
      [shared.owner, member].map(async (as) => ({
        as,
        record: recordOf(2, as),
        steps: [await stepOf({ ids, from: 2, to: 1 })],
      })),
    );
    const codes = await Promise.all(
      tries.map(({ as, record, steps }) => publish(record, steps, { as }).then(() => "stored", codeOfError)),
    );
    expect(codes.toSorted()).toEqual(["key_exists", "stored"]);
    const won = tries[codes.indexOf("stored")];
    if (won === undefined) throw new Error("nobody won");
    await publish(won.record, won.steps, { as: won.as });
    expect((await list()).steps).toEqual(won.steps.map(({ step }) => step));
  });

  test("that join nothing the vault has are refused, with the record that brought them", async () => {
    const ids = await publishAll(2);
    raiseGeneration();
    const good = await stepOf({ ids, from: 3, to: 1 });
    const real = await stepOf({ ids, from: 3, to: 2 });
    const bytes = Buffer.from(real.step, "base64");
    const spoiled = (change: (copy: Buffer) => Buffer): WantedStep => ({
      ...real,
      step: change(Buffer.from(bytes)).toString("base64"),
    });
    const bad: readonly WantedStep[] = [
      { ...real, step: "AAAA" },
      { ...real, step: real.step.replace(/=$/, "") },
      spoiled((copy) => copy.subarray(1)),
      spoiled((copy) => Buffer.concat([copy, Buffer.of(0)])),
      spoiled((copy) => (copy.copy(copy, 48, 32, 48), copy)),
      spoiled((copy) => (copy.write(place(2) + place(3), 32, "hex"), copy)),
      spoiled((copy) => (copy.write(place(2 ** 54), 32, "hex"), copy)),
      spoiled((copy) => (copy.write(place(3, 900_000), 32, "hex"), copy)),
      spoiled((copy) => (copy.write(place(4), 32, "hex"), copy)),
      await stepOf({ ids, from: 3, to: 2 }, { vault: `0x${"7".repeat(64)}` }),
      await stepOf({ ids, from: 3, to: 2 }, { check: "ab".repeat(32) }),
      { ...real, to: "ab".repeat(32) },
      { ...real, to: ids[1] ?? "" },
    ];
    for (const step of bad) expect(await codeOf(publish(recordOf(3), [good, step]))).toBe("statement_invalid");
    expect(await list()).toEqual({ steps: [], nextCursor: null });
    // Nothing was stored, so this is the place's first record.
    await publish(recordOf(3), [good, real]);
    expect((await list()).steps).toHaveLength(2);
  });

  test("are refused with a key that is sealed again: its first record has brought them", async () => {
    const ids = await publishAll(1);
    raiseGeneration();
    const step = await stepOf({ ids, from: 2, to: 1 });
    const first = await publish(recordOf(2), [step]);
    const check = Buffer.from(await checkOf(first), "hex");
    const again = signRecord(shared.owner, { vault: shared.objectId, generation: 2, check });
    expect(await codeOf(publish(again, [step], { replaces: first }))).toBe("statement_invalid");
    await publish(again, [], { replaces: first });
    expect((await list()).steps).toEqual([step.step]);
  });

  test("are listed by members alone", async () => {
    const ids = await publishAll(1);
    raiseGeneration();
    const step = await stepOf({ ids, from: 2, to: 1 });
    const [member, stranger] = [await addPerson(service), await addPerson(service)];
    await addMember(service, shared, member);
    await publish(recordOf(2, member), [step], { as: member });
    expect((await list({}, member)).steps).toEqual([step.step]);
    expect(await codeOf(list({}, stranger))).toBe("not_found");
    service.chain.remove(shared.objectId, member.chainAddress);
    service.clock.advance(10_000);
    expect(await codeOf(list({}, member))).toBe("not_a_member");
  });

  test("are at most so many for each record, and one that comes twice is one", async () => {
    const ids = await publishAll(1);
    raiseGeneration();
    const step = await stepOf({ ids, from: 2, to: 1 });
    await publish(
      recordOf(2),
      Array.from({ length: MAX_STEPS }, () => step),
    );
    expect((await list()).steps).toEqual([step.step]);
  });
});

const codeOfError = (error: unknown): unknown => (error as { code?: unknown }).code;

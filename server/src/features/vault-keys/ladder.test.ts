import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { MAX_STEPS } from "@coffer/contract/shared-vaults";
import { ofEachTest } from "../../test-each.ts";
import { parseKeyRecord } from "../shared-vaults/statements.ts";
import { addMember, addPerson, openSharedVault, publishKey, type TestPerson } from "../shared-vaults/test-vaults.ts";
import { answerOf, codeOf, contextOf, openTestService } from "../test-service.ts";

const service = ofEachTest(openTestService);
const shared = ofEachTest(() => openSharedVault(service));

interface WantedStep {
  readonly step: string;
  readonly from: string;
  readonly to: string;
}

const put = (steps: readonly WantedStep[], as: TestPerson = shared.owner) =>
  service.handlers.vaultKeys.putSteps(
    { params: { vaultId: shared.vaultId }, body: { steps: [...steps] } },
    contextOf(as.principal),
  );

const list = async (query: { limit?: number; cursor?: string } = {}, as: TestPerson = shared.owner) =>
  answerOf(
    await service.handlers.vaultKeys.steps({ params: { vaultId: shared.vaultId }, query }, contextOf(as.principal)),
  );

/** Somebody comes and goes. */
function raiseGeneration(): void {
  const address = `0x${randomBytes(32).toString("hex")}`;
  service.chain.add(shared.objectId, { address, signingKey: new Uint8Array(0) });
  service.chain.remove(shared.objectId, address);
}

/** A record in each of the first generations, and their ids by generation. */
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
  const [higher, lower] = [ids[from] ?? "", ids[to] ?? ""];
  const check = more.check ?? (await checkOf(lower));
  const hex = [(more.vault ?? shared.objectId).slice(2), place(from), place(to), check].join("");
  const bytes = Buffer.concat([Buffer.from(hex, "hex"), randomBytes(104)]);
  return { step: bytes.toString("base64"), from: higher, to: lower };
}

const place = (generation: number, after = 0): string =>
  [generation, after].map((number) => number.toString(16).padStart(16, "0")).join("");

describe("the steps of the ladder", () => {
  test("[D5-ladder] are listed from the newest down, in pages, and replaced freely", async () => {
    const ids = await publishAll(5);
    const steps = await Promise.all([2, 3, 4, 5].map((from) => stepOf({ ids, from, to: from - 1 })));
    await put(steps);
    const newestFirst = steps.map(({ step }) => step).reverse();
    expect(await list()).toEqual({ steps: newestFirst, nextCursor: null });
    const found: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await list({ limit: 3, ...(cursor === undefined ? {} : { cursor }) });
      found.push(...page.steps);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(found).toEqual(newestFirst);
    const skipping = await stepOf({ ids, from: 5, to: 2 });
    await put([skipping]);
    expect((await list()).steps).toEqual([skipping.step, ...newestFirst.slice(1)]);
  });

  test("of two members at once both are taken, and the last stays", async () => {
    const ids = await publishAll(2);
    const member = await addPerson(service);
    await addMember(service, shared, member);
    const steps = await Promise.all([1, 2].map(() => stepOf({ ids, from: 2, to: 1 })));
    const made = steps.map((step, index) => put([step], index === 0 ? shared.owner : member));
    await Promise.all(made);
    const listed = (await list({}, member)).steps;
    expect(listed).toHaveLength(1);
    expect(steps.map(({ step }) => step)).toContain(listed[0]);
  });

  test("that join nothing the vault has are refused, with all that came with them", async () => {
    const ids = await publishAll(3);
    const good = await stepOf({ ids, from: 2, to: 1 });
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
      await stepOf({ ids, from: 3, to: 2 }, { vault: `0x${"7".repeat(64)}` }),
      await stepOf({ ids, from: 3, to: 2 }, { check: "ab".repeat(32) }),
      { ...real, from: "ab".repeat(32) },
      { ...real, to: "ab".repeat(32) },
      { ...real, to: ids[1] ?? "" },
      { ...real, from: ids[1] ?? "" },
    ];
    for (const step of bad) expect(await codeOf(put([good, step]))).toBe("statement_invalid");
    expect(await list()).toEqual({ steps: [], nextCursor: null });
    const newer = spoiled((copy) => (copy.write(place(4), 32, "hex"), copy));
    expect(await codeOf(put([newer]))).toBe("chain_unavailable");
  });

  test("are put by who may publish keys, and listed by members", async () => {
    const ids = await publishAll(2);
    const step = await stepOf({ ids, from: 2, to: 1 });
    const [member, reader, stranger] = [await addPerson(service), await addPerson(service), await addPerson(service)];
    await addMember(service, shared, member);
    const { chainAddress } = reader;
    service.chain.add(shared.objectId, { address: chainAddress, signingKey: new Uint8Array(0) });
    const input = { params: { vaultId: shared.vaultId }, body: { chainAddress } };
    await service.handlers.members.add(input, contextOf(shared.owner.principal));
    expect(await codeOf(put([step], reader))).toBe("statement_invalid");
    expect(await codeOf(put([step], stranger))).toBe("not_found");
    expect(await codeOf(list({}, stranger))).toBe("not_found");
    await put([step], member);
    expect((await list({}, reader)).steps).toEqual([step.step]);
    service.chain.remove(shared.objectId, member.chainAddress);
    service.clock.advance(10_000);
    expect(await codeOf(put([step], member))).toBe("not_a_member");
    expect(await codeOf(list({}, member))).toBe("not_a_member");
  });

  test("are at most one for each place, however many are put", async () => {
    const ids = await publishAll(2);
    for (let round = 0; round < 3; round += 1) {
      const many = await Promise.all(Array.from({ length: MAX_STEPS }, () => stepOf({ ids, from: 2, to: 1 })));
      await put(many);
    }
    expect((await list()).steps).toHaveLength(1);
  });
});

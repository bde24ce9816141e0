import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AuditEvent, checkAuditChain, FIRST_PREVIOUS_HASH, renderAuditText } from "./index.ts";

const ACCOUNT = "00000000-0000-4000-8000-0000000000aa";
const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

function eventAt(sequence: number, previousHash: string, more: Partial<AuditEvent> = {}): AuditEvent {
  const unhashed = {
    id: uuid(sequence),
    action: sequence % 2 === 0 ? "file.uploaded" : "api_key.created",
    occurredAt: `2026-01-01T00:00:${String(sequence % 60).padStart(2, "0")}.000Z`,
    actor: { type: "api-key", id: uuid(1000 + sequence), accessLevel: "agent", chainAddress: `0x${"a".repeat(64)}` },
    targets: [{ type: "file", id: uuid(2000 + sequence), vaultId: uuid(3000) }],
    context: { requestId: `r${sequence}`, location: "192.0.2.1", userAgent: 'agent "1"' },
    sequence,
    previousHash,
    ...more,
  };
  return { ...unhashed, hash: sha256(renderAuditText(ACCOUNT, unhashed)) };
}

function chainOf(length: number): AuditEvent[] {
  const events: AuditEvent[] = [];
  for (let sequence = 1; sequence <= length; sequence += 1) {
    events.push(eventAt(sequence, events.at(-1)?.hash ?? FIRST_PREVIOUS_HASH));
  }
  return events;
}

const LENGTH = 6;
const whole = chainOf(LENGTH);
const last = whole.at(-1) as AuditEvent;
const head = { sequence: last.sequence, hash: last.hash };
const before = { sequence: 0, hash: FIRST_PREVIOUS_HASH };
const at = (sequence: number): AuditEvent => whole[sequence - 1] as AuditEvent;

const check = (events: readonly AuditEvent[], known = { before, head }) =>
  checkAuditChain(ACCOUNT, events, sha256, known);
/** Its fault, without the words. */
async function faultOf(events: readonly AuditEvent[]) {
  const { fault } = await check(events);
  return fault === null ? null : { sequence: fault.sequence, id: fault.id, kind: fault.kind };
}
const without = (sequence: number) => whole.filter((event) => event.sequence !== sequence);
const withAt = (sequence: number, event: AuditEvent) =>
  whole.map((each) => (each.sequence === sequence ? event : each));

describe("[D4-audit-log] a chain of audit entries", () => {
  it("is intact as it was written, with a hash that answers at once or later, and as a stream", async () => {
    expect(await check(whole)).toEqual({ entries: LENGTH, newest: head, fault: null });
    const later = (text: string) => Promise.resolve(sha256(text));
    async function* stream() {
      for (const event of whole) yield await Promise.resolve(event);
    }
    expect((await checkAuditChain(ACCOUNT, stream(), later)).fault).toBeNull();
  });

  it("is intact when empty, and from any page on: the oldest entry given is believed about its predecessor", async () => {
    expect(await check([], { before, head: before })).toEqual({ entries: 0, newest: null, fault: null });
    expect((await checkAuditChain(ACCOUNT, whole.slice(2), sha256)).fault).toBeNull();
    const known = { before: { sequence: 2, hash: at(2).hash }, head };
    expect((await check(whole.slice(2), known)).fault).toBeNull();
  });

  it("is another account's when the account is another one", async () => {
    const { fault } = await checkAuditChain(uuid(7), whole, sha256);
    expect(fault).toMatchObject({ sequence: 1, kind: "altered" });
  });

  const edits: Readonly<Record<string, Partial<AuditEvent>>> = {
    id: { id: uuid(99) },
    action: { action: "file.deleted" },
    occurredAt: { occurredAt: "2027-01-01T00:00:00.000Z" },
    "actor.type": { actor: { ...at(3).actor, type: "session" } },
    "actor.id": { actor: { ...at(3).actor, id: null } },
    "actor.accessLevel": { actor: { ...at(3).actor, accessLevel: "owner" } },
    "actor.chainAddress": { actor: { ...at(3).actor, chainAddress: null } },
    "target.type": { targets: [{ type: "folder", id: uuid(2003), vaultId: uuid(3000) }] },
    "target.id": { targets: [{ type: "file", id: uuid(1), vaultId: uuid(3000) }] },
    "target.vaultId": { targets: [{ type: "file", id: uuid(2003) }] },
    "one more target": { targets: [...at(3).targets, { type: "file", id: uuid(1) }] },
    "no target": { targets: [] },
    requestId: { context: { ...at(3).context, requestId: null } },
    location: { context: { ...at(3).context, location: "192.0.2.2" } },
    userAgent: { context: { ...at(3).context, userAgent: null } },
    previousHash: { previousHash: "1".repeat(64) },
    hash: { hash: "1".repeat(64) },
  };

  it.each(Object.entries(edits))("names the entry whose %s was edited", async (_name, edit) => {
    const entry = { ...at(3), ...edit };
    expect(await faultOf(withAt(3, entry))).toEqual({ sequence: 3, id: entry.id, kind: "altered" });
  });

  it("names an entry that was rewritten together with its hash: first, in the middle, last, and with another predecessor", async () => {
    for (const sequence of [1, 3, LENGTH]) {
      const rewritten = eventAt(sequence, at(sequence).previousHash, { action: "file.deleted" });
      expect(await faultOf(withAt(sequence, rewritten))).toEqual({ sequence, id: rewritten.id, kind: "altered" });
      const moved = eventAt(sequence, "2".repeat(64));
      expect(await faultOf(withAt(sequence, moved))).toEqual({ sequence, id: moved.id, kind: "altered" });
    }
  });

  it("names a deleted entry: first, in the middle, last, and all of them", async () => {
    for (const sequence of [1, 3, LENGTH]) {
      expect(await faultOf(without(sequence))).toEqual({ sequence, id: null, kind: "missing" });
    }
    expect(await faultOf([])).toEqual({ sequence: 1, id: null, kind: "missing" });
  });

  it("names a deleted entry also where the entries after it were moved down", async () => {
    const moved = without(3).map((event) => (event.sequence > 3 ? { ...event, sequence: event.sequence - 1 } : event));
    expect(await faultOf(moved)).toEqual({ sequence: 3, id: null, kind: "missing" });
  });

  it("names an inserted entry: beside another one, before moved ones, and after the end", async () => {
    const extra = eventAt(4, at(3).hash, { id: uuid(99) });
    expect(await faultOf([...whole.slice(0, 4), extra, ...whole.slice(4)])).toEqual({
      sequence: 4,
      id: uuid(99),
      kind: "inserted",
    });
    const moved = whole.map((event) => (event.sequence > 3 ? { ...event, sequence: event.sequence + 1 } : event));
    expect(await faultOf([...moved.slice(0, 3), extra, ...moved.slice(3)])).toEqual({
      sequence: 4,
      id: uuid(99),
      kind: "inserted",
    });
    const beyond = eventAt(LENGTH + 1, last.hash);
    expect(await faultOf([...whole, beyond])).toEqual({ sequence: LENGTH + 1, id: beyond.id, kind: "inserted" });
  });

  it("names the first of entries that changed places", async () => {
    const swapped = withAt(2, { ...at(5), sequence: 2 }).map((event) =>
      event.sequence === 5 ? { ...at(2), sequence: 5 } : event,
    );
    expect(await faultOf(swapped)).toEqual({ sequence: 2, id: at(5).id, kind: "altered" });
    expect(await faultOf([at(2), at(1), ...whole.slice(2)])).toEqual({ sequence: 1, id: null, kind: "missing" });
  });

  it("does not show a log that was computed anew, unless a hash was noted elsewhere", async () => {
    const forged: AuditEvent[] = [];
    for (const event of whole) {
      const more = event.sequence === 3 ? { action: "file.deleted" } : {};
      forged.push(eventAt(event.sequence, forged.at(-1)?.hash ?? FIRST_PREVIOUS_HASH, more));
    }
    const end = forged.at(-1) as AuditEvent;
    const known = { before, head: { sequence: end.sequence, hash: end.hash } };
    expect((await check(forged, known)).fault).toBeNull();
    const noted = { sequence: 4, hash: at(4).hash };
    const { fault } = await checkAuditChain(ACCOUNT, forged, sha256, { ...known, expect: noted });
    expect(fault).toMatchObject({ sequence: 4, id: at(4).id, kind: "altered" });
    expect((await checkAuditChain(ACCOUNT, whole, sha256, { before, head, expect: noted })).fault).toBeNull();
    const gone = await checkAuditChain(ACCOUNT, whole.slice(0, 2), sha256, { expect: noted });
    expect(gone.fault).toMatchObject({ sequence: 3, kind: "missing" });
    const removed = await checkAuditChain(ACCOUNT, whole.slice(4), sha256, {
      before: { sequence: 4, hash: at(4).hash },
      expect: { sequence: 4, hash: "1".repeat(64) },
    });
    expect(removed.fault).toMatchObject({ sequence: 4, kind: "altered" });
  });

  it("renders no two different entries as the same text, whatever stands in their fields", () => {
    const texts = new Set<string>();
    const tricky = ['","', "\\", "\u2028", "\ud800", "\ufffd", "null", "", '"]'];
    for (const action of tricky) {
      for (const requestId of [...tricky, null]) {
        texts.add(
          renderAuditText(
            ACCOUNT,
            eventAt(1, FIRST_PREVIOUS_HASH, { action, context: { ...at(1).context, requestId } }),
          ),
        );
      }
    }
    expect(texts.size).toBe(tricky.length * (tricky.length + 1));
    expect(sha256([...texts][0] as string)).toMatch(/^[0-9a-f]{64}$/);
  });

  it("is broken by any single act, at the entry that it touched first", async () => {
    const place = fc.integer({ min: 1, max: LENGTH });
    const text = fc.string({ unit: "binary", maxLength: 5 });
    const acts = fc.oneof(
      fc.record({ act: fc.constant("delete" as const), at: place }),
      fc.record({ act: fc.constant("swap" as const), at: place, with: place }),
      fc.record({ act: fc.constant("edit" as const), at: place, text, field: fc.constantFrom("id", "action", "hash") }),
      fc.record({ act: fc.constant("context" as const), at: place, text: fc.option(text) }),
      fc.record({ act: fc.constant("replace" as const), at: place, with: place }),
    );
    await fc.assert(
      fc.asyncProperty(acts, async (given) => {
        const changed = apply(given);
        const touched = whole.findIndex((event, index) => !same(event, changed[index]));
        const { fault } = await check(changed);
        expect(fault?.sequence ?? null).toBe(touched === -1 ? null : touched + 1);
      }),
      { numRuns: 300 },
    );
  });
});

type Act =
  | { readonly act: "delete"; readonly at: number }
  | { readonly act: "swap" | "replace"; readonly at: number; readonly with: number }
  | { readonly act: "edit"; readonly at: number; readonly text: string; readonly field: string }
  | { readonly act: "context"; readonly at: number; readonly text: string | null };

function apply(given: Act): AuditEvent[] {
  const entry = at(given.at);
  switch (given.act) {
    case "delete":
      return without(given.at);
    case "edit":
      return withAt(given.at, { ...entry, [given.field]: given.text });
    case "context":
      return withAt(given.at, { ...entry, context: { ...entry.context, userAgent: given.text } });
    case "replace":
      return withAt(given.at, { ...at(given.with), sequence: given.at });
    case "swap":
      return whole.map((event) => {
        if (event.sequence === given.at) return { ...at(given.with), sequence: given.at };
        return event.sequence === given.with ? { ...entry, sequence: given.with } : event;
      });
  }
}

function same(a: AuditEvent, b: AuditEvent | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

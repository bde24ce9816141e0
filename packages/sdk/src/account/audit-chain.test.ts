import { FIRST_PREVIOUS_HASH, renderAuditText, type AuditEvent } from "@coffer/contract";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { verifyAudit, type AuditPage, type AuditPages } from "./audit-chain.ts";

const ACCOUNT = "6b8d1b0e-9a53-4f0e-8f0d-0e8c3b1f2a77";
const PAGE = 2;

/** A log as it was written, oldest first. */
function writeLog(length: number): AuditEvent[] {
  const log: AuditEvent[] = [];
  for (let sequence = 1; sequence <= length; sequence += 1) {
    const event = {
      id: `00000000-0000-4000-8000-${String(sequence).padStart(12, "0")}`,
      action: "vault.updated",
      occurredAt: new Date(sequence * 1000).toISOString(),
      actor: { type: "api_key", id: "k", accessLevel: "owner", chainAddress: null },
      targets: [{ type: "vault", id: "v" }],
      context: { requestId: null, location: null, userAgent: null },
      sequence,
      previousHash: log.at(-1)?.hash ?? FIRST_PREVIOUS_HASH,
    };
    const hash = createHash("sha256").update(renderAuditText(ACCOUNT, event)).digest("hex");
    log.push({ ...event, hash });
  }
  return log;
}

/** Lists a log as the service does, by keyset: `again` notes the cursors that were asked for a second time. */
function list(log: readonly AuditEvent[], again: string[] = []): AuditPages {
  const page = (before: number): AuditPage => {
    const events = log
      .filter(({ sequence }) => sequence < before)
      .reverse()
      .slice(0, PAGE);
    const last = events.at(-1)?.sequence ?? 1;
    return { events, nextCursor: last === 1 ? null : String(last) };
  };
  return {
    async *newestFirst() {
      await Promise.resolve();
      for (let cursor: string | null = "Infinity"; cursor !== null;) {
        const read = page(Number(cursor));
        yield read;
        cursor = read.nextCursor;
      }
    },
    at: (cursor) => {
      again.push(cursor);
      return Promise.resolve(page(Number(cursor)));
    },
  };
}

describe("checking a log that is listed newest first", () => {
  it.each([0, 1, 2, 19, 20, 21, 22, 57])("reads each of %i entries, in the order they were written", async (length) => {
    const log = writeLog(length);
    const newest = log.at(-1);
    expect(await verifyAudit(ACCOUNT, list(log))).toEqual({
      entries: length,
      fault: null,
      newest: newest === undefined ? null : { sequence: newest.sequence, hash: newest.hash },
    });
  });

  it("holds ten pages, and reads older ones once more from the oldest on", async () => {
    const again: string[] = [];
    await verifyAudit(ACCOUNT, list(writeLog(20), again));
    expect(again).toEqual([]);
    await verifyAudit(ACCOUNT, list(writeLog(26), again));
    expect(again).toEqual(["3", "5", "7"]);
  });

  it.each([1, 2, 6, 7, 30])("names the first altered entry, wherever it stands: %i", async (sequence) => {
    const log = writeLog(30).map((event) =>
      event.sequence >= sequence && event.sequence % 2 === sequence % 2 ? { ...event, action: "vault.deleted" } : event,
    );
    expect(await verifyAudit(ACCOUNT, list(log))).toMatchObject({
      entries: sequence - 1,
      fault: { sequence, kind: "altered" },
    });
  });

  it("notices a page that is another one the second time", async () => {
    const log = writeLog(30);
    const honest = list(log);
    const other = list(writeLog(30).map((event) => ({ ...event, id: event.id.replace(/^0/, "f") })));
    const mixed = { newestFirst: () => honest.newestFirst(), at: (cursor: string) => other.at(cursor) };
    expect((await verifyAudit(ACCOUNT, mixed)).fault).toMatchObject({ sequence: 1, kind: "altered" });
  });

  it("takes no harm from entries that are written meanwhile", async () => {
    const log = writeLog(33);
    const growing: AuditPages = {
      newestFirst: () => list(log.slice(0, 30)).newestFirst(),
      at: (cursor) => list(log).at(cursor),
    };
    expect(await verifyAudit(ACCOUNT, growing)).toMatchObject({ entries: 30, fault: null });
  });

  it("compares with a noted entry", async () => {
    const expected = { sequence: 3, hash: "0".repeat(64) };
    expect((await verifyAudit(ACCOUNT, list(writeLog(30)), expected)).fault).toMatchObject({ sequence: 3 });
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collect, failingAfter, inChunks, patternBytes, sha256Of } from "../../../../../test/kit/bytes.ts";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { PowerLossFiles } from "../../../../../test/kit/power-loss.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import { openDiskBlobs } from "../disk.ts";

/** What one client does with its own key, in order; `size` bytes at a time. */
type Step =
  | { readonly act: "put" | "together" | "append" | "atomic" | "broken" | "broken atomic"; readonly size: number }
  | { readonly act: "complete" | "discard" | "delete" };

/** What the store has promised, and the point of the log at which it had. `null` ends the promise when it begins to be undone. */
interface Promised {
  readonly key: string;
  readonly point: number;
  readonly state: { readonly kind: "blob" | "partial"; readonly length: number } | null;
}

const CONTENT = 200_000;
const sizes = fc.oneof(fc.nat(3000), fc.constantFrom(0, 1, 511, 512, 513, 65_536, 70_000));
const upload = fc.array(
  fc.oneof(
    fc.record({ act: fc.constantFrom("append", "atomic", "broken", "broken atomic"), size: sizes }),
    fc.record({ act: fc.constant("complete" as const) }),
  ),
  { minLength: 1, maxLength: 6 },
);
const client: fc.Arbitrary<readonly Step[]> = fc.oneof(
  sizes.map((size): Step[] => [{ act: "put", size }]),
  sizes.map((size): Step[] => [{ act: "put", size }, { act: "delete" }]),
  sizes.map((size): Step[] => [{ act: "together", size }]),
  upload.map((steps): Step[] => steps as Step[]),
  upload.map((steps): Step[] => [...(steps as Step[]), { act: "discard" }]),
);

const processes = makeDirectory();

describe("after a loss of power", () => {
  it("everything acknowledged is there with the right digest, whatever was not flushed is lost", async () => {
    let crashes = 0;
    const scenario = fc.tuple(fc.array(client, { minLength: 1, maxLength: 3 }), fc.integer());
    await fc.assert(
      fc.asyncProperty(scenario, async ([clients, seed]) => {
        const files = new PowerLossFiles();
        const promised = await runClients(files, clients);
        const chance = seeded(seed);
        for (let point = 0; point <= files.points; point += 1) {
          await checkAfterCrash(files.afterCrash(point, chance), standingAt(promised, point));
          crashes += 1;
        }
      }),
      { numRuns: process.env["COFFER_TEST_COUNTS"] === "full" ? 200 : 30 },
    );
    expect(crashes).toBeGreaterThan(200);
  });

  it("the store's mark is the one that was acknowledged last, or the next one", async () => {
    const files = new PowerLossFiles();
    const marks = [null, "first", "a second one that is longer", "third"];
    const acknowledged: number[] = [];
    await using store = await open(files);
    for (const [at, mark] of marks.entries()) {
      if (mark !== null) expect(await store.replaceMark(marks[at - 1] ?? null, mark)).toBe(true);
      acknowledged.push(files.points);
    }
    for (let seed = 0; seed < 20; seed += 1)
      for (let point = 0; point <= files.points; point += 1) {
        await using after = await open(files.afterCrash(point, seeded(seed)));
        const last = acknowledged.findLastIndex((end) => end <= point);
        expect(marks.slice(Math.max(0, last), last + 2)).toContain(await after.readMark());
      }
  });

  it("would be found out by this model if the driver did not flush", async () => {
    for (const skipped of ["flush", "flushDirectory"] as const) {
      const files = new PowerLossFiles();
      const clients = [[{ act: "put" as const, size: 3000 }], [{ act: "together" as const, size: 3000 }]];
      const promised = await runClients(forgetting(files, skipped), clients);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, seed) =>
          checkAfterCrash(files.afterCrash(files.points, seeded(seed)), standingAt(promised, files.points)),
        ),
      );
      expect(outcomes.some((outcome) => outcome.status === "rejected")).toBe(true);
    }
  });
});

async function runClients(
  files: Parameters<typeof open>[0] & { points: number },
  clients: readonly (readonly Step[])[],
): Promise<Promised[]> {
  const promised: Promised[] = [];
  await using store = await open(files);
  await Promise.all(
    clients.map((steps, index) =>
      runClient(store, `client-${index}`, steps, (state) =>
        promised.push({ key: `client-${index}`, point: files.points, state }),
      ),
    ),
  );
  return promised;
}

/** One key's life. Its content is known beforehand, so that any durable length can be checked. */
async function runClient(
  store: BlobStore,
  key: string,
  steps: readonly Step[],
  note: (state: Promised["state"]) => void,
): Promise<void> {
  const content = patternBytes(key, CONTENT);
  let length = 0;
  if (steps[0]?.act !== "put" && steps[0]?.act !== "together") {
    await store.start(key);
    note({ kind: "partial", length: 0 });
  }
  for (const step of steps) {
    const part = "size" in step ? content.subarray(length, Math.min(CONTENT, length + step.size)) : Buffer.alloc(0);
    const broken = () => failingAfter(part, new Error("gone"), 1000);
    switch (step.act) {
      case "put":
        await store.put(key, inChunks(part, 1000));
        note({ kind: "blob", length: part.length });
        break;
      case "together":
        await store.putAll([
          { key, bytes: part },
          { key: `${key}-other`, bytes: patternBytes(`${key}-other`, CONTENT).subarray(0, part.length) },
        ]);
        note({ kind: "blob", length: part.length });
        break;
      case "append":
      case "atomic":
        length = await store.append(key, length, inChunks(part, 1000), { atomic: step.act === "atomic" });
        note({ kind: "partial", length });
        break;
      case "broken":
      case "broken atomic":
        await store.append(key, length, broken(), { atomic: step.act === "broken atomic" }).catch(() => undefined);
        length = (await store.partialLength(key)) ?? Number.NaN;
        note({ kind: "partial", length });
        break;
      case "complete":
        await store.complete(key);
        note({ kind: "blob", length });
        return;
      case "discard":
        note(null);
        await store.discard(key);
        return;
      case "delete":
        note(null);
        await store.delete(key);
        return;
    }
  }
}

function standingAt(promised: readonly Promised[], point: number): ReadonlyMap<string, Promised["state"]> {
  return new Map(promised.filter((one) => one.point <= point).map((one) => [one.key, one.state]));
}

async function checkAfterCrash(files: PowerLossFiles, standing: ReadonlyMap<string, Promised["state"]>): Promise<void> {
  await using store = await open(files);
  for (const [key, state] of standing) if (state !== null) await checkPromise(store, key, state);
  for await (const blob of store.list()) if (blob.complete) await checkContent(store, blob.key, blob.size);
}

async function checkPromise(store: BlobStore, key: string, state: NonNullable<Promised["state"]>): Promise<void> {
  if (state.kind === "partial") {
    // More may have become durable than was acknowledged, or even all of it as a blob; never less.
    const length = await store.partialLength(key);
    if (length !== null) expect(length).toBeGreaterThanOrEqual(state.length);
    const receipt = await store.complete(key);
    expect(receipt.size).toBeGreaterThanOrEqual(state.length);
    expect(receipt.sha256).toBe(sha256Of(patternBytes(key, CONTENT).subarray(0, receipt.size)));
  }
  await checkContent(store, key, state.kind === "blob" ? state.length : null);
}

/** No blob that can be read is ever anything but what was written. */
async function checkContent(store: BlobStore, key: string, size: number | null): Promise<void> {
  const chunks = await store.open(key);
  expect(chunks).not.toBeNull();
  const bytes = await collect(chunks);
  if (size !== null) expect(bytes.length).toBe(size);
  expect(bytes.equals(patternBytes(key, CONTENT).subarray(0, bytes.length))).toBe(true);
}

function open(files: NonNullable<Parameters<typeof openDiskBlobs>[0]["fileSystem"]>): Promise<BlobStore> {
  return openDiskBlobs({ directory: processes, fileSystem: files });
}

/** The same files, with a driver that forgets one kind of flush. */
function forgetting(files: PowerLossFiles, skipped: "flush" | "flushDirectory"): PowerLossFiles {
  return new Proxy(files, {
    get(target, name) {
      if (name === skipped) return () => Promise.resolve();
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      if (name !== "create" || skipped !== "flush") return member.bind(target) as unknown;
      return async (path: string) => ({ ...(await target.create(path)), flush: () => Promise.resolve() });
    },
  });
}

/** mulberry32: small, and the same everywhere. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

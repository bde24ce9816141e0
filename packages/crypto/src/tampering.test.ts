import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inChunks } from "../../../test/kit/bytes.ts";
import { concatBytes, equalBytes } from "./bytes.ts";
import { decryptMessage, encryptMessage } from "./cobblestone.ts";
import { decryptFile, decryptFileBytes, type Unlock } from "./decrypt-file.ts";
import { encryptFile } from "./encrypt-file.ts";
import { CryptoError } from "./errors.ts";
import type { NewFile } from "./file-plan.ts";
import { nodePlatform } from "./node/platform.ts";
import { openRangeReader } from "./range-reader.ts";
import { DataKey } from "./secret-key.ts";
import { collect, collectUntilFailure, contentOf, planFile } from "./files.test-kit.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const BLOCK = 16400;
/** 48 header, 104 wrapped key, 56 salt and commitment. */
const CHUNKS = 208;

/** The wrap of file-format §7 in small: enough that nothing of a file is left unbound. */
const WRAP_KEY = new Uint8Array(32).fill(5);
const envelopeOf: NewFile["envelopeOf"] = ({ commitment, dataKey, headerPrefix }) =>
  encryptMessage(nodePlatform, WRAP_KEY, concatBytes(commitment, headerPrefix), dataKey.reveal());
const unlockWrapped: Unlock = async ({ commitment, envelope, headerPrefix }) => ({
  dataKey: new DataKey(await decryptMessage(nodePlatform, WRAP_KEY, concatBytes(commitment, headerPrefix), envelope)),
});

async function makeWrapped(size: number, padded = false, ids: Partial<NewFile> = {}) {
  const content = contentOf(size);
  const { plan } = await planFile({ contentSize: size, padded, envelopeOf, ...ids });
  return { content, file: await collect(encryptFile(plan, content)) };
}

/** Refused, by this library's own error, and what was given before that is the beginning of the content. */
async function expectRefused(tampered: Uint8Array, content: Uint8Array, most: number): Promise<void> {
  const opened = await collectUntilFailure(decryptFile(nodePlatform, tampered, { unlock: unlockWrapped }));
  const { error } = opened;
  if (!(error instanceof CryptoError)) throw new Error("the tampered file was opened", { cause: error });
  // In memory as a whole it is refused for the same reason.
  const { code, step } = error;
  if (tampered.length > BLOCK) {
    // In pieces that cut through chunks it shows as much, and no more.
    const cut = await collectUntilFailure(
      decryptFile(nodePlatform, inChunks(tampered, 20_000), { unlock: unlockWrapped }),
    );
    expect(cut.error).toMatchObject({ code, step });
    expect(equalBytes(cut.content, content.subarray(0, cut.content.length))).toBe(true);
    expect(cut.content.length).toBeLessThanOrEqual(most);
  }
  await expect(decryptFileBytes(nodePlatform, tampered, unlockWrapped)).rejects.toMatchObject({ code, step });
  expect(opened.content.length).toBeLessThanOrEqual(most);
  expect(equalBytes(opened.content, content.subarray(0, opened.content.length))).toBe(true);
}

describe("tampering with a file", () => {
  it.each([
    ["as it is", false],
    ["padded", true],
  ])("every single-bit flip is refused and releases nothing, %s", async (_name, padded) => {
    const { content, file } = await makeWrapped(40, padded);
    for (let bit = 0; bit < file.length * 8; bit += 1) {
      const tampered = file.slice();
      tampered[bit >> 3] = (tampered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await expectRefused(tampered, content, 0);
    }
  });

  it("so is every cut, and every byte put behind", async () => {
    const { content, file } = await makeWrapped(40);
    for (let length = 0; length < file.length; length += 1) await expectRefused(file.subarray(0, length), content, 0);
    for (const extra of [1, 15, 16, 17, 16400]) {
      const longer = concatBytes(file, new Uint8Array(extra));
      await expectRefused(longer, content, 0);
    }
  });

  it("every chunk swapped, dropped or doubled, and every cut between chunks, releases no more than the chunks before it [S13]", async () => {
    const count = 6;
    const { content, file } = await makeWrapped((count - 1) * 16384 + 100);
    const start = file.subarray(0, CHUNKS);
    const blocks = Array.from({ length: count }, (_, at) =>
      file.subarray(CHUNKS + at * BLOCK, CHUNKS + (at + 1) * BLOCK),
    );
    const built = (order: readonly number[]) =>
      concatBytes(start, ...order.map((at) => blocks[at] ?? new Uint8Array(0)));
    const inOrder = blocks.map((_, at) => at);
    expect(built(inOrder)).toEqual(file);
    for (const at of inOrder) {
      const most = at * 16384;
      await expectRefused(built(inOrder.slice(0, at)), content, most);
      await expectRefused(built(inOrder.filter((other) => other !== at)), content, most);
      await expectRefused(
        built(inOrder.flatMap((other) => (other === at ? [at, at] : [other]))),
        content,
        most + 16384,
      );
      for (const other of inOrder.slice(at + 1)) {
        const swapped = inOrder.map((place) => (place === at ? other : place === other ? at : place));
        await expectRefused(built(swapped), content, most);
      }
    }
  });

  it("nothing can be put in from another file or another version, also not a whole message or envelope", async () => {
    const size = 2 * 16384 + 100;
    const mine = await makeWrapped(size);
    const others = [
      await makeWrapped(size, false, { fileId: "01890a5d-ac96-774b-bcce-b302099a8059" }),
      await makeWrapped(size, false, { versionId: "01890a5d-ac96-774b-bcce-b302099a8059" }),
      // The same ids, written again: another key and salt all the same.
      await makeWrapped(size),
    ];
    const edges = [0, 48, 152, 176, CHUNKS, CHUNKS + BLOCK, CHUNKS + 2 * BLOCK, mine.file.length];
    for (const other of others)
      for (const [at, from] of edges.entries())
        for (const to of edges.slice(at + 1)) {
          if (from === 0 && to === mine.file.length) continue;
          const spliced = mine.file.slice();
          spliced.set(other.file.subarray(from, to), from);
          // Only the ids differ there, and only where they do: the header of a twin is the same header.
          if (equalBytes(spliced, mine.file) || equalBytes(spliced, other.file)) continue;
          await expectRefused(spliced, from <= CHUNKS ? other.content : mine.content, size);
        }
  });

  it("whatever else is done to it", async () => {
    const { content, file } = await makeWrapped(20_000);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(file.length), fc.nat(40), fc.uint8Array({ maxLength: 40 })), {
          minLength: 1,
          maxLength: 3,
        }),
        async (edits) => {
          const tampered = edits.reduce<Uint8Array>(
            (bytes, [at, removed, put]) => concatBytes(bytes.subarray(0, at), put, bytes.subarray(at + removed)),
            file,
          );
          if (!equalBytes(tampered, file)) await expectRefused(tampered, content, 16384);
        },
      ),
      { numRuns: FULL ? 5000 : 200 },
    );
  });

  it("a range shows no altered byte either", async () => {
    const { content, file } = await makeWrapped(5 * 16384 + 100, true);
    const messageLength = file.length - 152;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(file.length * 8 - 1),
        fc.nat(content.length),
        fc.nat(content.length),
        async (bit, a, b) => {
          const tampered = file.slice();
          tampered[bit >> 3] = (tampered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
          const [from, to] = [Math.min(a, b), Math.max(a, b)];
          const outcome = await collectUntilFailure(readRange(tampered, messageLength, from, to));
          if (outcome.error !== null) expect(outcome.error).toBeInstanceOf(CryptoError);
          // Without an error the flip was in a chunk that was not read.
          const expected = content.subarray(from, outcome.error === null ? to : from + outcome.content.length);
          expect(equalBytes(outcome.content, expected)).toBe(true);
        },
      ),
      { numRuns: FULL ? 5000 : 200 },
    );
  });
});

async function* readRange(
  file: Uint8Array,
  messageLength: number,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  const reader = await openRangeReader(nodePlatform, {
    fetchBytes: (start, end) => file.subarray(start, end),
    unlock: async (start) => ({ ...(await unlockWrapped(start)), messageLength }),
  });
  yield* reader.read(from, to);
}

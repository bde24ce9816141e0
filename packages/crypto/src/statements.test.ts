import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concatBytes } from "./bytes.ts";
import { parseEntryStatement, signEntryStatement, type EntryFields } from "./entry-statement.ts";
import { encodeHeaderPrefix } from "./header.ts";
import { verifyEntryStatement, verifyVersionStatement } from "./reading-order.ts";
import { END_STEP_MS, NO_END } from "./place.ts";
import { signStatement, statementDigest } from "./signatures.ts";
import { ciphertextSize } from "./sizes.ts";
import { statementHash } from "./statement-chain.ts";
import { requireNextEntry, requireNextVersion } from "./statement-history.ts";
import {
  at,
  bitFlips,
  ENTRY,
  failureOf,
  FILE_ID,
  FOLDER_ID,
  MEMBER,
  OWNER,
  READER,
  REMOVED,
  STRANGER,
  TIME,
  VAULT,
  VIEW,
} from "./vault.test-kit.ts";
import { parseVersionStatement, signVersionStatement, type VersionFields } from "./version-statement.ts";
import { seenEntry, seenVersion } from "./new-statements.ts";

const RUNS = process.env["COFFER_TEST_COUNTS"] === "full" ? 500 : 30;
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const notZeros = bytes32.filter((bytes) => bytes.some((byte) => byte !== 0));
const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const quarter = fc.bigInt({ min: 0n, max: NO_END / END_STEP_MS }).map((count) => count * END_STEP_MS);
const uuid = fc.uuid();
const time = fc.maxSafeNat();
const link = fc.oneof(
  fc.record({ number: fc.constant(1n), previous: fc.constant(new Uint8Array(32)) }),
  fc.record({ number: fc.bigInt({ min: 2n, max: (1n << 64n) - 1n }), previous: notZeros }),
);

const HEADER = { fileId: FILE_ID, versionId: "0197b6f0-0000-7000-8000-000000000001", padded: false };
const VERSION: VersionFields = {
  vault: VAULT,
  headerPrefix: encodeHeaderPrefix(HEADER),
  startDigest: new Uint8Array(32).fill(1),
  sequence: 1n,
  previous: new Uint8Array(32),
  ...at(5n),
  keyId: new Uint8Array(32).fill(2),
  commitment: new Uint8Array(32).fill(3),
  messageLength: 1072,
  digest: new Uint8Array(32).fill(4),
  signer: MEMBER.address,
  time: TIME,
};
const QUESTION = { vault: VAULT, view: VIEW, seen: null };

/** Verifies what a signer made of the fields. */
function version(fields: Partial<VersionFields>, signer = MEMBER.signer, question: object = {}): Promise<string> {
  return failureOf(async () => {
    const { bytes } = await signVersionStatement({ ...VERSION, ...fields }, signer);
    await verifyVersionStatement({ ...QUESTION, ...question }, bytes);
  });
}

describe("a version statement", () => {
  it("is what was signed, for all fields", async () => {
    const fields = fc.record({
      vault: bytes32,
      header: fc.record({ fileId: uuid, versionId: uuid, padded: fc.boolean() }),
      startDigest: bytes32,
      link,
      generation: u64,
      after: quarter,
      keyId: bytes32,
      commitment: bytes32,
      content: fc.nat(),
      digest: bytes32,
      signer: bytes32,
      time,
    });
    await fc.assert(
      fc.asyncProperty(fields, async ({ content, header, link: { number, previous }, ...rest }) => {
        const headerPrefix = encodeHeaderPrefix(header);
        const given = { ...rest, headerPrefix, sequence: number, previous, messageLength: ciphertextSize(content) };
        const statement = await signVersionStatement(given, MEMBER.signer);
        expect(statement).toMatchObject({ ...given, fileId: header.fileId, versionId: header.versionId });
        expect(statement.bytes.length).toBe(372);
        expect(parseVersionStatement(statement.bytes)).toEqual(statement);
      }),
      { numRuns: RUNS },
    );
  });

  it("is refused when one bit is another", async () => {
    const { bytes } = await signVersionStatement(VERSION, MEMBER.signer);
    await verifyVersionStatement(QUESTION, bytes);
    for (const flipped of bitFlips(bytes))
      expect(await failureOf(() => verifyVersionStatement(QUESTION, flipped))).toMatch(
        /^(statement damaged|pins vault_changed|header (damaged|not_encrypted|unsupported_(version|suite)))$/,
      );
  });

  it("is refused cut, continued, and in contradiction with itself", async () => {
    const { bytes } = await signVersionStatement(VERSION, MEMBER.signer);
    for (const wrong of [bytes.subarray(0, 371), concatBytes(bytes, Uint8Array.of(0)), new Uint8Array(0)])
      expect(await failureOf(() => parseVersionStatement(wrong))).toBe("statement damaged");
    const contradictions: Partial<VersionFields>[] = [
      { sequence: 0n },
      { sequence: 2n },
      { previous: new Uint8Array(32).fill(1) },
      { messageLength: 71 },
      { messageLength: 56 + 16_400 },
    ];
    for (const fields of contradictions) expect(await version(fields)).toBe("statement damaged");
    const late = Uint8Array.from(bytes).fill(0xff, 300, 308);
    expect(await failureOf(() => parseVersionStatement(late))).toBe("statement damaged");
    await expect(signVersionStatement({ ...VERSION, keyId: VAULT.subarray(1) }, MEMBER.signer)).rejects.toThrow(
      RangeError,
    );
    await expect(signVersionStatement({ ...VERSION, time: -1 }, MEMBER.signer)).rejects.toThrow(RangeError);
    await expect(signVersionStatement({ ...VERSION, time: 0.5 }, MEMBER.signer)).rejects.toThrow(RangeError);
  });

  it("is believed only from members who could sign in its generation [M7]", async () => {
    expect(await version({})).toBe("accepted");
    expect(await version({ signer: REMOVED.address, generation: 4n }, REMOVED.signer)).toBe("accepted");
    expect(await version({ signer: REMOVED.address }, REMOVED.signer)).toBe("statement damaged");
    expect(await version({ signer: STRANGER.address }, STRANGER.signer)).toBe("statement damaged");
    expect(await version({ signer: READER.address }, READER.signer)).toBe("statement damaged");
    expect(await version({ signer: OWNER.address }, MEMBER.signer)).toBe("statement damaged");
    expect(await version({}, STRANGER.signer)).toBe("statement damaged");
    expect(await version({ generation: 6n })).toBe("statement damaged");
    expect(await version({ generation: 2n })).toBe("statement damaged");
  });

  it("is refused below the floor [S19]", async () => {
    const view = { ...VIEW, floor: 5n };
    expect(await version({ generation: 4n }, MEMBER.signer, { view })).toBe("statement rolled_back");
    expect(await version({}, MEMBER.signer, { view })).toBe("accepted");
  });

  it("is refused of another vault than the pinned one, whoever names the other [S23]", async () => {
    const other = new Uint8Array(32).fill(0xbb);
    expect(await version({ vault: other })).toBe("pins vault_changed");
    expect(await version({ vault: other }, MEMBER.signer, { view: { ...VIEW, vault: other } })).toBe(
      "pins vault_changed",
    );
    expect(await version({}, MEMBER.signer, { vault: other })).toBe("pins vault_changed");
    const failing = signVersionStatement({ ...VERSION, vault: other }, MEMBER.signer).then(({ bytes }) =>
      verifyVersionStatement(QUESTION, bytes),
    );
    await expect(failing).rejects.toThrow(/0x(aa){32}.*0x(bb){32}/);
  });

  it("is refused as a rollback when a newer one was seen, or another one in its place", async () => {
    const first = await signVersionStatement(VERSION, MEMBER.signer);
    const next: VersionFields = { ...VERSION, sequence: 2n, previous: statementHash(first.bytes) };
    const second = await signVersionStatement(next, MEMBER.signer);
    const third = { ...VERSION, sequence: 3n, previous: statementHash(second.bytes) };
    expect(await version({}, MEMBER.signer, { seen: seenVersion(second) })).toBe("statement rolled_back");
    expect(await version(next, MEMBER.signer, { seen: seenVersion(second) })).toBe("accepted");
    expect(await version(next, MEMBER.signer, { seen: seenVersion(first) })).toBe("accepted");
    expect(await version(third, MEMBER.signer, { seen: seenVersion(first) })).toBe("accepted");
    // A fork: the same number, or the next one, but not of the history that was seen.
    const fork = { ...next, time: TIME + 1 };
    expect(await version(fork, MEMBER.signer, { seen: seenVersion(second) })).toBe("statement rolled_back");
    const forked = await signVersionStatement(fork, MEMBER.signer);
    expect(await version(third, MEMBER.signer, { seen: seenVersion(forked) })).toBe("statement rolled_back");
    expect(await version({ ...third, generation: 4n }, MEMBER.signer, { seen: seenVersion(second) })).toBe(
      "statement rolled_back",
    );
  });
});

describe("an entry statement", () => {
  const entry = (fields: Partial<EntryFields>, signer = MEMBER.signer, question: object = {}): Promise<string> =>
    failureOf(async () => {
      const { bytes } = await signEntryStatement({ ...ENTRY, ...fields }, signer);
      await verifyEntryStatement({ ...QUESTION, ...question }, bytes);
    });

  it("is what was signed, for all fields", async () => {
    const fields = fc.record({
      vault: bytes32,
      kind: fc.constantFrom("file" as const, "folder" as const),
      id: uuid,
      link,
      generation: u64,
      after: quarter,
      keyId: bytes32,
      folderId: fc.option(uuid),
      metadataDigest: bytes32,
      signer: bytes32,
      time,
    });
    await fc.assert(
      fc.asyncProperty(fields, async ({ link: { number, previous }, ...rest }) => {
        const given = { ...rest, revision: number, previous };
        const statement = await signEntryStatement(given, MEMBER.signer);
        expect(statement).toMatchObject(given);
        expect(statement.bytes.length).toBe(289);
        expect(parseEntryStatement(statement.bytes)).toEqual(statement);
      }),
      { numRuns: RUNS },
    );
  });

  it("is refused when one bit is another", async () => {
    const { bytes } = await signEntryStatement(ENTRY, MEMBER.signer);
    await verifyEntryStatement(QUESTION, bytes);
    for (const flipped of bitFlips(bytes))
      expect(await failureOf(() => verifyEntryStatement(QUESTION, flipped))).toMatch(
        /^(entry damaged|pins vault_changed)$/,
      );
  });

  it("is refused cut, continued, of no known kind, of the root, and inside itself", async () => {
    const { bytes } = await signEntryStatement(ENTRY, MEMBER.signer);
    const kindOf = (kind: number): Uint8Array => Uint8Array.from(bytes).fill(kind, 32, 33);
    const wrong = [bytes.subarray(0, 288), concatBytes(bytes, Uint8Array.of(0)), kindOf(0), kindOf(3)];
    wrong.push(Uint8Array.from(bytes).fill(0, 33, 49));
    for (const other of wrong) expect(await failureOf(() => parseEntryStatement(other))).toBe("entry damaged");
    expect(await entry({ folderId: FILE_ID })).toBe("entry damaged");
    expect(await entry({ revision: 0n })).toBe("entry damaged");
    expect(await entry({ folderId: null })).toBe("accepted");
  });

  it("names a key exactly where names are encrypted", async () => {
    const view = { ...VIEW, plainNames: true };
    expect(await entry({ keyId: new Uint8Array(32) })).toBe("entry damaged");
    expect(await entry({}, MEMBER.signer, { view })).toBe("entry damaged");
    expect(await entry({ keyId: new Uint8Array(32) }, MEMBER.signer, { view })).toBe("accepted");
  });

  it("is held to membership, floor and what was seen like a version", async () => {
    const first = await signEntryStatement(ENTRY, MEMBER.signer);
    const next = { ...ENTRY, revision: 2n, previous: statementHash(first.bytes) };
    const second = await signEntryStatement(next, MEMBER.signer);
    expect(await entry({}, MEMBER.signer, { seen: seenEntry(second) })).toBe("entry rolled_back");
    expect(await entry(next, MEMBER.signer, { seen: seenEntry(first) })).toBe("accepted");
    expect(await entry({ signer: REMOVED.address }, REMOVED.signer)).toBe("entry damaged");
    expect(await entry({ signer: STRANGER.address }, STRANGER.signer)).toBe("entry damaged");
    expect(await entry({ generation: 4n }, MEMBER.signer, { view: { ...VIEW, floor: 5n } })).toBe("entry rolled_back");
    expect(await entry({ vault: new Uint8Array(32) })).toBe("pins vault_changed");
  });
});

describe("a history", () => {
  it("is one statement after the other, each naming the one before", async () => {
    const first = await signVersionStatement(VERSION, MEMBER.signer);
    const next = { ...VERSION, sequence: 2n, previous: statementHash(first.bytes) };
    const follow = async (fields: Partial<VersionFields>, previous = first): Promise<string> => {
      const statement = await signVersionStatement({ ...next, ...fields }, MEMBER.signer);
      return failureOf(() => requireNextVersion(previous, statement));
    };
    expect(await failureOf(() => requireNextVersion(null, first))).toBe("accepted");
    expect(await failureOf(() => requireNextVersion(first, first))).toBe("statement rolled_back");
    expect(await follow({})).toBe("accepted");
    expect(await follow({ sequence: 3n })).toBe("statement rolled_back");
    expect(await follow({ previous: VAULT })).toBe("statement rolled_back");
    expect(await follow({ generation: 4n })).toBe("statement rolled_back");
    expect(await follow({ vault: new Uint8Array(32) })).toBe("statement damaged");
    const other = encodeHeaderPrefix({ ...HEADER, fileId: FOLDER_ID });
    expect(await follow({ headerPrefix: other })).toBe("statement damaged");
    const second = await signVersionStatement(next, MEMBER.signer);
    expect(await failureOf(() => requireNextVersion(null, second))).toBe("statement rolled_back");
  });

  it("is the same for entries", async () => {
    const first = await signEntryStatement(ENTRY, MEMBER.signer);
    const next = { ...ENTRY, revision: 2n, previous: statementHash(first.bytes) };
    const follow = async (fields: Partial<EntryFields>): Promise<string> => {
      const statement = await signEntryStatement({ ...next, ...fields }, MEMBER.signer);
      return failureOf(() => requireNextEntry(first, statement));
    };
    expect(await follow({ folderId: null })).toBe("accepted");
    expect(await follow({ revision: 3n })).toBe("entry rolled_back");
    expect(await follow({ previous: VAULT })).toBe("entry rolled_back");
    expect(await follow({ kind: "folder" })).toBe("entry damaged");
    expect(await follow({ id: FOLDER_ID, folderId: null })).toBe("entry damaged");
  });
});

describe("a signature", () => {
  it("is for one title: what was signed as one thing is no other", async () => {
    const body = new Uint8Array(217).fill(5);
    const titles = ["coffer/vault-key/v1", "coffer/version/v1", "coffer/entry/v1"] as const;
    const digests = titles.map((title) => statementDigest(title, body).join());
    expect(new Set(digests).size).toBe(3);
    const { bytes } = await signEntryStatement(ENTRY, MEMBER.signer);
    const asVersion = await signStatement("coffer/version/v1", bytes.subarray(0, -64), MEMBER.signer);
    const spliced = concatBytes(bytes.subarray(0, -64), asVersion);
    expect(await failureOf(() => verifyEntryStatement(QUESTION, spliced))).toBe("entry damaged");
  });
});

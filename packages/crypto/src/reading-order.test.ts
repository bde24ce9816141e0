import { sha256 } from "@noble/hashes/sha2.js";
import { beforeAll, describe, expect, it } from "vitest";
import { concatBytes } from "./bytes.ts";
import { decryptFile } from "./decrypt-file.ts";
import { encryptMetadata } from "./entry-metadata.ts";
import { encodeEnvelope, parseEnvelope, WRAPPED_KEY_BYTES } from "./envelope.ts";
import { parseFileStart } from "./file-start.ts";
import { encodeHeader } from "./header.ts";
import { encodeMetadata } from "./metadata.ts";
import { nodePlatform as platform } from "./node/platform.ts";
import {
  openEntry,
  verifyVersion,
  type EntryQuestion,
  type FindVaultKey,
  type VersionQuestion,
} from "./reading-order.ts";
import { parseRecord, type VaultKeyRecord } from "./vault-key-record.ts";
import { DataKey } from "./secret-key.ts";
import { nextNumber, statementHash } from "./statement-chain.ts";
import {
  at,
  bitFlips,
  failureOf,
  FILE_ID,
  FOLDER_ID,
  MEMBER,
  OWNER,
  REMOVED,
  STRANGER,
  TIME,
  VAULT,
  VIEW,
  WRAP,
  writeVersion,
  type WrittenVersion,
} from "./vault.test-kit.ts";
import { VaultKey } from "./vault-key.ts";
import { newVaultKeyRecord, openVaultKeys } from "./vault-key-sealer.ts";
import { signVersionStatement } from "./version-statement.ts";
import { makeEnvelope, wrapDataKey } from "./data-key-wrap.ts";
import { makeEntryStatement, makeVersionStatement } from "./new-statements.ts";

const QUESTION: VersionQuestion = { vault: VAULT, view: VIEW, fileId: FILE_ID, versionId: null, seen: null };
const VERSION_2 = "0197b6f0-0000-7000-8000-000000000002";

/** Opens each record with the test's key wrap, as a cold reader does. */
const findVaultKey: FindVaultKey = async (record) => {
  const [opened] = await openVaultKeys(VIEW, [record], WRAP);
  return opened!.key;
};

let written: WrittenVersion;
beforeAll(async () => {
  written = await writeVersion(platform);
});

/** Reads what a service answers: a statement and the bytes of a file. */
function read(
  statement: Uint8Array,
  file: Uint8Array,
  question: Partial<VersionQuestion> = {},
  find = findVaultKey,
): Promise<string> {
  return failureOf(async () => {
    const answer = { statement, start: parseFileStart(file), fileSize: file.length };
    await verifyVersion(platform, { ...QUESTION, ...question }, answer, find);
  });
}

/** The file with another envelope, and the statement that its author would sign for it. */
async function withEnvelope(envelope: Uint8Array): Promise<{ statement: Uint8Array; file: Uint8Array }> {
  const { file, start } = written;
  const header = encodeHeader({ ...start.header, envelopeLength: envelope.length });
  const startDigest = sha256(concatBytes(header, envelope));
  const statement = await signVersionStatement({ ...written.statement, startDigest }, MEMBER.signer);
  return { statement: statement.bytes, file: concatBytes(header, envelope, file.subarray(start.payloadOffset)) };
}

describe("reading a version", () => {
  it("unlocks the file: content, length and digest are those of the statement", async () => {
    const { file, statement } = written;
    const unlock = (start: WrittenVersion["start"]) =>
      verifyVersion(platform, QUESTION, { statement: statement.bytes, start, fileSize: null }, findVaultKey);
    const contentOf = async (bytes: Uint8Array): Promise<string> => {
      const pieces: Uint8Array[] = [];
      const body = new Response(Buffer.from(bytes)).body!;
      for await (const piece of decryptFile(platform, body, { unlock })) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    };
    expect(await contentOf(file)).toBe("content");
    await expect(contentOf(file.subarray(0, -1))).rejects.toMatchObject({ code: "damaged" });
  });

  it("refuses every flipped bit of statement, header, envelope and commitment", async () => {
    const { file, start, statement } = written;
    expect(await read(statement.bytes, file)).toBe("accepted");
    const salt = start.payloadOffset;
    for (const flipped of bitFlips(file.subarray(0, salt))) {
      const failure = await read(statement.bytes, concatBytes(flipped, file.subarray(salt)));
      expect(failure).toMatch(/^(header|ids|start|length) /);
    }
    for (const flipped of bitFlips(start.commitment))
      expect(
        await read(statement.bytes, concatBytes(file.subarray(0, salt + 24), flipped, file.subarray(salt + 56))),
      ).toBe("commitment damaged");
    for (const flipped of bitFlips(statement.bytes)) expect(await read(flipped, file)).not.toBe("accepted");
  });

  it("refuses a longer file", async () => {
    const { file, statement } = written;
    expect(await read(statement.bytes, concatBytes(file, Uint8Array.of(0)))).toBe("length damaged");
  });
});

describe("the envelope of a version", () => {
  it("is refused with a data key that was wrapped for another record or version", async () => {
    const { opened, start } = written;
    const { commitment, headerPrefix } = start;
    const dataKey = new DataKey(new Uint8Array(32).fill(1));
    const second = await writeVersion(platform, { versionId: VERSION_2, opened });
    const sameKey = await newVaultKeyRecord(VIEW, WRAP, OWNER, opened.key);
    const wrongs = [
      await wrapDataKey(platform, sameKey.record, opened.key, { dataKey, commitment, headerPrefix }),
      parseEnvelope(second.start.envelope).wrapped,
      new Uint8Array(WRAPPED_KEY_BYTES),
    ];
    for (const wrapped of wrongs) {
      const { file, statement } = await withEnvelope(encodeEnvelope({ record: opened.record, wrapped }));
      expect(await read(statement, file)).toBe("wrap wrong_key");
    }
    const { wrapped } = parseEnvelope(start.envelope);
    for (const flipped of bitFlips(wrapped)) {
      const envelope = encodeEnvelope({ record: opened.record, wrapped: flipped });
      const answer = await withEnvelope(envelope);
      expect(await read(answer.statement, answer.file)).toMatch(/^wrap (wrong_key|damaged)$/);
    }
  });

  it("is refused without a record, and with anything after the wrapped key", async () => {
    const { envelope } = written.start;
    for (const wrong of [
      new Uint8Array(0),
      envelope.subarray(-WRAPPED_KEY_BYTES),
      concatBytes(envelope, Uint8Array.of(0)),
    ]) {
      const { file, statement } = await withEnvelope(wrong);
      expect(await read(statement, file)).toBe("record damaged");
    }
  });

  it("is refused when the vault key that is at hand is another one", async () => {
    const { file, statement } = written;
    const { key } = written.opened;
    const others = [
      new VaultKey(VAULT, at(5n), new Uint8Array(32)),
      new VaultKey(VAULT, at(4n), key.reveal()),
      new VaultKey(new Uint8Array(32), at(5n), key.reveal()),
    ];
    for (const other of others) expect(await read(statement.bytes, file, {}, () => other)).toBe("record wrong_key");
  });

  it("does not make a reader ask for a vault key before everything else is in order", async () => {
    const asked: VaultKeyRecord[] = [];
    const find: FindVaultKey = (record) => {
      asked.push(record);
      return written.opened.key;
    };
    const { file, statement } = written;
    await read(statement.bytes, file, { fileId: FOLDER_ID }, find);
    await read(statement.bytes, concatBytes(file.subarray(0, 60), Uint8Array.of(0), file.subarray(61)), {}, find);
    await read(statement.bytes, file, { view: { ...VIEW, members: [] } }, find);
    expect(asked).toEqual([]);
    expect(await read(statement.bytes, file, {}, find)).toBe("accepted");
    expect(asked.length).toBe(1);
  });
});

describe("reading an entry", () => {
  const METADATA = { name: "Bericht.pdf", contentType: "application/pdf", size: 7 };
  const ENTRY_QUESTION: EntryQuestion = { vault: VAULT, view: VIEW, kind: "file", id: FILE_ID, seen: null };
  const ENTRY = { kind: "file", id: FILE_ID, folderId: null, previous: null, time: TIME } as const;

  it("refuses other metadata, and another record that is in order [S15]", async () => {
    const { key, record } = written.opened;
    const place = { ...ENTRY, revision: 1n, keyId: record.keyId };
    const metadata = await encryptMetadata(platform, key, place, METADATA);
    const statement = await makeEntryStatement(VIEW, MEMBER, { ...ENTRY, metadata, record });
    const answer = { statement: statement.bytes, metadata, record: record.bytes };
    const open = (changes: Partial<typeof answer>): Promise<string> =>
      failureOf(() => openEntry(platform, ENTRY_QUESTION, { ...answer, ...changes }, findVaultKey));
    const other = await newVaultKeyRecord(VIEW, WRAP, OWNER);
    expect(await open({})).toBe("accepted");
    expect(await open({ record: other.record.bytes })).toBe("record damaged");
    for (const flipped of bitFlips(answer.metadata)) expect(await open({ metadata: flipped })).toBe("metadata damaged");
  });

  it("is written with a key exactly where names are encrypted", async () => {
    const entry = { ...ENTRY, metadata: encodeMetadata("file", METADATA) };
    const { record } = written.opened;
    const plain = { ...VIEW, plainNames: true };
    await expect(makeEntryStatement(plain, MEMBER, { ...entry, record })).rejects.toThrow(TypeError);
    await expect(makeEntryStatement(VIEW, MEMBER, { ...entry, record: null })).rejects.toThrow(TypeError);
  });
});

describe("writing", () => {
  const newVersion = () => ({
    record: written.opened.record,
    header: written.start.headerBytes,
    envelope: written.start.envelope,
    commitment: written.start.commitment,
    messageLength: written.statement.messageLength,
    digest: null,
    previous: written.statement,
    time: TIME,
  });

  it("chains a version to the one before it, and leaves out a digest that nobody computed", async () => {
    const next = await makeVersionStatement(VIEW, OWNER, newVersion());
    expect(next).toMatchObject({
      sequence: 2n,
      previous: statementHash(written.statement.bytes),
      signer: OWNER.address,
    });
    expect(next.digest).toEqual(new Uint8Array(32));
  });

  it("ends in words, not in a range error, after the last number that a member can have signed", async () => {
    const sequence = (1n << 64n) - 1n;
    const last = { ...newVersion(), previous: { ...written.statement, sequence } };
    expect(await failureOf(() => makeVersionStatement(VIEW, OWNER, last))).toBe("statement damaged");
    expect(nextNumber(sequence - 1n, "entry")).toBe(sequence);
    expect(await failureOf(() => Promise.resolve().then(() => nextNumber(sequence, "entry")))).toBe("entry damaged");
  });

  it("stops when the generation has moved, or the author may not sign", async () => {
    const moved = { ...VIEW, generation: 6n };
    expect(await failureOf(() => makeVersionStatement(moved, OWNER, newVersion()))).toBe("statement rolled_back");
    const gone = { ...VIEW, members: [] };
    expect(await failureOf(() => makeVersionStatement(gone, OWNER, newVersion()))).toBe("statement rolled_back");
    for (const author of [STRANGER, REMOVED, { ...OWNER, signer: MEMBER.signer }])
      expect(await failureOf(() => makeVersionStatement(VIEW, author, newVersion()))).toBe("statement wrong_key");
  });

  it("puts a data key into an envelope only under the key that the record names", async () => {
    const { commitment, headerPrefix } = written.start;
    const request = { dataKey: new DataKey(new Uint8Array(32)), commitment, headerPrefix };
    const key = new VaultKey(VAULT, at(5n), new Uint8Array(32));
    const record = parseRecord(written.opened.record.bytes);
    expect(await failureOf(() => makeEnvelope(platform, record, key, request))).toBe("record wrong_key");
  });
});

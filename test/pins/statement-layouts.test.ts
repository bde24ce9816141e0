/** What the service reads of statements lies where clients write it: the contract's layouts against `@coffer/crypto`. */
import {
  ENTRY_KINDS,
  ENTRY_STATEMENT,
  EXPORT_STATEMENT,
  FILE_MAGIC,
  itemName,
  KEY_RECORD,
  sharedHeaders,
  SIBLING_BYTES,
  SIGNATURE_BYTES,
  UPLOAD_TITLE,
  VERSION_STATEMENT,
  LADDER_STEP,
} from "@coffer/contract";
import {
  ed25519StatementSigner,
  ENCRYPTED_METADATA_SIZES,
  encodeFileStart,
  encodeHeader,
  encodeMetadata,
  ENTRY_KINDS as CRYPTO_KINDS,
  makeLadderStep,
  MAX_SEALED_KEY_BYTES,
  newFilePlan,
  signEntryStatement,
  signExportStatement,
  signRecord,
  signUploadStatements,
  signVersionStatement,
  VaultKey,
  verifyStatement,
  type SignedTitle,
} from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { patternBytes } from "../kit/bytes.ts";

const FILE_ID = "0197b6f0-0000-7000-8000-00000000f11e";
const FOLDER_ID = "0197b6f0-0000-7000-8000-00000000f01d";
const VERSION_1 = "0197b6f0-0000-7000-8000-000000000001";
const signer = ed25519StatementSigner(patternBytes("a member", 32));
const field = (name: string): Uint8Array => new Uint8Array(patternBytes(name, 32));
const uuid = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll("-", ""), "hex"));
const u64 = (value: bigint): Uint8Array => Uint8Array.from(Buffer.from(value.toString(16).padStart(16, "0"), "hex"));

/** The fields as the layout cuts them out of a statement. */
function cut(layout: object, bytes: Uint8Array): Record<string, Uint8Array> {
  const fields = Object.entries(layout).filter((one): one is [string, [number, number]] => Array.isArray(one[1]));
  return Object.fromEntries(fields.map(([name, [offset, length]]) => [name, bytes.slice(offset, offset + length)]));
}

it("file-format §1: what every encrypted file begins with", () => {
  const header = encodeHeader({ fileId: FILE_ID, versionId: VERSION_1, padded: false, envelopeLength: 0 });
  expect([...header.subarray(0, 8)]).toEqual(FILE_MAGIC);
});

it("file-format §8: a version statement", async () => {
  const envelopeOf = () => new Uint8Array(0);
  const file = { fileId: FILE_ID, versionId: VERSION_1, contentSize: 1, padded: false, envelopeOf };
  const headerPrefix = encodeFileStart(await newFilePlan(nodePlatform, file)).slice(0, 44);
  const bytes32 = { vault: field("v"), startDigest: field("s"), previous: field("p"), keyId: field("k") };
  const more = { commitment: field("c"), digest: field("d"), signer: field("a") };
  const numbers = { sequence: 2n, generation: 3n, after: 900_000n, messageLength: 73, time: 5 };
  const statement = await signVersionStatement({ ...bytes32, ...more, ...numbers, headerPrefix }, signer);
  expect(statement.bytes.length).toBe(VERSION_STATEMENT.bytes);
  const { header, ...fields } = cut(VERSION_STATEMENT, statement.bytes);
  expect(header).toEqual(headerPrefix);
  expect(fields).toEqual({
    ...bytes32,
    ...more,
    fileId: uuid(FILE_ID),
    versionId: uuid(VERSION_1),
    sequence: u64(2n),
    generation: u64(3n),
    after: u64(900_000n),
    messageLength: u64(73n),
    time: u64(5n),
  });
  await expectTitle(VERSION_STATEMENT.title, statement);
});

it("file-format §8: an entry statement", async () => {
  const bytes32 = {
    vault: field("v"),
    previous: field("p"),
    keyId: field("k"),
    metadataDigest: field("m"),
    signer: field("a"),
  };
  const names = { kind: "folder", id: FILE_ID, folderId: FOLDER_ID } as const;
  const statement = await signEntryStatement(
    { ...bytes32, ...names, revision: 2n, generation: 3n, after: 900_000n, time: 5 },
    signer,
  );
  expect(statement.bytes.length).toBe(ENTRY_STATEMENT.bytes);
  expect(cut(ENTRY_STATEMENT, statement.bytes)).toEqual({
    ...bytes32,
    kind: Uint8Array.of(ENTRY_KINDS.folder),
    id: uuid(FILE_ID),
    folderId: uuid(FOLDER_ID),
    revision: u64(2n),
    generation: u64(3n),
    after: u64(900_000n),
    time: u64(5n),
  });
  await expectTitle(ENTRY_STATEMENT.title, statement);
  expect(CRYPTO_KINDS).toEqual(ENTRY_KINDS);
});

it("file-format §8: a version and an entry under one signature", async () => {
  const zeros = new Uint8Array(32);
  const common = {
    vault: field("v"),
    previous: zeros,
    generation: 3n,
    after: 0n,
    keyId: field("k"),
    signer: field("a"),
  };
  const header = { fileId: FILE_ID, versionId: VERSION_1, padded: false };
  const { version, entry } = await signUploadStatements(
    {
      ...common,
      headerPrefix: encodeHeader({ ...header, envelopeLength: 0 }).slice(0, 44),
      startDigest: field("s"),
      sequence: 1n,
      commitment: field("c"),
      messageLength: 73,
      digest: field("d"),
      time: 5,
    },
    { ...common, kind: "file", id: FILE_ID, revision: 1n, folderId: null, metadataDigest: field("m"), time: 5 },
    signer,
  );
  const sha256 = (title: string, bytes: Uint8Array): Uint8Array =>
    createHash("sha256").update(`${title}\0`).update(bytes).digest();
  const [ofVersion, ofEntry] = [VERSION_STATEMENT, ENTRY_STATEMENT].map(({ fieldBytes, title }, index) =>
    sha256(title, (index === 0 ? version : entry).bytes.subarray(0, fieldBytes)),
  );
  const siblingOf = (bytes: Uint8Array, from: number) => Buffer.from(bytes.subarray(from, from + SIBLING_BYTES));
  expect(version.bytes.length).toBe(VERSION_STATEMENT.jointBytes);
  expect(entry.bytes.length).toBe(ENTRY_STATEMENT.jointBytes);
  expect(siblingOf(version.bytes, VERSION_STATEMENT.fieldBytes)).toEqual(ofEntry);
  expect(siblingOf(entry.bytes, ENTRY_STATEMENT.fieldBytes)).toEqual(ofVersion);
  const both = Buffer.concat([ofVersion ?? zeros, ofEntry ?? zeros]);
  expect(await verifyStatement(UPLOAD_TITLE, both, signer.publicKey, version.signature)).toBe(true);
  expect(entry.signature).toEqual(version.signature);
  const longest = (bytes: number) => Buffer.alloc(bytes).toString("base64");
  for (const [schema, { jointBytes }] of [
    [sharedHeaders["coffer-version"], VERSION_STATEMENT],
    [sharedHeaders["coffer-entry"], ENTRY_STATEMENT],
  ] as const) {
    expect(schema.safeParse(longest(jointBytes)).success).toBe(true);
    expect(schema.safeParse(longest(jointBytes + 3)).success).toBe(false);
  }
});

it("file-format §12: a statement about an export", async () => {
  const bytes32 = { vault: field("v"), manifestDigest: field("m"), signer: field("a") };
  const statement = await signExportStatement({ ...bytes32, generation: 3n, after: 900_000n, time: 5 }, signer);
  expect(statement.bytes.length).toBe(EXPORT_STATEMENT.bytes);
  const numbers = { generation: u64(3n), after: u64(900_000n), time: u64(5n) };
  expect(cut(EXPORT_STATEMENT, statement.bytes)).toEqual({ ...bytes32, ...numbers });
  await expectTitle(EXPORT_STATEMENT.title, statement);
});

it("file-format §7: a vault key's record", async () => {
  const fields = { vault: field("v"), creator: field("c"), check: field("h") };
  const sealedKey = new Uint8Array(KEY_RECORD.maxSealedBytes).fill(7);
  const record = await signRecord({ ...fields, generation: 3n, after: 900_000n, sealedKey }, signer);
  const length = Uint8Array.from([sealedKey.length >> 8, sealedKey.length & 0xff]);
  expect(cut(KEY_RECORD, record.bytes)).toEqual({
    ...fields,
    maker: fields.creator,
    made: record.made,
    generation: u64(3n),
    after: u64(900_000n),
    sealedLength: length,
  });
  expect(record.bytes.slice(KEY_RECORD.sealedOffset, -SIGNATURE_BYTES)).toEqual(sealedKey);
  expect(MAX_SEALED_KEY_BYTES).toBe(KEY_RECORD.maxSealedBytes);
  await expectTitle(KEY_RECORD.title, record);
});

it("file-format §7: a step of the ladder", async () => {
  const keyAt = (generation: bigint) => new VaultKey(field("v"), { generation, after: 900_000n }, field("k"));
  const step = await makeLadderStep(nodePlatform, keyAt(3n), keyAt(2n));
  expect(step.bytes.length).toBe(LADDER_STEP.bytes);
  const place = (generation: bigint) => Uint8Array.from([...u64(generation), ...u64(900_000n)]);
  const fields = { vault: field("v"), from: place(3n), to: place(2n), check: keyAt(2n).subkey("check") };
  expect(cut(LADDER_STEP, step.bytes)).toEqual(fields);
});

it("file-format §9: names that the service takes are names in metadata, and no others", () => {
  const names = [
    "a",
    "Ä.txt",
    "a b",
    "..",
    ".",
    "",
    " a",
    "a ",
    "a/b",
    "a\\b",
    "a\n",
    "\u007f",
    "\ud800",
    "n".repeat(256),
    ".a",
    "ﬁ",
    "\ufeffa",
  ];
  for (const name of names) {
    const taken = itemName.safeParse(name).success;
    const encode = (): unknown => encodeMetadata("file", { name, contentType: "a/b", size: 0 });
    if (taken) expect(encode, JSON.stringify(name)).not.toThrow();
    else expect(encode, JSON.stringify(name)).toThrow(RangeError);
  }
  expect(Math.max(...ENCRYPTED_METADATA_SIZES)).toBeLessThanOrEqual(640);
});

/** Signed under the title that the service asks for. */
async function expectTitle(
  title: SignedTitle,
  { bytes, signature }: { readonly bytes: Uint8Array; readonly signature: Uint8Array },
): Promise<void> {
  const body = bytes.subarray(0, -SIGNATURE_BYTES);
  expect(await verifyStatement(title, body, signer.publicKey, signature)).toBe(true);
}

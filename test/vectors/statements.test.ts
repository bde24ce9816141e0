import { readFileSync } from "node:fs";
import {
  CryptoError,
  decryptFile,
  encodeMetadata,
  encodePaddedMetadata,
  nameIndex,
  openEntry,
  parseFileStart,
  parseMetadata,
  parsePaddedMetadata,
  plainNameIndex,
  statementDigest,
  signStatement,
  ed25519StatementSigner,
  VaultKey,
  verifyEd25519,
  verifyExportStatement,
  verifyStatement,
  verifyVersion,
  webPlatform,
  type CryptoPlatform,
} from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { verifyPersonalMessageSignature } from "@mysten/sui/verify";
import { describe, expect, it } from "vitest";
import { KEYS, VIEWS, type KeyName, type ViewName } from "./statement-fixture.ts";
import { makeStatementVectors, type StatementVectors } from "./statement-vectors.ts";
import type { EntryCase, SeenVector, VersionCase } from "./statement-cases.ts";

const vectors = JSON.parse(
  readFileSync(new URL("file-format/statements.json", import.meta.url), "utf8"),
) as StatementVectors;
const PLATFORMS = [nodePlatform, webPlatform];

it("file-format §6: the committed vectors are what the code makes", async () => {
  expect(vectors).toEqual(JSON.parse(JSON.stringify(await makeStatementVectors())));
});

describe("file-format §6: signatures", () => {
  it("are those of the vectors", async () => {
    const [, member] = vectors.people;
    for (const { body, digest, signature, title } of vectors.signatures) {
      expect(statementDigest(title, bytes(body))).toEqual(bytes(digest));
      expect(await signStatement(title, bytes(body), ed25519StatementSigner(bytes(member!.seed)))).toEqual(bytes(signature));
      expect(await verifyStatement(title, bytes(body), bytes(member!.publicKey), bytes(signature))).toBe(true);
      // Without what is known of signatures that were made here.
      expect(await verifyEd25519(bytes(member!.publicKey), bytes(digest), bytes(signature))).toBe(true);
    }
  });

  it("are those of a Sui personal message, and Sui verifies them", async () => {
    const [, member] = vectors.people;
    const keypair = Ed25519Keypair.fromSecretKey(bytes(member!.seed));
    for (const { body, signature, title } of vectors.signatures) {
      const message = Uint8Array.from(Buffer.concat([Buffer.from(`${title}\0`), bytes(body)]));
      const theirs = await keypair.signPersonalMessage(message);
      expect(Buffer.from(theirs.signature, "base64").subarray(1, 65)).toEqual(Buffer.from(signature, "base64"));
      const serialized = Buffer.concat([Uint8Array.of(0), bytes(signature), bytes(member!.publicKey)]).toString("base64");
      const key = await verifyPersonalMessageSignature(message, serialized);
      expect(key.toSuiAddress()).toBe(keypair.toSuiAddress());
    }
  });

  it("are refused under keys of small order, with other encodings, and over other bytes", async () => {
    expect(vectors.forgedSignatures.length).toBeGreaterThan(25);
    for (const { message, name, publicKey, signature } of vectors.forgedSignatures)
      expect([name, await verifyEd25519(bytes(publicKey), bytes(message), bytes(signature))]).toEqual([name, false]);
  });
});

it("file-format §7: subkeys", () => {
  for (const { check, generation, key, metadata, name, nameIndex: index, wrap } of vectors.vaultKeys) {
    const { vault } = KEYS[name as KeyName];
    const vaultKey = new VaultKey(vault, BigInt(generation), bytes(key));
    const subkeys = (["wrap", "metadata", "name-index", "check"] as const).map((use) => vaultKey.subkey(use));
    expect(subkeys).toEqual([wrap, metadata, index, check].map(bytes));
  }
});

describe("file-format §9: metadata and names", () => {
  it("have one encoding", () => {
    for (const { encoded, kind, metadata, padded } of vectors.metadata) {
      expect(encodeMetadata(kind, metadata)).toEqual(bytes(encoded));
      expect(encodePaddedMetadata(kind, metadata)).toEqual(bytes(padded));
      expect(parseMetadata(kind, bytes(encoded))).toEqual(metadata);
      expect(parsePaddedMetadata(kind, bytes(padded))).toEqual(metadata);
    }
  });

  it("are refused in any other", () => {
    for (const { encoded, kind, name } of vectors.refusedMetadata)
      expect(() => parseMetadata(kind, bytes(encoded)), name).toThrow(CryptoError);
  });

  it("have the indexes of the vectors", () => {
    for (const { folderId, index, name, plainIndex, vaultKey } of vectors.nameIndexes) {
      expect(nameIndex(KEYS[vaultKey as KeyName], folderId, name)).toEqual(bytes(index));
      expect(plainNameIndex(folderId, name)).toEqual(bytes(plainIndex));
    }
  });
});

describe("file-format §10: the reading order", () => {
  it("opens or refuses every version at the step that the vectors name, on every platform", async () => {
    expect(vectors.versions.length).toBeGreaterThan(25);
    for (const platform of PLATFORMS)
      for (const version of vectors.versions)
        expect([version.name, await outcomeOf(() => readVersion(platform, version))]).toEqual([version.name, version.expect]);
  });

  it("opens or refuses every entry at the step that the vectors name, on every platform", async () => {
    for (const platform of PLATFORMS)
      for (const entry of vectors.entries)
        expect([entry.name, await outcomeOf(() => readEntry(platform, entry))]).toEqual([entry.name, entry.expect]);
  });
});

it("file-format §12: an export's statement is taken or refused at the step that the vectors name", async () => {
  expect(vectors.exports.length).toBeGreaterThan(12);
  for (const { expect: wanted, manifest, name, statement, vault, view } of vectors.exports) {
    const outcome = await outcomeOf(async () => {
      const place = { vault: bytes(vault), view: VIEWS[view as ViewName] };
      const { generation, signer, time } = await verifyExportStatement(place, bytes(manifest), bytes(statement));
      return { signer: Buffer.from(signer).toString("base64"), generation: String(generation), time };
    });
    expect([name, outcome]).toEqual([name, wanted]);
  }
});

async function readVersion(platform: CryptoPlatform, version: VersionCase): Promise<VersionCase["expect"]> {
  const { fileId, versionId, view } = version;
  const question = { vault: bytes(version.vault), view: VIEWS[view as ViewName], fileId, versionId, seen: seenOf(version.seen) };
  const file = bytes(version.file);
  const start = parseFileStart(file);
  const answer = { statement: bytes(version.statement), start, fileSize: file.length };
  const verified = await verifyVersion(platform, question, answer, () => KEYS[version.vaultKey as KeyName]);
  const pieces: Uint8Array[] = [];
  const body = new Response(file).body!;
  for await (const piece of decryptFile(platform, body, { unlock: () => verified })) pieces.push(piece);
  return { dataKey: Buffer.from(verified.dataKey.reveal()).toString("base64"), content: Buffer.concat(pieces).toString() };
}

async function readEntry(platform: CryptoPlatform, entry: EntryCase): Promise<EntryCase["expect"]> {
  const { id, kind, view } = entry;
  const question = { vault: bytes(entry.vault), view: VIEWS[view as ViewName], kind, id, seen: seenOf(entry.seen) };
  const record = entry.record === null ? null : bytes(entry.record);
  const answer = { statement: bytes(entry.statement), metadata: bytes(entry.metadata), record };
  const opened = await openEntry(platform, question, answer, () => KEYS[entry.vaultKey as KeyName]);
  return { metadata: opened.metadata, folderId: opened.statement.folderId };
}

async function outcomeOf(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    return { code: error.code, step: error.step };
  }
}

function seenOf(seen: SeenVector | null) {
  return seen === null ? null : { number: BigInt(seen.number), generation: BigInt(seen.generation), hash: bytes(seen.hash) };
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, "base64"));
}

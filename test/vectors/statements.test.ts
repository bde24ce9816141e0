import { readFileSync } from "node:fs";
import {
  ed25519StatementSigner,
  encodeFileStart,
  encryptMetadata,
  makeEntryStatement,
  makeEnvelope,
  makeExportStatement,
  makeVersionStatement,
  newFilePlan,
  parseEntryStatement,
  parseEnvelope,
  parseExportStatement,
  parseFileStart,
  parseRecord,
  parseVersionStatement,
  signRecord,
  webPlatform,
  encodeMetadata,
  type Author,
  type VersionStatement,
} from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { verifyPersonalMessageSignature } from "@mysten/sui/verify";
import { beforeAll, describe, expect, it } from "vitest";
import { base64, bytesOf } from "../browser/pages/base64.ts";
import { sha256Of } from "../kit/bytes.ts";
import { drawing } from "./drawing.ts";
import { expectMaterial, expectOutcomes } from "./expect-statements.ts";
import { readPlace, readStatements, type StatementsRead } from "./read-statements.ts";
import type { EntryCase, StatementVectors, VersionCase } from "./statement-vectors.ts";

const vectors = JSON.parse(
  readFileSync(new URL("file-format/statements.json", import.meta.url), "utf8"),
) as StatementVectors;

describe.each([nodePlatform, webPlatform])("on the $name platform", (platform) => {
  let made: StatementsRead;
  beforeAll(async () => {
    made = await readStatements(platform, vectors);
  });

  it("file-format §6 to §9: signatures, keys, metadata and names are those of the vectors", () => {
    expectMaterial(made, vectors);
  });

  it("file-format §10: the reading order opens or refuses every version and entry at the step that the vectors name", () => {
    expectOutcomes(made, vectors, "versions", "entries");
  });

  it("file-format §12: an export's statement is taken or refused at the step that the vectors name", () => {
    expectOutcomes(made, vectors, "exports");
  });
});

it("file-format §6: signatures are those of a Sui personal message, and Sui verifies them", async () => {
  const [, member] = vectors.people;
  const keypair = Ed25519Keypair.fromSecretKey(bytesOf(member!.seed));
  for (const { body, signature, title } of vectors.signatures) {
    const message = Uint8Array.from(Buffer.concat([Buffer.from(`${title}\0`), bytesOf(body)]));
    const theirs = await keypair.signPersonalMessage(message);
    expect(Buffer.from(theirs.signature, "base64").subarray(1, 65)).toEqual(Buffer.from(signature, "base64"));
    const signed = Buffer.concat([Uint8Array.of(0), bytesOf(signature), bytesOf(member!.publicKey)]).toString("base64");
    expect((await verifyPersonalMessageSignature(message, signed)).toSuiAddress()).toBe(keypair.toSuiAddress());
  }
});

describe("file-format §6: the committed vectors are what the code makes", () => {
  const known = readPlace(nodePlatform, vectors);
  const authors = vectors.people.map(({ address, seed }): Author & { readonly name: string } => {
    const signer = ed25519StatementSigner(bytesOf(seed));
    return { name: base64(signer.publicKey), address: bytesOf(address), signer };
  });
  const authorAt = (address: Uint8Array) => authors.find((one) => base64(one.address) === base64(address))!;
  /** When they signed. */
  const viewIn = (generation: bigint) => known.view(generation === 4n ? "in generation 4" : "now");
  const good = <Case extends { readonly expect: object }>(cases: readonly Case[]) =>
    cases.filter(({ expect: wanted }) => !("code" in wanted));

  it("of people", () => {
    expect(authors.map(({ name }) => name)).toEqual(vectors.people.map(({ publicKey }) => publicKey));
  });

  it("of versions", async () => {
    const cases = good<VersionCase>(vectors.versions);
    expect(cases.length).toBe(4);
    let previous: VersionStatement | null = null;
    for (const { expect: wanted, file, statement, vaultKey, versionId, seen } of cases) {
      const { content, dataKey } = wanted as { readonly content: string; readonly dataKey: string };
      const signed = parseVersionStatement(bytesOf(statement));
      const start = parseFileStart(bytesOf(file));
      const { record, wrapped } = parseEnvelope(start.envelope);
      expect(await signRecord(record, authorAt(record.creator).signer)).toEqual(record);
      const salt = bytesOf(file).subarray(start.payloadOffset);
      const platform = drawing(bytesOf(dataKey), salt.subarray(0, 24), wrapped.subarray(0, 24));
      const plan = await newFilePlan(platform, {
        ...{ ...start.header, contentSize: content.length },
        envelopeOf: (request) => makeEnvelope(platform, record, known.key(vaultKey), request),
      });
      const chunks = await plan.keys.encrypt(Buffer.from(content), 0, true);
      expect(base64(Buffer.concat([encodeFileStart(plan), chunks]))).toBe(file);
      const digest = signed.digest.some((byte) => byte !== 0) ? signed.digest : null;
      const { commitment } = plan.keys;
      const { messageLength, time } = signed;
      const version = { record, header: plan.header, envelope: plan.envelope, commitment, messageLength, digest, time };
      const made: VersionStatement = await makeVersionStatement(viewIn(signed.generation), authorAt(signed.signer), {
        ...version,
        previous: seen === null ? null : previous,
      });
      expect([versionId, base64(made.bytes)]).toEqual([versionId, statement]);
      const message = bytesOf(file).subarray(start.payloadOffset);
      if (digest !== null) expect(Buffer.from(digest).toString("hex")).toBe(sha256Of(message));
      previous = made;
    }
  });

  it("of entries", async () => {
    const cases = good<EntryCase>(vectors.entries);
    expect(cases.length).toBe(3);
    let previous: Parameters<typeof makeEntryStatement>[2]["previous"] = null;
    for (const { expect: wanted, id, kind, metadata, record, seen, statement, vaultKey, view } of cases) {
      const { folderId, metadata: plain } = wanted as Exclude<EntryCase["expect"], { readonly code: string }>;
      const { revision, signer, time } = parseEntryStatement(bytesOf(statement));
      const keyRecord = record === null ? null : parseRecord(bytesOf(record));
      const encoded =
        keyRecord === null
          ? encodeMetadata(kind, plain)
          : await encryptMetadata(
              drawing(bytesOf(metadata).subarray(0, 24)),
              known.key(vaultKey),
              { kind, id, revision, keyId: keyRecord.keyId },
              plain,
            );
      expect(base64(encoded)).toBe(metadata);
      const entry = { kind, id, folderId, metadata: encoded, record: keyRecord, time };
      const before = seen === null ? null : previous;
      const made = await makeEntryStatement(known.view(view), authorAt(signer), { ...entry, previous: before });
      expect(base64(made.bytes)).toBe(statement);
      previous = made;
    }
  });

  it("of exports", async () => {
    const cases = good(vectors.exports);
    expect(cases.length).toBe(2);
    for (const { manifest, statement } of cases) {
      const { generation, signer, time } = parseExportStatement(bytesOf(statement));
      const made = await makeExportStatement(viewIn(generation), authorAt(signer), bytesOf(manifest), time);
      expect(base64(made.bytes)).toBe(statement);
    }
  });
});

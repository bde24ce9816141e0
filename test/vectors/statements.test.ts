import { readFileSync } from "node:fs";
import { webPlatform } from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { verifyPersonalMessageSignature } from "@mysten/sui/verify";
import { beforeAll, describe, expect, it } from "vitest";
import { bytesOf } from "../browser/pages/base64.ts";
import { makeStatementVectors } from "./make-statements.ts";
import { expectMaterial, expectOutcomes } from "./expect-statements.ts";
import { readStatements, type StatementsRead } from "./read-statements.ts";
import type { StatementVectors } from "./statement-vectors.ts";

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

  it("file-format §10: the reading order opens or refuses every version and entry at the step that the vectors name [S14 S15 S18 M7 M14 R8]", () => {
    expectOutcomes(made, vectors, "versions", "entries");
  });

  it("file-format §7.5: a step of the ladder opens its key, or is refused at the step that the vectors name", () => {
    expectOutcomes(made, vectors, "ladder");
  });

  it("file-format §12: an export's statement is taken or refused at the step that the vectors name [X5]", () => {
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

it("file-format §6: the committed vectors are what the code makes", async () => {
  expect(await makeStatementVectors(vectors)).toEqual(vectors);
});

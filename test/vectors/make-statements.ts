/** The vectors of file-format §6 to §12, made. */
import { ed25519StatementSigner, NO_END, signStatement, statementDigest, type SignedTitle, type VaultView } from "@coffer/crypto";
import { base64 } from "../browser/pages/base64.ts";
import { makeActCases } from "./act-cases.ts";
import { makeEntryCases } from "./entry-cases.ts";
import { makeExportCases } from "./export-cases.ts";
import { makeLadderCases } from "./ladder-cases.ts";
import { bytesOf, KEYS, PEOPLE, VIEWS, type Person } from "./statement-fixture.ts";
import type { PersonVector, SignatureVector, StatementVectors, ViewVector } from "./statement-vectors.ts";
import { makeVersionCases } from "./version-cases.ts";

/** What no place and no sibling is in stays as it was `kept`: forged signatures, metadata, names. */
export async function makeStatementVectors(kept: StatementVectors): Promise<StatementVectors> {
  const acts = await makeActCases();
  return {
    ...kept,
    about: [
      "Vectors for sections 6 to 10 and 12 of docs/spec/file-format.md. Bytes are base64; integers of 64 bits are decimal texts.",
      "Sealed keys in the records are placeholders: unwrapping one is given by the case's vaultKey.",
      "A case's view is what the chain says; vault, ids and seen are what the reader knows; the rest is the service's answer.",
    ],
    people: Object.entries(PEOPLE).map(([name, person]) => personVector(name, person)),
    vaultKeys: Object.entries(KEYS).map(([name, key]) => ({
      name, generation: String(key.generation), after: String(key.after), key: base64(key.reveal()),
      wrap: base64(key.subkey("wrap")), metadata: base64(key.subkey("metadata")),
      nameIndex: base64(key.subkey("name-index")), ladder: base64(key.subkey("ladder")), check: base64(key.subkey("check")),
    })),
    signatures: await Promise.all(SIGNED.map(signatureVector)),
    views: Object.fromEntries(Object.entries(VIEWS).map(([name, view]) => [name, viewVector(view)])),
    versions: [...(await makeVersionCases()), ...acts.versions],
    entries: [...(await makeEntryCases()), ...acts.entries],
    exports: await makeExportCases(),
    ladder: await makeLadderCases(),
  };
}

function personVector(name: string, { address, seed, signer }: Person): PersonVector {
  return { name, address: base64(address), seed: base64(seed), publicKey: base64(signer.publicKey) };
}

const SIGNED: readonly (readonly [SignedTitle, Uint8Array])[] = [
  ["coffer/vault-key/v1", bytesOf("", 0)],
  ["coffer/vault-key/v1", bytesOf("a record", 513)],
  ["coffer/vault-key-made/v1", bytesOf("a making", 112)],
  ["coffer/version/v1", bytesOf("a version", 308)],
  // 109 and 110 bytes: with title and zero 127 and 128, where the BCS length becomes two bytes.
  ["coffer/version/v1", bytesOf("a short one", 109)],
  ["coffer/version/v1", bytesOf("a longer one", 110)],
  ["coffer/entry/v1", bytesOf("an entry", 225)],
  ["coffer/upload/v1", bytesOf("two digests", 64)],
  ["coffer/export/v1", bytesOf("an export", 120)],
];

async function signatureVector([title, body]: (typeof SIGNED)[number]): Promise<SignatureVector> {
  const signature = await signStatement(title, body, ed25519StatementSigner(PEOPLE.member.seed));
  const digest = base64(statementDigest(title, body));
  return { title, body: base64(body), person: "member", digest, signature: base64(signature) };
}

function viewVector({ base, floor, former, generation, members, owner, plainNames, time, upTo, vault }: VaultView): ViewVector {
  const entry = ({ address, endsAt, signingKey, since }: VaultView["owner"]) => ({
    address: base64(address), signingKey: base64(signingKey), since: String(since),
    endsAt: endsAt === NO_END ? null : String(endsAt),
  });
  return {
    vault: base64(vault), generation: String(generation), floor: String(floor), base: String(base),
    time: String(time), plainNames, owner: entry(owner),
    members: members.map((one) => ({ ...entry(one), until: one.until === null ? null : String(one.until) })),
    former: former.map((one) => ({ ...entry(one), until: String(one.until) })),
    upTo: upTo === undefined ? null : { generation: String(upTo.generation), after: String(upTo.after) },
  };
}

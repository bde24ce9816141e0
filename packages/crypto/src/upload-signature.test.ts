/** One signature for a version and its entry: what a member, the service, or both could do with half of it. */
import nodeCrypto from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { concatBytes } from "./bytes.ts";
import { ed25519StatementSigner } from "./ed25519.ts";
import {
  ENTRY_STATEMENT_BYTES,
  JOINT_ENTRY_STATEMENT_BYTES,
  parseEntryStatement,
  signEntryStatement,
  type EntryFields,
  type EntryStatement,
} from "./entry-statement.ts";
import { parseFileStart } from "./file-start.ts";
import { encodeHeaderPrefix } from "./header.ts";
import type { VaultView } from "./membership.ts";
import { webPlatform } from "./platform/web.ts";
import { END_STEP_MS } from "./place.ts";
import { verifyEntryStatement, verifyVersion, verifyVersionStatement } from "./reading-order.ts";
import { signStatement } from "./signatures.ts";
import { statementHash } from "./statement-chain.ts";
import {
  at,
  bitFlips,
  ENTRY,
  entryOf,
  failureOf,
  FILE_ID,
  FOLDER_ID,
  MEMBER,
  OWNER,
  TIME,
  VAULT,
  VIEW,
  writeVersion,
} from "./vault.test-kit.ts";
import { requireSiblings } from "./upload-signature.ts";
import {
  JOINT_VERSION_STATEMENT_BYTES,
  parseVersionStatement,
  signVersionStatement,
  VERSION_STATEMENT_BYTES,
  type VersionFields,
} from "./version-statement.ts";
import { signUploadStatements } from "./new-statements.ts";

const VERSION: VersionFields = {
  vault: VAULT,
  headerPrefix: encodeHeaderPrefix({
    fileId: FILE_ID,
    versionId: "0197b6f0-0000-7000-8000-000000000001",
    padded: false,
  }),
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
const OTHER_VAULT = new Uint8Array(32).fill(0xbb);

const version = (bytes: Uint8Array, view: VaultView = VIEW) =>
  failureOf(() => verifyVersionStatement({ vault: view.vault, view, seen: null }, bytes));
const entry = (bytes: Uint8Array, view: VaultView = VIEW) =>
  failureOf(() => verifyEntryStatement({ vault: view.vault, view, seen: null }, bytes));

/** Statements cut into what is signed of them, the sibling's digest, and the signature. */
const cut = (bytes: Uint8Array) => [bytes.subarray(0, -96), bytes.subarray(-96, -64), bytes.subarray(-64)] as const;

/** What a forger signs: any version beside any entry, with one key, whoever they name. */
async function forge(of: Partial<VersionFields>, beside: Partial<EntryFields>, signer = MEMBER.signer) {
  const lone = {
    version: (await signVersionStatement({ ...VERSION, ...of }, signer)).bytes.subarray(0, -64),
    entry: (await signEntryStatement({ ...ENTRY, ...beside }, signer)).bytes.subarray(0, -64),
  };
  const digests = [digestOf("coffer/version/v1", lone.version), digestOf("coffer/entry/v1", lone.entry)] as const;
  const signature = await signStatement("coffer/upload/v1", concatBytes(...digests), signer);
  return {
    version: concatBytes(lone.version, digests[1], signature),
    entry: concatBytes(lone.entry, digests[0], signature),
  };
}

/** As the format has it, and not by the package's own function. */
function digestOf(title: string, body: Uint8Array): Uint8Array {
  return Uint8Array.from(nodeCrypto.createHash("sha256").update(`${title}\0`).update(body).digest());
}

describe("one signature for a version and its entry", () => {
  it("is good for both, and is verified once", async () => {
    const quiet = ed25519StatementSigner(new Uint8Array(32).fill(0x61));
    const view = { ...VIEW, members: [{ ...entryOf(MEMBER, 3n), signingKey: quiet.publicKey }] };
    const made = await signUploadStatements(VERSION, ENTRY, quiet);
    expect(made.version.bytes.length).toBe(JOINT_VERSION_STATEMENT_BYTES);
    expect(made.entry.bytes.length).toBe(JOINT_ENTRY_STATEMENT_BYTES);
    expect(made.version.signature).toEqual(made.entry.signature);
    // Another process: what this one signed was not verified there yet.
    vi.resetModules();
    const fresh = await import("./reading-order.ts");
    const verify = vi.spyOn(nodeCrypto, "verify");
    await fresh.verifyVersionStatement({ vault: VAULT, view, seen: null }, made.version.bytes);
    await fresh.verifyEntryStatement({ vault: VAULT, view, seen: null }, made.entry.bytes);
    expect(verify).toHaveBeenCalledTimes(1);
    verify.mockRestore();
    expect(await forge({}, {}, quiet)).toEqual({ version: made.version.bytes, entry: made.entry.bytes });
  });

  it("is refused for every bit that is another, in either statement", async () => {
    const made = await signUploadStatements(VERSION, ENTRY, MEMBER.signer);
    for (const flipped of bitFlips(made.version.bytes)) expect(await version(flipped)).not.toBe("accepted");
    for (const flipped of bitFlips(made.entry.bytes)) expect(await entry(flipped)).not.toBe("accepted");
  });

  it("lets no member sign for another: an entry that names somebody else is not theirs, beside whatever version [M13]", async () => {
    const made = await forge({}, { signer: OWNER.address });
    expect(await version(made.version)).toBe("accepted");
    expect(await entry(made.entry)).toBe("entry damaged");
    const turned = await forge({ signer: OWNER.address }, {});
    expect(await version(turned.version)).toBe("statement damaged");
    expect(await entry(turned.entry)).toBe("accepted");
  });

  it("is of the signer's key at each statement's own place", async () => {
    // Joined in generation 5: what it says of 4 is nobody's, also beside what it may say.
    const view = { ...VIEW, members: [{ ...entryOf(MEMBER, 5n) }] };
    const made = await forge({}, { generation: 4n });
    expect(await version(made.version, view)).toBe("accepted");
    expect(await entry(made.entry, view)).toBe("entry damaged");
  });

  it("is not a good one for another sibling's digest, nor that of another upload", async () => {
    const [made, other] = [
      await signUploadStatements(VERSION, ENTRY, MEMBER.signer),
      await signUploadStatements({ ...VERSION, time: TIME + 1 }, { ...ENTRY, time: TIME + 1 }, MEMBER.signer),
    ];
    const [body, sibling, signature] = cut(made.version.bytes);
    const [entryBody, entrySibling] = cut(made.entry.bytes);
    const [, otherSibling, otherSignature] = cut(other.version.bytes);
    expect(await version(concatBytes(body, otherSibling, signature))).toBe("statement damaged");
    expect(await version(concatBytes(body, sibling, otherSignature))).toBe("statement damaged");
    expect(await version(concatBytes(body, otherSibling, otherSignature))).toBe("statement damaged");
    expect(await entry(concatBytes(entryBody, cut(other.entry.bytes)[1], signature))).toBe("entry damaged");
    expect(await entry(concatBytes(entryBody, sibling, signature))).toBe("entry damaged");
    expect(await version(concatBytes(body, entrySibling, signature))).toBe("statement damaged");
  });

  it("gives nobody else what a member's digest stands for: signed beside one's own version, the entry stays the member's own [M13]", async () => {
    const made = await signUploadStatements(VERSION, ENTRY, MEMBER.signer);
    const [entryBody] = cut(made.entry.bytes);
    const own = await forge({ signer: OWNER.address }, {}, OWNER.signer);
    // The owner's version names the member's entry; the entry beside it would need the member's key.
    expect(await version(own.version)).toBe("accepted");
    expect(await entry(concatBytes(entryBody, cut(own.entry)[1], cut(own.entry)[2]))).toBe("entry damaged");
    const shown = () => requireSiblings(parseVersionStatement(own.version), made.entry);
    expect(await failureOf(shown)).toBe("ids damaged");
  });

  it("makes no lone statement of a joint one, and the reverse [M13]", async () => {
    const made = await signUploadStatements(VERSION, ENTRY, MEMBER.signer);
    const lone = await signVersionStatement(VERSION, MEMBER.signer);
    const loneEntry = await signEntryStatement(ENTRY, MEMBER.signer);
    const [body, sibling, signature] = cut(made.version.bytes);
    const [entryBody, entrySibling] = cut(made.entry.bytes);
    expect(concatBytes(body, signature).length).toBe(VERSION_STATEMENT_BYTES);
    expect(concatBytes(entryBody, signature).length).toBe(ENTRY_STATEMENT_BYTES);
    expect(await version(concatBytes(body, signature))).toBe("statement damaged");
    expect(await entry(concatBytes(entryBody, signature))).toBe("entry damaged");
    expect(await version(concatBytes(body, sibling, lone.signature))).toBe("statement damaged");
    expect(await version(concatBytes(body, new Uint8Array(32), lone.signature))).toBe("statement damaged");
    expect(await entry(concatBytes(entryBody, entrySibling, loneEntry.signature))).toBe("entry damaged");
    expect(await version(lone.bytes)).toBe("accepted");
    expect(await entry(loneEntry.bytes)).toBe("accepted");
  });

  it("is part of what the next statement names", async () => {
    const made = await signUploadStatements(VERSION, ENTRY, MEMBER.signer);
    const lone = await signVersionStatement(VERSION, MEMBER.signer);
    expect(statementHash(made.version.bytes)).not.toEqual(statementHash(lone.bytes));
    expect(statementHash(made.version.bytes)).toEqual(
      Uint8Array.from(nodeCrypto.createHash("sha256").update(made.version.bytes).digest()),
    );
  });
});

describe("a version and an entry that name each other", () => {
  const cases: readonly (readonly [string, Partial<VersionFields>, Partial<EntryFields>])[] = [
    ["of another vault", {}, { vault: OTHER_VAULT }],
    ["of another file", {}, { id: FOLDER_ID, folderId: null }],
    ["of a folder", {}, { kind: "folder" }],
    ["of another signer", {}, { signer: OWNER.address }],
    ["of another generation", {}, { generation: 4n }],
    ["of another place in the generation", {}, { after: END_STEP_MS }],
  ];

  it.each(cases)("are refused together: an entry %s [M13]", async (_, of, beside) => {
    const made = await forge(of, beside);
    const shown = () => requireSiblings(parseVersionStatement(made.version), parseEntryStatement(made.entry));
    expect(await failureOf(shown)).toBe("ids damaged");
    expect(
      await failureOf(() => signUploadStatements({ ...VERSION, ...of }, { ...ENTRY, ...beside }, MEMBER.signer)),
    ).toBe("ids damaged");
  });

  it("are held to it by who reads the version", async () => {
    const good = await signUploadStatements(VERSION, ENTRY, MEMBER.signer);
    const other = await forge({}, { signer: OWNER.address });
    const start = parseFileStart((await writeVersion(webPlatform)).file);
    const read = (bytes: Uint8Array, beside: EntryStatement) =>
      failureOf(() =>
        verifyVersion(
          webPlatform,
          { vault: VAULT, view: VIEW, seen: null, fileId: FILE_ID, versionId: null, entry: beside },
          { statement: bytes, start, fileSize: null },
          () => Promise.reject(new Error("asked for no key")),
        ),
      );
    expect(await read(other.version, parseEntryStatement(other.entry))).toBe("ids damaged");
    // Goes on to what is not these statements' own.
    expect(await read(good.version.bytes, good.entry)).toBe("start damaged");
  });

  it("are one act; others may have come in the place of either since", async () => {
    const made = await signUploadStatements(VERSION, ENTRY, MEMBER.signer);
    const renamed = await signEntryStatement(
      { ...ENTRY, revision: 2n, previous: statementHash(made.entry.bytes), signer: OWNER.address },
      OWNER.signer,
    );
    const rewritten = await signVersionStatement(
      { ...VERSION, sequence: 2n, previous: statementHash(made.version.bytes), signer: OWNER.address },
      OWNER.signer,
    );
    expect(await failureOf(() => requireSiblings(made.version, made.entry))).toBe("accepted");
    expect(await failureOf(() => requireSiblings(made.version, renamed))).toBe("accepted");
    expect(await failureOf(() => requireSiblings(rewritten, made.entry))).toBe("accepted");
  });
});

import { randomUUID } from "node:crypto";
import { END_STEP } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { newTestVault } from "../../drivers/chain/chain.test-kit.ts";
import { ServiceError } from "../../service-error.ts";
import { openSigner } from "../chain-proofs/signer.test-kit.ts";
import type { Writer } from "../reach/access.ts";
import { parseEntryStatement, parseKeyRecord, parseVersionStatement, ZERO_DIGEST } from "./statements.ts";
import {
  requireEntry,
  requireOneAct,
  requireSealedAgain,
  requireSignedAlone,
  requireVersion,
} from "./statement-rules.ts";
import {
  digestOfBase64,
  digestOfFields,
  type EntryToSign,
  headerOf,
  signEntry,
  signRecord,
  signTogether,
  signVersion,
  type VersionToSign,
} from "./statements.test-kit.ts";

const signer = openSigner(new Uint8Array(32).fill(1));
const other = openSigner(new Uint8Array(32).fill(2));
const vault = `0x${"a".repeat(64)}`;
const keyId = "cd".repeat(32);
const [fileId, versionId, folderId] = [randomUUID(), randomUUID(), randomUUID()];

function writerAt(generation: number, plainNames = false): Writer {
  const owner = { address: signer.chainAddress, signingKey: signer.publicKey };
  const chain = { ...newTestVault(owner, { generation, plainNames }), objectId: vault, readAt: 0, time: 0 };
  return { chain, member: chain.owner };
}

const version: VersionToSign = { vault, fileId, versionId, generation: 3, keyId, time: 1_800_000_000_000 };
const entry: EntryToSign = { vault, kind: "file", id: fileId, generation: 3, keyId, metadata: "bWV0YQ==" };

/** Its code, and for `statement_invalid` what does not fit. */
function said(act: () => unknown): string {
  try {
    act();
    return "ok";
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.code === "statement_invalid" ? error.message : error.code;
  }
}

describe("a version statement", () => {
  const check = (text: string, expected: Partial<Parameters<typeof requireVersion>[2]> = {}, generation = 3) =>
    said(() => requireVersion(writerAt(generation), parseVersionStatement(text), { keyId, before: null, ...expected }));

  it("says where each of its parts lies", () => {
    const [startDigest, messageDigest] = ["12".repeat(32), "34".repeat(32)];
    const text = signVersion(signer, { ...version, startDigest, messageDigest, messageLength: 4097, sequence: 1 });
    const { header, bytes, ...fields } = parseVersionStatement(text);
    expect(Buffer.from(header)).toEqual(Buffer.from(headerOf(version)));
    expect(bytes).toHaveLength(372);
    expect(fields).toEqual({
      vault,
      fileId,
      versionId,
      startDigest,
      messageDigest,
      messageLength: 4097,
      generation: 3,
      after: 0,
      keyId,
      sequence: 1,
      previous: ZERO_DIGEST,
      signer: signer.chainAddress,
      time: 1_800_000_000_000,
      digest: digestOfBase64(text),
      sibling: null,
      fieldsDigest: digestOfFields("coffer/version/v1", bytes.subarray(0, 308)).toString("hex"),
    });
    expect(parseVersionStatement(signVersion(signer, version)).messageDigest).toBeNull();
    expect(check(text)).toBe("ok");
  });

  it("follows the one before it, by number and digest", () => {
    const first = signVersion(signer, version);
    const before = { digest: digestOfBase64(first), count: 1 };
    const second = { ...version, versionId: randomUUID(), sequence: 2, previous: first };
    expect(check(signVersion(signer, second), { before })).toBe("ok");
    expect(check(signVersion(signer, second))).toBe("version: its number is 2, the next one is 1");
    expect(check(first, { before })).toBe("version: its number is 1, the next one is 2");
    const skipping = signVersion(signer, { ...second, sequence: 3 });
    expect(check(skipping, { before })).toBe("version: its number is 3, the next one is 2");
    const { previous: _, ...rootless } = second;
    for (const wrong of [rootless, { ...second, previous: signVersion(signer, second) }])
      expect(check(signVersion(signer, wrong), { before })).toBe("version: it does not follow the current one");
    const rooted = signVersion(signer, { ...version, previous: first });
    expect(check(rooted)).toBe("version: it does not follow the current one");
  });

  it("is of this vault, this generation, its current key and the caller", () => {
    const elsewhere = signVersion(signer, { ...version, vault: `0x${"b".repeat(64)}` });
    expect(check(elsewhere)).toBe("version: it is for another vault");
    for (const generation of [2, 4])
      expect(check(signVersion(signer, { ...version, generation }))).toBe("generation_moved");
    expect(check(signVersion(signer, version), { keyId: "ef".repeat(32) })).toBe(
      "version: it names another vault key than the current one of its place",
    );
    expect(check(signVersion(signer, version), { keyId: null })).toBe("version: the place has no vault key yet");
    expect(check(signVersion(other, version))).toBe("version: the signer is not the caller's chain address");
    const inMyName = signVersion(other, { ...version, signer: signer.chainAddress });
    expect(check(inMyName)).toBe("version: the signature is not of the caller's signing key");
  });

  it("is refused with any bit changed", () => {
    const bytes = Buffer.from(signVersion(signer, version), "base64");
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at & 7));
      expect(check(changed.toString("base64"))).not.toBe("ok");
    }
  });

  it("is no other statement: neither length nor title fit", () => {
    expect(check(signEntry(signer, entry))).toBe("version: a statement has 372 or 404 bytes");
    const { bytes } = parseVersionStatement(signVersion(signer, version));
    // The signature of another kind of statement over the same bytes.
    const crossed = Buffer.from(bytes);
    crossed.set(Buffer.from(signEntry(signer, entry), "base64").subarray(-64), 308);
    expect(check(crossed.toString("base64"))).toBe("version: the signature is not of the caller's signing key");
  });

  it.each(["", "AAAA", "not base64", `${signVersion(signer, version)}\n`, signVersion(signer, version).slice(0, -4)])(
    "is not %j",
    (text) => {
      expect(check(text)).toMatch(/^version: (not base64|a statement has 372 or 404 bytes)$/);
    },
  );

  it("has no number above 2^53", () => {
    for (const at of [108, 148, 156, 228, 300]) {
      const bytes = Buffer.from(signVersion(signer, version), "base64");
      bytes.fill(0xff, at, at + 8);
      expect(check(bytes.toString("base64"))).toBe("A number in the statement is too large");
    }
  });
});

describe("the place of a statement", () => {
  const END = 1_800_000_000_000;
  /** Of a vault in generation 3, in which somebody else's membership ends then. */
  const writerIn = (time: number, until: number | null = null): Writer => {
    const { chain, member } = writerAt(3);
    const ending = { address: other.chainAddress, signingKey: other.publicKey, since: 1, endsAt: END, until };
    return { chain: { ...chain, members: [ending], time }, member };
  };
  const check = (writer: Writer, after: number) =>
    said(() =>
      requireVersion(writer, parseVersionStatement(signVersion(signer, { ...version, after })), {
        keyId,
        before: null,
      }),
    );

  it("is the vault's: before an end that has passed, or after one that has not, nothing is taken [M14]", () => {
    expect(check(writerIn(END - 1), 0)).toBe("ok");
    expect(check(writerIn(END - 1), END)).toBe("generation_moved");
    expect(check(writerIn(END), 0)).toBe("generation_moved");
    expect(check(writerIn(END), END - END_STEP)).toBe("generation_moved");
    expect(check(writerIn(END), END)).toBe("ok");
    // A marked end has a generation of its own behind it.
    expect(check(writerIn(END, 2), 0)).toBe("ok");
  });

  it("may be a later one that has been reached, which somebody saw before an end was extended", () => {
    expect(check(writerIn(END + END_STEP), END + END_STEP)).toBe("ok");
    expect(check(writerIn(END + END_STEP - 1), END + END_STEP)).toBe("generation_moved");
  });

  it("is no time at which no membership ends", () => {
    expect(check(writerIn(END + 1), END + 1)).toBe("The statement's place is at a time at which no membership ends");
  });

  it("of a key sealed again may be an earlier one of the caller's, and none that is to come", () => {
    const seal = (writer: Writer, after: number, generation = 3) =>
      said(() => requireSealedAgain(writer, parseKeyRecord(signRecord(signer, { vault, generation, after }))));
    expect(seal(writerIn(END), 0)).toBe("ok");
    expect(seal(writerIn(END), END)).toBe("ok");
    expect(seal(writerIn(END - 1), END)).toBe("generation_moved");
    expect(seal(writerIn(END), 0, 4)).toBe("generation_moved");
  });
});

it("a statement that was found good for one signing key is not so for another, nor refused for good", () => {
  const writer = writerAt(3);
  const rekeyed = { ...writer, member: { ...writer.member, signingKey: other.publicKey } };
  const good = parseVersionStatement(signVersion(signer, version));
  const expected = { keyId, before: null };
  const refusal = "version: the signature is not of the caller's signing key";
  expect(said(() => requireVersion(rekeyed, good, expected))).toBe(refusal);
  expect(said(() => requireVersion(writer, good, expected))).toBe("ok");
  expect(said(() => requireVersion(writer, good, expected))).toBe("ok");
  expect(said(() => requireVersion(rekeyed, good, expected))).toBe(refusal);
  // What holds beside the signature is asked every time.
  expect(said(() => requireVersion(writer, good, { ...expected, keyId: "ef".repeat(32) }))).toContain(
    "another vault key",
  );
  expect(said(() => requireVersion(writerAt(4), good, expected))).toBe("generation_moved");
});

describe("an entry statement", () => {
  const check = (
    text: string,
    { plainNames = false, ...expected }: { plainNames?: boolean; keyId?: string | null; before?: null } = {},
  ) =>
    said(() => requireEntry(writerAt(3, plainNames), parseEntryStatement(text), { keyId, before: null, ...expected }));

  it("says where each of its parts lies", () => {
    const text = signEntry(signer, { ...entry, kind: "folder", folderId });
    const { bytes, ...fields } = parseEntryStatement(text);
    expect(bytes).toHaveLength(289);
    expect(fields).toEqual({
      vault,
      kind: "folder",
      id: fileId,
      revision: 1,
      previous: ZERO_DIGEST,
      generation: 3,
      after: 0,
      keyId,
      folderId,
      metadataDigest: digestOfBase64("bWV0YQ=="),
      signer: signer.chainAddress,
      time: 1,
      digest: digestOfBase64(text),
      sibling: null,
      fieldsDigest: digestOfFields("coffer/entry/v1", bytes.subarray(0, 225)).toString("hex"),
    });
    expect(parseEntryStatement(signEntry(signer, entry))).toMatchObject({ kind: "file", folderId: null });
    expect(check(text)).toBe("ok");
  });

  it("names no key where names are plain, and the current one elsewhere", () => {
    const { keyId: _, ...plain } = entry;
    expect(check(signEntry(signer, plain), { plainNames: true })).toBe("ok");
    expect(check(signEntry(signer, plain), { plainNames: true, keyId: null })).toBe("ok");
    const another = "entry: it names another vault key than the current one of its place";
    expect(check(signEntry(signer, entry), { plainNames: true })).toBe(another);
    expect(check(signEntry(signer, plain))).toBe(another);
    expect(check(signEntry(signer, entry), { keyId: null })).toBe("entry: the place has no vault key yet");
  });

  it("is refused with any bit changed, and for another kind than there is", () => {
    const bytes = Buffer.from(signEntry(signer, entry), "base64");
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at & 7));
      expect(check(changed.toString("base64"))).not.toBe("ok");
    }
    for (const kind of [0, 3, 255]) {
      const changed = Buffer.from(bytes);
      changed[32] = kind;
      expect(check(changed.toString("base64"))).toBe("entry: unknown kind");
    }
  });
});

it("a record ends where it says, and what it says fits", () => {
  const text = signRecord(signer, { vault, generation: 3, sealedKey: new Uint8Array(200) });
  const { bytes, made, ...fields } = parseKeyRecord(text);
  expect(bytes).toHaveLength(210 + 200 + 64);
  expect(made).toMatch(/^[0-9a-f]{128}$/);
  expect(fields).toEqual({
    vault,
    check: "07".repeat(32),
    generation: 3,
    after: 0,
    creator: signer.chainAddress,
    maker: signer.chainAddress,
    keyId: digestOfBase64(text),
  });
  for (const length of [0, 199, 201, 65_535]) {
    const changed = Buffer.from(bytes);
    changed.writeUInt16BE(length, 208);
    expect(said(() => parseKeyRecord(changed.toString("base64")))).toBe("record: its length is not what it says");
  }
  expect(said(() => parseKeyRecord(Buffer.from(bytes.subarray(0, 274)).toString("base64")))).toBe("record: too short");
});

describe("a version and an entry under one signature", () => {
  const expected = { keyId, before: null };
  const alone = { version: signVersion(signer, version), entry: signEntry(signer, entry) };
  const both = signTogether(signer, alone);
  /** As an upload is held to the truth. */
  const check = (texts: { readonly version: string; readonly entry: string }) =>
    said(() => {
      const [ofVersion, ofEntry] = [parseVersionStatement(texts.version), parseEntryStatement(texts.entry)];
      requireOneAct(ofVersion, ofEntry);
      requireVersion(writerAt(3), ofVersion, expected);
      requireEntry(writerAt(3), ofEntry, expected);
    });
  const apart = /^(version|entry): it was not signed together with the (entry|version) that comes with it$/;

  it("are accepted together, and never when each was signed alone", () => {
    expect(check(both)).toBe("ok");
    expect(check(alone)).toMatch(apart);
    expect(parseVersionStatement(both.version).sibling).toBe(parseEntryStatement(both.entry).fieldsDigest);
  });

  it("are refused with any bit changed", () => {
    for (const which of ["version", "entry"] as const) {
      const bytes = Buffer.from(both[which], "base64");
      for (let at = 0; at < bytes.length; at += 1) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ (1 << (at & 7));
        expect(check({ ...both, [which]: changed.toString("base64") })).not.toBe("ok");
      }
    }
  });

  it("come together, or neither is taken [M13]", () => {
    expect(check({ ...both, entry: alone.entry })).toMatch(apart);
    expect(check({ ...both, version: alone.version })).toMatch(apart);
    expect(said(() => requireOneAct(parseVersionStatement(both.version), null))).toMatch(apart);
    expect(said(() => requireSignedAlone(parseEntryStatement(both.entry)))).toBe(
      "entry: it was signed together with a version, which did not come",
    );
  });

  it("are of one upload: not half of another one, nor a member's half beside somebody else's", () => {
    const second = signTogether(signer, {
      version: signVersion(signer, { ...version, time: 2 }),
      entry: signEntry(signer, { ...entry, time: 2 }),
    });
    expect(check({ ...both, entry: second.entry })).toMatch(apart);
    expect(check({ ...both, version: second.version })).toMatch(apart);
    // Somebody else signs the member's entry beside a version of their own: the signature is theirs, not the member's.
    const forged = signTogether(other, { version: signVersion(other, version), entry: alone.entry });
    expect(check(forged)).toMatch(/(vault, signer, place and file|the signer is not the caller's chain address)$/);
    const named = signTogether(other, alone);
    expect(check(named)).toBe("version: the signature is not of the caller's signing key");
    const [fields, of] = [Buffer.from(both.version, "base64").subarray(0, -96), Buffer.from(both.version, "base64")];
    const cut = Buffer.concat([fields, of.subarray(-64)]).toString("base64");
    expect(check({ version: cut, entry: alone.entry })).toMatch(apart);
    expect(said(() => requireVersion(writerAt(3), parseVersionStatement(cut), expected))).toBe(
      "version: the signature is not of the caller's signing key",
    );
  });

  it.each([
    ["another vault", { vault: `0x${"b".repeat(64)}` }],
    ["another file", { id: folderId }],
    ["a folder", { kind: "folder" as const }],
    ["another signer", { signer: other.chainAddress }],
    ["another generation", { generation: 2 }],
    ["another place of the generation", { after: 900_000 }],
  ])("are refused when the entry is of %s", (_, more) => {
    const beside = signTogether(signer, { ...alone, entry: signEntry(signer, { ...entry, ...more }) });
    expect(check(beside)).toBe("entry: it is not of the version's vault, signer, place and file");
  });
});

import nodeCrypto from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { concatBytes } from "./bytes.ts";
import { ed25519StatementSigner } from "./ed25519.ts";
import { signEntryStatement, type EntryFields } from "./entry-statement.ts";
import { isCachedSignature, MAX_CACHED_SIGNATURES, cacheSignature } from "./signature-cache.ts";
import type { VaultView } from "./membership.ts";
import { webPlatform } from "./platform/web.ts";
import { verifyEntryStatement, verifyVersion, verifyVersionStatement } from "./reading-order.ts";
import { signStatement, statementDigest, verifyStatement } from "./signatures.ts";
import type { StatementSigner } from "./statement-signer.ts";
import {
  bitFlips,
  ENTRY as ENTRY_NOW,
  entryOf,
  failureOf,
  FILE_ID,
  FOLDER_ID,
  MEMBER,
  OWNER,
  STRANGER,
  TIME,
  VAULT,
  VIEW,
  writeVersion,
} from "./vault.test-kit.ts";
import { seenEntry } from "./new-statements.ts";

const ENTRY: EntryFields = { ...ENTRY_NOW, generation: 4n };
const QUESTION = { vault: VAULT, view: VIEW, seen: null };

/** What Node was asked to verify; it does the work all the same. */
const verified = vi.spyOn(nodeCrypto, "verify");

beforeEach(() => {
  verified.mockClear();
});

/** As a wallet signs: this package knows nothing of how. */
function foreign(signer: StatementSigner, change = (signature: Uint8Array) => signature): StatementSigner {
  return {
    publicKey: signer.publicKey,
    sign: async (message32) => {
      const signature = Uint8Array.from(await signer.sign(message32));
      for (let count = 0; count < MAX_CACHED_SIGNATURES; count += 1) cacheSignature(numbered(count));
      return change(signature);
    },
  };
}

/** So many signatures push out whatever was known. */
function numbered(count: number) {
  const digest = new Uint8Array(32);
  new DataView(digest.buffer).setUint32(0, count);
  return { publicKey: new Uint8Array(32), digest, signature: new Uint8Array(64) };
}

describe("a signature that is known", () => {
  it("is verified once, and not at all when it was made with a key of this process", async () => {
    const own = await signEntryStatement(ENTRY, MEMBER.signer);
    await verifyEntryStatement(QUESTION, own.bytes);
    expect(verified).toHaveBeenCalledTimes(0);
    const other = await signEntryStatement({ ...ENTRY, time: TIME + 1 }, foreign(MEMBER.signer));
    for (let count = 0; count < 3; count += 1) await verifyEntryStatement(QUESTION, other.bytes);
    expect(verified).toHaveBeenCalledTimes(1);
  });

  it("is none when a signer that is not this package's gave something else", async () => {
    const wrong = (signature: Uint8Array) => signature.with(40, (signature[40] ?? 0) ^ 1);
    const { bytes } = await signEntryStatement(ENTRY, foreign(MEMBER.signer, wrong));
    for (let count = 0; count < 2; count += 1)
      expect(await failureOf(() => verifyEntryStatement(QUESTION, bytes))).toBe("entry damaged");
    expect(verified).toHaveBeenCalledTimes(2);
  });

  it("is of its own bytes, title and key alone [M12]", async () => {
    const body = new Uint8Array(217).fill(7);
    const { publicKey } = MEMBER.signer;
    const signature = await signStatement("coffer/entry/v1", body, MEMBER.signer);
    const holds = (title: Parameters<typeof verifyStatement>[0], of: Uint8Array, key: Uint8Array, by: Uint8Array) =>
      verifyStatement(title, of, key, by);
    expect(await holds("coffer/entry/v1", body, publicKey, signature)).toBe(true);
    expect(await holds("coffer/version/v1", body, publicKey, signature)).toBe(false);
    expect(await holds("coffer/entry/v1", body.with(216, 8), publicKey, signature)).toBe(false);
    expect(await holds("coffer/entry/v1", body, STRANGER.signer.publicKey, signature)).toBe(false);
    for (const flipped of bitFlips(signature))
      expect(await holds("coffer/entry/v1", body, publicKey, flipped)).toBe(false);
    // The same bytes in one piece, cut elsewhere.
    expect(await holds("coffer/entry/v1", body, publicKey.subarray(0, 31), signature)).toBe(false);
    expect(await holds("coffer/entry/v1", body, concatBytes(publicKey, signature), signature.subarray(32))).toBe(false);
  });

  it("is of the bytes that were verified, when their owner changes them meanwhile", async () => {
    const body = new Uint8Array(217).fill(9);
    const good = await signStatement("coffer/entry/v1", body, foreign(MEMBER.signer));
    const given = good.with(40, (good[40] ?? 0) ^ 1);
    const wrong = Uint8Array.from(given);
    const verifying = verifyStatement("coffer/entry/v1", body, MEMBER.signer.publicKey, given);
    given.set(good);
    expect(await verifying).toBe(false);
    expect(await verifyStatement("coffer/entry/v1", body, MEMBER.signer.publicKey, wrong)).toBe(false);
  });

  it("is of the key that signed, when somebody writes over a signer's public key", async () => {
    const signer = ed25519StatementSigner(new Uint8Array(32).fill(0x51));
    const [body, { publicKey: stranger }] = [new Uint8Array(217), STRANGER.signer];
    const made = Uint8Array.from(signer.publicKey);
    signer.publicKey.set(stranger);
    const signature = await signStatement("coffer/entry/v1", body, signer);
    expect(await verifyStatement("coffer/entry/v1", body, stranger, signature)).toBe(false);
    expect(await verifyStatement("coffer/entry/v1", body, made, signature)).toBe(true);
  });

  it("gives way to others in the end, the one that was met longest ago first", () => {
    for (let count = 0; count < MAX_CACHED_SIGNATURES; count += 1) cacheSignature(numbered(count));
    expect(isCachedSignature(numbered(0))).toBe(true);
    cacheSignature(numbered(MAX_CACHED_SIGNATURES));
    expect(isCachedSignature(numbered(0))).toBe(true);
    expect(isCachedSignature(numbered(1))).toBe(false);
    expect(isCachedSignature(numbered(MAX_CACHED_SIGNATURES))).toBe(true);
  });
});

describe("a statement whose signature is known", () => {
  const member = entryOf(MEMBER, 3n);
  const changed: readonly (readonly [string, string, Partial<VaultView>])[] = [
    ["its signer was removed before its generation", "damaged", { members: [], former: [{ ...member, until: 3n }] }],
    ["its signer is not in the vault any more, nor in what it was", "damaged", { members: [], former: [] }],
    ["its signer joined after its generation", "damaged", { members: [{ ...member, since: 5n }] }],
    [
      "its signer's key was another one in its generation",
      "damaged",
      { members: [{ ...member, signingKey: STRANGER.signer.publicKey }] },
    ],
    [
      "its signer replaced the key before its generation",
      "damaged",
      {
        members: [{ ...member, signingKey: OWNER.signer.publicKey, since: 4n }],
        former: [{ ...member, until: 3n }],
      },
    ],
    ["its signer's key is gone", "damaged", { members: [{ ...member, signingKey: new Uint8Array(0) }] }],
    ["the view does not know its generation", "damaged", { generation: 3n }],
    ["the floor was raised above it", "rolled_back", { floor: 5n }],
  ];

  it.each(changed)("is refused when %s [M12]", async (_, code, change) => {
    const view = { ...VIEW, ...change };
    const entry = await signEntryStatement(ENTRY, MEMBER.signer);
    await verifyEntryStatement(QUESTION, entry.bytes);
    expect(await failureOf(() => verifyEntryStatement({ ...QUESTION, view }, entry.bytes))).toBe(`entry ${code}`);
    const { statement } = await writeVersion(webPlatform, { view: { ...VIEW, generation: 4n } });
    await verifyVersionStatement(QUESTION, statement.bytes);
    const again = () => verifyVersionStatement({ ...QUESTION, view }, statement.bytes);
    expect(await failureOf(again)).toBe(`statement ${code}`);
    await verifyEntryStatement(QUESTION, entry.bytes);
    await verifyVersionStatement(QUESTION, statement.bytes);
  });

  it("is refused in another vault, whether the service or the chain names the other", async () => {
    const other = new Uint8Array(32).fill(0xbb);
    const { bytes } = await signEntryStatement(ENTRY, MEMBER.signer);
    await verifyEntryStatement(QUESTION, bytes);
    for (const question of [{ vault: other }, { view: { ...VIEW, vault: other } }])
      expect(await failureOf(() => verifyEntryStatement({ ...QUESTION, ...question }, bytes))).toBe(
        "pins vault_changed",
      );
    const moved = { ...QUESTION, vault: other, view: { ...VIEW, vault: other } };
    expect(await failureOf(() => verifyEntryStatement(moved, bytes))).toBe("pins vault_changed");
  });

  it("is refused when a newer one was seen", async () => {
    const first = await signEntryStatement(ENTRY, MEMBER.signer);
    await verifyEntryStatement(QUESTION, first.bytes);
    const second = await signEntryStatement({ ...ENTRY, revision: 2n, previous: VAULT }, MEMBER.signer);
    const question = { ...QUESTION, seen: seenEntry(second) };
    expect(await failureOf(() => verifyEntryStatement(question, first.bytes))).toBe("entry rolled_back");
  });

  it("is refused for another file, and with another file's start", async () => {
    const written = await writeVersion(webPlatform);
    const other = await writeVersion(webPlatform, { fileId: FOLDER_ID, opened: written.opened });
    const read = (fileId: string, { start, file } = written) =>
      failureOf(() =>
        verifyVersion(
          webPlatform,
          { ...QUESTION, fileId, versionId: null },
          { statement: written.statement.bytes, start, fileSize: file.length },
          () => written.opened.key,
        ),
      );
    expect(await read(FILE_ID)).toBe("accepted");
    expect(await read(FOLDER_ID)).toBe("ids damaged");
    expect(await read(FOLDER_ID, other)).toBe("ids damaged");
  });

  it("has the digest that is signed, so that what is known is never another statement's", async () => {
    const { bytes, signature } = await signEntryStatement(ENTRY, MEMBER.signer);
    const { publicKey } = MEMBER.signer;
    const digest = statementDigest("coffer/entry/v1", bytes.subarray(0, -64));
    expect(isCachedSignature({ publicKey, digest, signature })).toBe(true);
  });
});

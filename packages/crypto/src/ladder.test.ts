import { describe, expect, it } from "vitest";
import { concatBytes, encodeU64 } from "./bytes.ts";
import { encryptMessage } from "./cobblestone.ts";
import { ed25519StatementSigner } from "./ed25519.ts";
import { titleBytes } from "./fields.ts";
import { isOnLadder, makeLadderStep, openLadderStep, parseLadderStep, type LadderStep } from "./ladder.ts";
import type { VaultView } from "./membership.ts";
import { webPlatform as platform } from "./platform/web.ts";
import { signRecord } from "./vault-key-record.ts";
import { at, MEMBER, OWNER, REMOVED, STRANGER, VAULT, VIEW, viewIn, WRAP } from "./vault.test-kit.ts";
import { randomVaultKey, VaultKey } from "./vault-key.ts";
import { newVaultKeyRecord, type OpenedVaultKey } from "./vault-key-sealer.ts";

const [second, third, fourth, newest] = (await Promise.all(
  [2n, 3n, 4n, 5n].map((generation) => newVaultKeyRecord(viewIn(generation), WRAP, OWNER)),
)) as [OpenedVaultKey, OpenedVaultKey, OpenedVaultKey, OpenedVaultKey];

const stepOf = (from: OpenedVaultKey, to: OpenedVaultKey): Promise<LadderStep> =>
  makeLadderStep(platform, from.key, to.key);

function open(
  from: OpenedVaultKey,
  step: LadderStep,
  to: OpenedVaultKey,
  view: VaultView = VIEW,
): Promise<OpenedVaultKey> {
  return openLadderStep(platform, view, from, step, to.record);
}

/** A step whose link opens, whatever its fields say. */
async function forge(from: VaultKey, fields: Uint8Array, content: Uint8Array): Promise<LadderStep> {
  const context = concatBytes(titleBytes("coffer/ladder/v1"), fields);
  return parseLadderStep(concatBytes(fields, await encryptMessage(platform, from.subkey("ladder"), context, content)));
}

const placed = (generation: bigint, after = 0n): Uint8Array => concatBytes(encodeU64(generation), encodeU64(after));

const fieldsOf = (from: OpenedVaultKey, to: OpenedVaultKey, check = to.record.check): Uint8Array =>
  concatBytes(VAULT, placed(from.record.generation), placed(to.record.generation), check);

describe("a step of the ladder", () => {
  it("opens the lower key, also over several generations, and down to the last rotation [R3 Z4 E11]", async () => {
    for (const [from, to] of [
      [newest, fourth],
      [newest, second],
      [third, second],
    ] as const) {
      const step = await stepOf(from, to);
      expect(step.bytes).toHaveLength(200);
      const { key, record } = await open(from, step, to);
      expect(key.reveal()).toEqual(to.key.reveal());
      expect([key.generation, record.keyId]).toEqual([to.record.generation, to.record.keyId]);
    }
  });

  it("says what it is before its link", async () => {
    const { bytes, link, check } = await stepOf(newest, third);
    expect(bytes.subarray(0, 96)).toEqual(fieldsOf(newest, third));
    expect([link.length, check]).toEqual([104, third.key.subkey("check")]);
    expect(parseLadderStep(bytes).bytes).toEqual(bytes);
  });

  it.each([0, 96, 199, 201, 400])("is refused with %i bytes", async (length) => {
    const { bytes } = await stepOf(newest, third);
    const cut = concatBytes(bytes, bytes).subarray(0, length);
    expect(() => parseLadderStep(cut)).toThrow(expect.objectContaining({ code: "damaged", step: "ladder" }));
  });

  it("is refused with any bit flipped", async () => {
    const step = await stepOf(newest, third);
    for (let bit = 0; bit < step.bytes.length * 8; bit += 1) {
      const bytes = Uint8Array.from(step.bytes);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const opening = async () => open(newest, { ...step, bytes }, third);
      await expect(opening()).rejects.toMatchObject({ name: "CryptoError", step: "ladder" });
    }
  });

  it("is read from its bytes, whatever its fields say", async () => {
    const step = await stepOf(newest, third);
    const other = await stepOf(newest, fourth);
    await expect(open(newest, { ...step, bytes: other.bytes }, third)).rejects.toMatchObject({ step: "ladder" });
  });

  it("is not made upwards, level, or into another vault", async () => {
    const elsewhere = randomVaultKey(new Uint8Array(32).fill(1), at(2n));
    for (const [from, to] of [
      [third.key, newest.key],
      [third.key, third.key],
      [third.key, elsewhere],
    ] as const)
      await expect(makeLadderStep(platform, from, to)).rejects.toMatchObject({ code: "wrong_key", step: "ladder" });
  });
});

describe("a forged step", () => {
  const refused = { code: "damaged", step: "ladder" };

  it("that leads upwards or nowhere is not read", () => {
    for (const [from, to] of [
      [3n, 4n],
      [3n, 3n],
    ] as const) {
      const bytes = concatBytes(VAULT, placed(from), placed(to), new Uint8Array(136));
      expect(() => parseLadderStep(bytes)).toThrow(expect.objectContaining(refused));
    }
    const level = concatBytes(VAULT, placed(3n, 5n), placed(3n, 5n), new Uint8Array(136));
    expect(() => parseLadderStep(level)).toThrow(expect.objectContaining(refused));
  });

  it("below base or the floor opens nothing, though its link does [R3 K1 E4]", async () => {
    const step = await stepOf(newest, second);
    for (const view of [
      { ...VIEW, base: 3n },
      { ...VIEW, base: 1n, floor: 3n },
    ]) {
      await expect(open(newest, step, second, view)).rejects.toMatchObject(refused);
      expect([isOnLadder(view, { generation: 2n }), isOnLadder(view, { generation: 3n })]).toEqual([false, true]);
    }
  });

  it("of another vault, or from another key, opens nothing", async () => {
    const fields = fieldsOf(newest, third);
    const elsewhere = concatBytes(new Uint8Array(32).fill(1), fields.subarray(32));
    const other = await forge(newest.key, elsewhere, third.key.reveal());
    await expect(open(newest, other, third)).rejects.toMatchObject(refused);
    await expect(open(fourth, await stepOf(newest, third), third)).rejects.toMatchObject(refused);
    const stranger = randomVaultKey(VAULT, at(5n));
    const step = await forge(stranger, fields, third.key.reveal());
    await expect(open(newest, step, third)).rejects.toMatchObject({ code: "wrong_key", step: "ladder" });
  });

  it("that holds another key, or something else, opens nothing", async () => {
    const chosen = randomVaultKey(VAULT, at(3n));
    const held = { code: "wrong_key", step: "ladder" };
    for (const content of [chosen.reveal(), third.key.reveal().subarray(1), new Uint8Array(0)]) {
      const named = await stepOfAnyLength(content);
      await expect(open(newest, named, third)).rejects.toMatchObject({ step: "ladder" });
    }
    const ofCheck = await forge(newest.key, fieldsOf(newest, third, chosen.subkey("check")), chosen.reveal());
    await expect(open(newest, ofCheck, third)).rejects.toMatchObject(refused);
    const wrong = await forge(newest.key, fieldsOf(newest, third), chosen.reveal());
    await expect(open(newest, wrong, third)).rejects.toMatchObject(held);
  });

  it("to a record whose creator could not sign there opens nothing", async () => {
    const chosen = randomVaultKey(VAULT, at(5n - 1n));
    const fields = { vault: VAULT, ...at(4n), check: chosen.subkey("check"), sealedKey: new Uint8Array(64) };
    for (const by of [STRANGER, { address: OWNER.address, signer: STRANGER.signer }]) {
      const record = await signRecord({ ...fields, creator: by.address }, by.signer);
      const step = await makeLadderStep(platform, newest.key, chosen);
      await expect(open(newest, step, { record, key: chosen })).rejects.toMatchObject({
        code: "damaged",
        step: "record",
      });
    }
    const late = await signRecord({ ...fields, generation: 2n, creator: MEMBER.address }, MEMBER.signer);
    const lower = new VaultKey(VAULT, at(2n), chosen.reveal());
    const step = await makeLadderStep(platform, newest.key, lower);
    await expect(open(newest, step, { record: late, key: lower })).rejects.toMatchObject({ step: "record" });
  });

  it("from a higher key that is not its record's, or whose creator was gone by then, opens nothing", async () => {
    const chosen = randomVaultKey(VAULT, at(5n));
    const step = await makeLadderStep(platform, chosen, third.key);
    const posing = { record: newest.record, key: chosen };
    await expect(open(posing, step, third)).rejects.toMatchObject({ code: "wrong_key", step: "record" });
    const fields = { vault: VAULT, ...at(5n), check: chosen.subkey("check"), sealedKey: new Uint8Array(64) };
    const record = await signRecord({ ...fields, creator: REMOVED.address }, REMOVED.signer);
    await expect(open({ record, key: chosen }, step, third)).rejects.toMatchObject({ code: "damaged", step: "record" });
    const other = ed25519StatementSigner(new Uint8Array(32).fill(9));
    const posed = await signRecord({ ...fields, creator: OWNER.address }, other);
    await expect(open({ record: posed, key: chosen }, step, third)).rejects.toMatchObject({ step: "record" });
  });
});

/** A step cut or filled to its length, so that only its link is wrong. */
async function stepOfAnyLength(content: Uint8Array): Promise<LadderStep> {
  const fields = fieldsOf(newest, third);
  const context = concatBytes(titleBytes("coffer/ladder/v1"), fields);
  const link = await encryptMessage(platform, newest.key.subkey("ladder"), context, content);
  return parseLadderStep(concatBytes(fields, link, new Uint8Array(104)).subarray(0, 200));
}

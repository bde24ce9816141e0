/** What every VaultKeyWrap does, whatever decides who is a member (the port's failure contract is in `@coffer/crypto`). */
import { CryptoError, MAX_SEALED_KEY_BYTES, type KeyBinding, type VaultKeyWrap } from "@coffer/crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

export interface KeyWrapSubject extends AsyncDisposable {
  /** Of two members of one vault. */
  readonly owner: VaultKeyWrap;
  readonly member: VaultKeyWrap;
  /** Of somebody who is none. */
  readonly stranger: VaultKeyWrap;
  /** The vault in its current generation, made by the owner. */
  readonly place: KeyBinding;
  /** How often each key server has been asked for keys; a wrap without servers counts its unwrappings. */
  asked(): readonly number[];
}

const KEY = Uint8Array.from({ length: 32 }, (_, index) => 3 * index + 1);
const OTHER_KEY = Uint8Array.from({ length: 32 }, (_, index) => 5 * index + 2);

export function describeKeyWrap(name: string, open: () => Promise<KeyWrapSubject>): void {
  describe(`the key wrap of ${name}`, () => {
    let subject: KeyWrapSubject;
    let sealed: { readonly sealedKey: Uint8Array; readonly place: KeyBinding };
    beforeAll(async () => {
      subject = await open();
      sealed = { sealedKey: await subject.owner.wrap(KEY, subject.place), place: subject.place };
    });
    afterAll(() => subject[Symbol.asyncDispose]());

    it("seals within the size that records have, and shows nothing of the key", async () => {
      expect(sealed.sealedKey.length).toBeGreaterThan(0);
      expect(sealed.sealedKey.length).toBeLessThanOrEqual(MAX_SEALED_KEY_BYTES);
      expect(Buffer.from(sealed.sealedKey).includes(Buffer.from(KEY))).toBe(false);
    });

    it("gives members the key, in arrays of their own, and leaves what it was given as it was", async () => {
      const before = Uint8Array.from(sealed.sealedKey);
      const [first] = await subject.member.unwrap([sealed]);
      expect(first).toEqual(KEY);
      first?.fill(0);
      expect(await subject.member.unwrap([sealed])).toEqual([KEY]);
      expect(sealed.sealedKey).toEqual(before);
    });

    it("answers in the order of its items, and asks each key server at most once for all", async () => {
      const other = { sealedKey: await subject.member.wrap(OTHER_KEY, subject.place), place: subject.place };
      const before = subject.asked();
      expect(await subject.owner.unwrap([other, sealed, other])).toEqual([OTHER_KEY, KEY, OTHER_KEY]);
      for (const [server, count] of subject.asked().entries())
        expect(count - (before[server] ?? 0)).toBeLessThanOrEqual(1);
    });

    it("asks nobody for nothing", async () => {
      const before = subject.asked();
      expect(await subject.stranger.unwrap([])).toEqual([]);
      expect(subject.asked()).toEqual(before);
    });

    it("gives a stranger nothing", async () => {
      await expect(subject.stranger.unwrap([sealed])).rejects.toThrow(Error);
    });

    it("opens nothing for another place than the one it was sealed for, and nothing that is not in order", async () => {
      const { place, sealedKey } = sealed;
      const flipped = Uint8Array.from(sealedKey);
      flipped[flipped.length - 1] = (flipped.at(-1) ?? 0) ^ 1;
      const wrong = [
        { sealedKey, place: { ...place, vault: new Uint8Array(32).fill(9) } },
        { sealedKey, place: { ...place, generation: place.generation + 1n } },
        { sealedKey, place: { ...place, creator: new Uint8Array(32).fill(9) } },
        { sealedKey: new Uint8Array(0), place },
        { sealedKey: new Uint8Array(MAX_SEALED_KEY_BYTES + 1), place },
        { sealedKey: sealedKey.subarray(0, -1), place },
        { sealedKey: flipped, place },
      ];
      for (const item of wrong) {
        // As a whole: the good item beside it opens no more than the bad one.
        const failure: unknown = await subject.owner.unwrap([sealed, item]).catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(CryptoError);
        expect(failure).toMatchObject({ code: "damaged", step: "record" });
        expect(String(failure)).not.toContain(Buffer.from(KEY).toString("hex"));
      }
    });
  });
}

/** The lifetime of keys: a disposed one is used by nothing, also where it is disposed half way through a use. */
import { describe, expect, it } from "vitest";
import { decryptMessage } from "./cobblestone.ts";
import { decryptFileBytes } from "./decrypt-file.ts";
import { encryptFileBytes } from "./encrypt-file.ts";
import { decryptMetadata, encryptMetadata } from "./entry-metadata.ts";
import { parseEnvelope } from "./envelope.ts";
import { KeyDisposedError } from "./errors.ts";
import { newFilePlan, type EnvelopeRequest } from "./file-plan.ts";
import { parseFileStart } from "./file-start.ts";
import { concatBytes } from "./bytes.ts";
import { titleBytes } from "./fields.ts";
import type { VaultKeyWrap } from "./key-wrap.ts";
import { makeLadderStep, openLadderStep } from "./ladder.ts";
import { nameIndex } from "./name-index.ts";
import { nodePlatform } from "./node/platform.ts";
import type { CryptoPlatform } from "./platform/platform.ts";
import { decryptSearchIndex, encryptSearchIndex } from "./search-index.ts";
import { DataKey, type SecretKey } from "./secret-key.ts";
import { randomVaultKey, VaultKey, type SubkeyUse } from "./vault-key.ts";
import { newVaultKeyRecord, openVaultKeys, type OpenedVaultKey } from "./vault-key-sealer.ts";
import { at, FILE_ID, FOLDER_ID, MEMBER, TIME, VAULT, VIEW, WRAP } from "./vault.test-kit.ts";
import { makeEnvelope, unwrapDataKey, wrapDataKey } from "./data-key-wrap.ts";

/** A runtime in which every step takes a while, so that a key may be disposed between any two. */
const slowPlatform: CryptoPlatform = {
  ...nodePlatform,
  importChunkCipher: async (key, baseNonce) => {
    await pause();
    const cipher = await nodePlatform.importChunkCipher(key, baseNonce);
    return {
      encrypt: async (...chunks) => {
        await pause();
        return cipher.encrypt(...chunks);
      },
      decrypt: async (...chunks) => {
        await pause();
        return cipher.decrypt(...chunks);
      },
    };
  },
};

/** Looks at the key only after a while, as one does that first asks a node about key servers. */
const slowWrap: VaultKeyWrap = {
  wrap: async (key, place) => {
    await pause();
    return WRAP.wrap(key, place);
  },
  unwrap: async (items) => {
    await pause();
    return WRAP.unwrap(items);
  },
};

async function pause(): Promise<void> {
  for (let step = 0; step < 3; step += 1) await Promise.resolve();
}

/** What a writer would use that goes on after its key was overwritten. */
class ZeroSubkeys extends VaultKey {
  override subkey(_use: SubkeyUse): Uint8Array {
    return new Uint8Array(32);
  }
}

const PLACE = at(5n);
const zeroKeys = [
  new VaultKey(VAULT, PLACE, new Uint8Array(32)),
  new ZeroSubkeys(VAULT, PLACE, new Uint8Array(32)),
] as const;

type Outcome<Value> = { readonly value: Value } | { readonly error: unknown };

/** Runs `work`, and disposes `key` after its n-th await, for every n until it ends before. */
async function forEveryAwait<Key extends SecretKey, Value>(
  newKey: () => Promise<Key>,
  work: (key: Key) => Promise<Value>,
  check: (value: Value) => Promise<void>,
): Promise<{ readonly refused: number; readonly done: number }> {
  let [refused, done] = [0, 0];
  for (let awaits = 0; ; awaits += 1) {
    const key = await newKey();
    const bytes = key.reveal();
    const subkeys =
      key instanceof VaultKey ? (["wrap", "metadata", "ladder"] as const).map((use) => key.subkey(use)) : [];
    let isOver = false;
    const outcome: Promise<Outcome<Value>> = work(key)
      .then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      .finally(() => (isOver = true));
    for (let step = 0; step < awaits && !isOver; step += 1) await Promise.resolve();
    const wasOver = isOver;
    key.dispose();
    const ended = await outcome;
    for (const each of [bytes, ...subkeys]) expect(each, "overwritten").toEqual(new Uint8Array(32));
    expect(() => key.reveal()).toThrow(KeyDisposedError);
    if ("error" in ended) {
      expect(ended.error).toBeInstanceOf(KeyDisposedError);
      refused += 1;
    } else {
      await check(ended.value);
      done += 1;
    }
    if (wasOver) return { refused, done };
  }
}

const metadataPlace = { kind: "file", id: FILE_ID, revision: 1n, keyId: new Uint8Array(32).fill(4) } as const;
const METADATA = { name: "name", contentType: "text/plain", size: 5 };

/** Opened anew each time, as the last one was disposed. */
async function opener(): Promise<{ open: () => Promise<VaultKey>; opened: OpenedVaultKey }> {
  const opened = await newVaultKeyRecord(VIEW, WRAP, MEMBER);
  const bytes = Uint8Array.from(opened.key.reveal());
  return { opened, open: () => Promise.resolve(new VaultKey(VAULT, PLACE, bytes)) };
}

describe("a key that is disposed after the n-th await of a write: either no result, or one under the true key", () => {
  it("metadata", async () => {
    const { opened, open } = await opener();
    const counts = await forEveryAwait(
      open,
      (key) => encryptMetadata(slowPlatform, key, metadataPlace, METADATA),
      async (encrypted) => {
        for (const zero of zeroKeys)
          await expect(decryptMetadata(nodePlatform, zero, metadataPlace, encrypted)).rejects.toThrow();
        expect(await decryptMetadata(nodePlatform, opened.key, metadataPlace, encrypted)).toEqual(METADATA);
      },
    );
    expect(counts.refused).toBeGreaterThan(8);
  });

  it("the index of names", async () => {
    const { opened, open } = await opener();
    const place = { vaultId: FOLDER_ID, keyId: opened.record.keyId };
    const counts = await forEveryAwait(
      open,
      (key) => encryptSearchIndex(slowPlatform, key, place, Uint8Array.of(1, 2, 3)),
      async (encrypted) => {
        for (const zero of zeroKeys)
          await expect(decryptSearchIndex(nodePlatform, zero, place, encrypted)).rejects.toThrow();
        expect(await decryptSearchIndex(nodePlatform, opened.key, place, encrypted)).toEqual(Uint8Array.of(1, 2, 3));
      },
    );
    expect(counts.refused).toBeGreaterThan(8);
    const key = await open();
    key.dispose();
    expect(() => nameIndex(key, null, "name")).toThrow(KeyDisposedError);
  });

  it("a file with its envelope", async () => {
    const { opened, open } = await opener();
    const content = Uint8Array.of(1, 2, 3);
    const ids = { fileId: FILE_ID, versionId: FOLDER_ID, contentSize: content.length, padded: false };
    const counts = await forEveryAwait(
      open,
      async (key) => {
        const envelopeOf = (request: EnvelopeRequest) => makeEnvelope(slowPlatform, opened.record, key, request);
        const plan = await newFilePlan(slowPlatform, { ...ids, envelopeOf });
        return (await encryptFileBytes(slowPlatform, plan, content)).bytes;
      },
      async (file) => {
        const { commitment, envelope, headerPrefix } = parseFileStart(file);
        const { record, wrapped } = parseEnvelope(envelope);
        const context = concatBytes(titleBytes("coffer/wrap/v1"), VAULT, record.keyId, commitment, headerPrefix);
        for (const zero of zeroKeys)
          await expect(decryptMessage(nodePlatform, zero.subkey("wrap"), context, wrapped)).rejects.toThrow();
        await expect(
          decryptFileBytes(nodePlatform, file, () => ({ dataKey: new DataKey(new Uint8Array(32)) })),
        ).rejects.toThrow();
        const place = { commitment, headerPrefix };
        const unlock = async () => ({ dataKey: await unwrapDataKey(nodePlatform, record, opened.key, wrapped, place) });
        expect(await decryptFileBytes(nodePlatform, file, unlock)).toEqual(content);
      },
    );
    expect(counts.refused).toBeGreaterThan(8);
  });

  it("a data key, as it is wrapped", async () => {
    const { opened } = await opener();
    const place = { commitment: new Uint8Array(32).fill(1), headerPrefix: new Uint8Array(44).fill(2) };
    const secret = new Uint8Array(32).fill(9);
    const counts = await forEveryAwait(
      () => Promise.resolve(new DataKey(secret)),
      (dataKey) => wrapDataKey(slowPlatform, opened.record, opened.key, { dataKey, ...place }),
      async (wrapped) => {
        const unwrapped = await unwrapDataKey(nodePlatform, opened.record, opened.key, wrapped, place);
        expect(unwrapped.reveal()).toEqual(secret);
      },
    );
    expect(counts.refused).toBeGreaterThan(8);
  });

  it("a sealed vault key and its record", async () => {
    const { opened, open } = await opener();
    const counts = await forEveryAwait(
      open,
      (key) => newVaultKeyRecord(VIEW, slowWrap, MEMBER, key),
      async ({ record }) => {
        for (const zero of zeroKeys) expect(record.check).not.toEqual(zero.subkey("check"));
        const [again] = await openVaultKeys(VIEW, [record], WRAP);
        expect(again?.key.reveal()).toEqual(opened.key.reveal());
      },
    );
    expect(counts.refused).toBeGreaterThan(3);
  });

  it("a step of the ladder, whichever of its keys goes", async () => {
    const { opened: higher, open: openHigher } = await opener();
    const lower = await newVaultKeyRecord({ ...VIEW, generation: 4n }, WRAP, MEMBER, randomVaultKey(VAULT, at(4n)));
    const lowerBytes = Uint8Array.from(lower.key.reveal());
    const check = async (step: Awaited<ReturnType<typeof makeLadderStep>>): Promise<void> => {
      const context = concatBytes(titleBytes("coffer/ladder/v1"), step.bytes.subarray(0, -step.link.length));
      for (const zero of zeroKeys)
        await expect(decryptMessage(nodePlatform, zero.subkey("ladder"), context, step.link)).rejects.toThrow();
      const { key } = await openLadderStep(nodePlatform, VIEW, higher, step, lower.record);
      expect(key.reveal()).toEqual(lowerBytes);
    };
    const ofHigher = await forEveryAwait(openHigher, (key) => makeLadderStep(slowPlatform, key, lower.key), check);
    const ofLower = await forEveryAwait(
      () => Promise.resolve(new VaultKey(VAULT, at(4n), lowerBytes)),
      (key) => makeLadderStep(slowPlatform, higher.key, key),
      check,
    );
    for (const { refused } of [ofHigher, ofLower]) expect(refused).toBeGreaterThan(8);
  });
});

describe("a key that is disposed after the n-th await of a read", () => {
  it("gives nothing, and disposes what it has opened", async () => {
    const { opened, open } = await opener();
    const place = { commitment: new Uint8Array(32).fill(1), headerPrefix: new Uint8Array(44).fill(2) };
    const dataKey = new DataKey(new Uint8Array(32).fill(9));
    const wrapped = await wrapDataKey(nodePlatform, opened.record, opened.key, { dataKey, ...place });
    const encrypted = await encryptMetadata(nodePlatform, opened.key, metadataPlace, METADATA);
    const read = await forEveryAwait(
      open,
      async (key) => [
        await decryptMetadata(slowPlatform, key, metadataPlace, encrypted),
        (await unwrapDataKey(slowPlatform, opened.record, key, wrapped, place)).reveal(),
      ],
      async (values) => expect(values).toEqual([METADATA, dataKey.reveal()]),
    );
    expect(read.refused).toBeGreaterThan(16);
  });
});

describe("holds", () => {
  it("keep the bytes until the last is given back, and refuse new uses meanwhile", async () => {
    const key = randomVaultKey(VAULT, PLACE);
    const [bytes, subkey] = [key.reveal(), key.subkey("wrap")];
    const secret = Uint8Array.from(bytes);
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const uses = ends.map(({ promise }) => key.whileHeld(() => promise.then(() => "result")));
    key.dispose();
    expect(bytes).toEqual(secret);
    expect(() => key.subkey("wrap")).toThrow(KeyDisposedError);
    expect(() => key.subkey("name-index")).toThrow(KeyDisposedError);
    await expect(key.whileHeld(() => "never run")).rejects.toThrow(KeyDisposedError);
    ends[0]?.resolve();
    await expect(uses[0]).rejects.toThrow(KeyDisposedError);
    expect(bytes).toEqual(secret);
    ends[1]?.resolve();
    await expect(uses[1]).rejects.toThrow(KeyDisposedError);
    for (const each of [bytes, subkey]) expect(each).toEqual(new Uint8Array(32));
    key.dispose();
  });

  it("of a use that failed are given back, too", async () => {
    const key = randomVaultKey(VAULT, PLACE);
    const bytes = key.reveal();
    await expect(key.whileHeld(() => Promise.reject(new Error("of the work")))).rejects.toThrow("of the work");
    expect(bytes).not.toEqual(new Uint8Array(32));
    key.dispose();
    expect(bytes).toEqual(new Uint8Array(32));
  });

  it("dispose a key that the work opened, when it may not be given", async () => {
    const [key, opened] = [randomVaultKey(VAULT, PLACE), randomVaultKey(VAULT, PLACE)];
    const use = key.whileHeld(async () => {
      await pause();
      return opened;
    });
    key.dispose();
    await expect(use).rejects.toThrow(KeyDisposedError);
    expect(() => opened.reveal()).toThrow(KeyDisposedError);
  });
});

describe("data keys are overwritten after their use", () => {
  it("when the plan is made, also where no envelope could be", async () => {
    const keys: DataKey[] = [];
    const file = { fileId: FILE_ID, versionId: FOLDER_ID, contentSize: 1, padded: false };
    const envelopeOf = ({ dataKey }: EnvelopeRequest): Uint8Array => {
      keys.push(dataKey);
      return new Uint8Array(40);
    };
    await newFilePlan(nodePlatform, { ...file, envelopeOf });
    const failing = (request: EnvelopeRequest): Uint8Array => {
      envelopeOf(request);
      throw new Error("no envelope");
    };
    await expect(newFilePlan(nodePlatform, { ...file, envelopeOf: failing })).rejects.toThrow("no envelope");
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(() => key.reveal()).toThrow(KeyDisposedError);
  });

  it("when a reader has derived the message's own keys, or found that it is not the file's", async () => {
    const content = Uint8Array.of(1, 2, 3);
    let secret = new Uint8Array();
    const plan = await newFilePlan(nodePlatform, {
      fileId: FILE_ID,
      versionId: FOLDER_ID,
      contentSize: content.length,
      padded: false,
      envelopeOf: ({ dataKey }) => {
        secret = Uint8Array.from(dataKey.reveal());
        return new Uint8Array(40);
      },
    });
    const { bytes } = await encryptFileBytes(nodePlatform, plan, content);
    const [right, wrong] = [new DataKey(secret), new DataKey(new Uint8Array(32).fill(1))];
    expect(await decryptFileBytes(nodePlatform, bytes, () => ({ dataKey: right }))).toEqual(content);
    await expect(decryptFileBytes(nodePlatform, bytes, () => ({ dataKey: wrong }))).rejects.toMatchObject({
      code: "wrong_key",
    });
    for (const key of [right, wrong]) expect(() => key.reveal()).toThrow(KeyDisposedError);
  });
});

it("copies that a wrap got or gave are overwritten", async () => {
  const seen: Uint8Array[] = [];
  const noting: VaultKeyWrap = {
    wrap: (key, place) => {
      seen.push(key);
      return WRAP.wrap(key, place);
    },
    unwrap: async (items) => {
      const keys = await WRAP.unwrap(items);
      seen.push(...keys);
      return keys;
    },
  };
  const { record } = await newVaultKeyRecord(VIEW, noting, MEMBER);
  await openVaultKeys(VIEW, [record], noting);
  expect(seen).toEqual([new Uint8Array(32), new Uint8Array(32)]);
  // The same where one of several sealed keys is not its record's.
  const other = await newVaultKeyRecord(VIEW, WRAP, MEMBER);
  const swapped: VaultKeyWrap = { ...noting, unwrap: async (items) => (await noting.unwrap(items)).toReversed() };
  await expect(openVaultKeys({ ...VIEW, time: BigInt(TIME) }, [record, other.record], swapped)).rejects.toMatchObject({
    code: "wrong_key",
  });
  for (const each of seen) expect(each).toEqual(new Uint8Array(32));
});

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { describe, expect, it, type TestContext } from "vitest";
import { decryptMessage, deriveMessageKeys, encryptMessage, type MessageKeys } from "./cobblestone.ts";
import { CryptoError } from "./errors.ts";
import { decryptMessageStream } from "./message-stream.ts";
import { nodePlatform } from "./node/platform.ts";
import { chunkNonce } from "./platform/platform.ts";
import { webPlatform } from "./platform/web.ts";
import { MAX_CHUNKS } from "./sizes.ts";

const PLATFORMS = [nodePlatform, webPlatform];
const EMPTY = sha512(new Uint8Array(0));

/** 32 bytes 07 under the key 07…, the salt 09… and "context", computed with Python's HKDFExpand and AESGCM. */
const FIXED_MESSAGE =
  "0909090909090909090909090909090909090909090909093e357e517f7a65dbdbe0b47f73ebe8b8cf7a023d40faac0a3cf1df2411249ccd51c57ac9c8e128f3d68976470512be8bf5f5248198e03f129163b1e80fbcebf6be2d28d44642e01c63a466a47da6ac22";

/** Wycheproof's file, which stands beside the repository, not in it. Our own vectors are in test/vectors and always run. */
const WYCHEPROOF = new URL("../../../../shared/vectors/c2sp_chunked_encryption_aes_256_gcm_test.json", import.meta.url);

interface WycheproofTest {
  readonly tcId: number;
  readonly key: string;
  readonly ctx: string;
  /** Compressed with zlib. */
  readonly ct: string;
  readonly msgLength?: number;
  readonly msgSha512?: string;
  readonly result: "valid" | "invalid";
}

describe.each(PLATFORMS)("c2sp.org/chunked-encryption, Wycheproof's vectors, on the $name platform", (platform) => {
  it("all 35, whole: nothing is given of an invalid one", async (context) => {
    for (const test of readWycheproof(context)) {
      const opened = decryptMessage(platform, hex(test.key), hex(test.ctx), inflateSync(hex(test.ct)));
      if (test.result === "invalid") await expect(opened, `vector ${test.tcId}`).rejects.toThrow(CryptoError);
      else expect(sha512(await opened), `vector ${test.tcId}`).toBe(test.msgSha512);
    }
  });

  it.for([
    ["in one piece", Number.MAX_SAFE_INTEGER],
    ["streamed", 1000],
    ["byte by byte", 1],
  ] as const)("all 35, %s: of an invalid one, the longest valid beginning", async ([, size], context) => {
    for (const test of readWycheproof(context)) {
      expect(await openStream(test, size), `vector ${test.tcId}`).toEqual({
        result: test.result,
        length: test.msgLength ?? 0,
        sha512: test.msgSha512 ?? EMPTY,
      });
    }
  });

  async function openStream(test: WycheproofTest, size: number) {
    const hash = createHash("sha512");
    let length = 0;
    let result = "valid";
    try {
      const source = inPieces(inflateSync(hex(test.ct)), size);
      for await (const piece of decryptMessageStream(platform, hex(test.key), hex(test.ctx), source)) {
        hash.update(piece);
        length += piece.length;
      }
    } catch (error) {
      result = error instanceof CryptoError ? "invalid" : String(error);
    }
    return { result, length, sha512: hash.digest("hex") };
  }
});

describe.each(PLATFORMS)("messages, on the $name platform", (platform) => {
  const key = new Uint8Array(32).fill(7);
  const context = new TextEncoder().encode("context");

  it("c2sp.org/chunked-encryption: a message costs 72 bytes, and the same salt gives the same one", async () => {
    const message = await encryptMessage(
      { ...platform, randomBytes: (n) => new Uint8Array(n).fill(9) },
      key,
      context,
      key,
    );
    expect(message).toHaveLength(104);
    expect(Buffer.from(message).toString("hex")).toBe(FIXED_MESSAGE);
  });

  it("a fresh salt gives another one", async () => {
    const make = () => encryptMessage(platform, key, context, key);
    expect(await make()).not.toEqual(await make());
  });

  it("keys and salts of another length are refused", async () => {
    const salt = new Uint8Array(24);
    const message = await encryptMessage(platform, key, context, key);
    const refusal = { name: "CryptoError", code: "wrong_key", step: "commitment" };
    for (const wrong of [new Uint8Array(0), key.subarray(1), new Uint8Array(33)]) {
      await expect(deriveMessageKeys(platform, wrong, salt, context)).rejects.toMatchObject(refusal);
      await expect(encryptMessage(platform, wrong, context, key)).rejects.toMatchObject(refusal);
      await expect(decryptMessage(platform, wrong, context, message)).rejects.toMatchObject(refusal);
      const read = async (): Promise<void> => {
        for await (const _piece of decryptMessageStream(platform, wrong, context, message)) throw new Error("a piece");
      };
      await expect(read()).rejects.toMatchObject(refusal);
    }
    await expect(deriveMessageKeys(platform, key, salt.subarray(1), context)).rejects.toThrow(TypeError);
  });

  it("another key and another context are wrong_key, at the commitment", async () => {
    const message = await encryptMessage(platform, key, context, key);
    const refusal = { name: "CryptoError", code: "wrong_key", step: "commitment" };
    await expect(decryptMessage(platform, new Uint8Array(32), context, message)).rejects.toMatchObject(refusal);
    await expect(decryptMessage(platform, key, new Uint8Array(1), message)).rejects.toMatchObject(refusal);
  });

  it("no chunk is encrypted or opened at 2^38 or beyond", async () => {
    const keys = await deriveMessageKeys(platform, key, new Uint8Array(24), context);
    const last = await keys.encrypt(new Uint8Array(5), MAX_CHUNKS - 1, true);
    expect((await keys.decrypt(last, MAX_CHUNKS - 1)).complete).toBe(true);
    await expect(keys.encrypt(new Uint8Array(16384), MAX_CHUNKS - 1, true)).rejects.toThrow(RangeError);
    await expect(keys.decrypt(last, MAX_CHUNKS)).rejects.toMatchObject({ code: "damaged" });
  });

  it("both platforms read each other's chunks, far beyond 2^32 too", async () => {
    const derive = (from: typeof platform): Promise<MessageKeys> =>
      deriveMessageKeys(from, key, new Uint8Array(24), context);
    for (const first of [0, 255, 2 ** 32 - 1, 2 ** 37 + 3]) {
      const plaintext = new Uint8Array(3 * 16384 + 5).fill(first % 251);
      const blocks = await (await derive(platform)).encrypt(plaintext, first, true);
      for (const other of PLATFORMS)
        expect((await (await derive(other)).decrypt(blocks, first)).plaintext).toEqual(plaintext);
    }
  });
});

it("c2sp.org/chunked-encryption: a nonce is the base nonce XOR the chunk's number in 38 bits", () => {
  const base = Uint8Array.from({ length: 12 }, (_, at) => 0x10 + at);
  const expected = (chunk: bigint) => {
    const number = BigInt(`0x${Buffer.from(base).toString("hex")}`) ^ chunk;
    return number.toString(16).padStart(24, "0");
  };
  for (const chunk of [0, 1, 255, 256, 65536, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 38 - 1])
    expect(Buffer.from(chunkNonce(base, chunk)).toString("hex")).toBe(expected(BigInt(chunk)));
});

/** Skips, with the reason, where there is no such file. */
function readWycheproof(context: TestContext): readonly WycheproofTest[] {
  if (!existsSync(WYCHEPROOF))
    context.skip("Wycheproof's chunked-encryption vectors are not beside this clone (../shared/vectors)");
  const file = JSON.parse(readFileSync(WYCHEPROOF, "utf8")) as {
    readonly testGroups: readonly { readonly tests: readonly WycheproofTest[] }[];
  };
  const tests = file.testGroups.flatMap((group) => group.tests);
  expect(tests).toHaveLength(35);
  return tests;
}

function* inPieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function hex(text: string): Uint8Array {
  return Buffer.from(text, "hex");
}

function sha512(bytes: Uint8Array): string {
  return createHash("sha512").update(bytes).digest("hex");
}

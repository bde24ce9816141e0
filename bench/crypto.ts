import { execFile } from "node:child_process";
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { BLOCK_BYTES, CHUNK_BYTES, deriveMessageKeys } from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { generateX25519Identity } from "age-encryption";
import { bundle } from "./bundle.ts";
import { findProgram, writeSample } from "./machine.ts";
import { measured, median, medianRatio, renderRatios, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";

const run = promisify(execFile);
const PROGRAMS: Readonly<Record<string, string>> = {
  coffer: new URL("crypto-program.ts", import.meta.url).pathname,
  "age-encryption": new URL("crypto-age-program.ts", import.meta.url).pathname,
};
const MEBIBYTE = 1024 * 1024;
const ROUNDS = 7;
/** Of the codec alone, whose rounds are short. */
const CODEC_ROUNDS = 15;
const FILE_MEBIBYTES = 512;
const LARGE_MEBIBYTES = 2048;
/** Turns of one contender in a round, and what each of them works on. */
const CODEC_TURNS = 32;
const CODEC_MEBIBYTES = 4;

/**
 * The codec alone against node:crypto doing the same chunks with nothing around them. By processor time: one thread does all of it, and
 * what else the machine runs would decide short rounds by the clock.
 */
export const cryptoCodec: Benchmark = async () => {
  const data = new Uint8Array(randomBytes(MEBIBYTE));
  const key = createSecretKey(randomBytes(32));
  const keys = await deriveMessageKeys(nodePlatform, randomBytes(32), randomBytes(24), new Uint8Array(0));
  const stored = await keys.encrypt(data, 0, false);
  const theirs = encryptChunks(key, data);
  const series: Record<string, number[]> = { encrypt: [], "node encrypt": [], decrypt: [], "node decrypt": [] };
  const pairs: readonly Readonly<Record<string, () => unknown>>[] = [
    { encrypt: () => keys.encryptPieces(data, 0, false), "node encrypt": () => encryptChunks(key, data) },
    { decrypt: () => keys.decryptPieces(stored, 0), "node decrypt": () => decryptChunks(key, theirs) },
  ];
  for (let round = 0; round <= CODEC_ROUNDS; round += 1)
    for (const pair of pairs)
      for (const [name, speed] of await speedsOf(Object.entries(pair)))
        // The first round warms up.
        if (round > 0) series[name]?.push(speed);
  const ratios = ["encrypt", "decrypt"].map((name) => medianRatio(series[name] ?? [], series[`node ${name}`] ?? []));
  return measured({
    name: "crypto-codec",
    about:
      "chunks encrypted and decrypted, as a ratio of node's own AES-256-GCM over 16 KiB chunks; the lower of the two",
    value: Math.min(...ratios),
    unit: "x",
    limit: { at: "least", value: 0.8 },
    series,
    facts: {
      ...ratioFacts((direction) => [series[direction] ?? [], series[`node ${direction}`] ?? []]),
      unit: "MiB in a second of processor time",
    },
  });
};

/** File to file, whole processes: the age CLI and age-encryption in turns with this codec. */
const cryptoFiles =
  (peer: "age" | "age-encryption", least: number): Benchmark =>
  async () => {
    const name = peer === "age" ? "crypto-age" : "crypto-age-encryption";
    if (peer === "age" && findProgram("age") === null)
      return { kind: "not measured", name, reason: "age not installed (Debian: apt-get install age)" };
    await using scratch = await openScratch();
    const files = await prepare(scratch.directory, FILE_MEBIBYTES);
    const series: Record<string, number[]> = {};
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const codec of inTurns(["coffer", peer], round))
        for (const direction of ["encrypt", "decrypt"] as const) {
          const seconds = await secondsOf(() => files.run(codec, direction));
          // The first round reads the sample and the programs into the page cache.
          if (round > 0) (series[`${codec} ${direction}, s`] ??= []).push(seconds);
        }
    const ratios = ["encrypt", "decrypt"].map((direction) =>
      medianRatio(series[`${peer} ${direction}, s`] ?? [], series[`coffer ${direction}, s`] ?? []),
    );
    files.check();
    return measured({
      name,
      about: `${String(FILE_MEBIBYTES)} MiB file to file, whole processes, as a ratio of the speed of ${peer}; the lower of both directions`,
      value: Math.min(...ratios),
      unit: "x",
      limit: { at: "least", value: least },
      series,
      facts: ratioFacts((direction) => [
        series[`${peer} ${direction}, s`] ?? [],
        series[`coffer ${direction}, s`] ?? [],
      ]),
    });
  };

export const cryptoAge = cryptoFiles("age", 0.4);
export const cryptoAgeEncryption = cryptoFiles("age-encryption", 5);

/** Peak memory of a process that encrypts, and of one that decrypts, a small and a large file. */
export const cryptoMemory: Benchmark = async () => {
  await using scratch = await openScratch();
  const peaks: Record<string, number[]> = {};
  const facts: Record<string, string> = {};
  for (const mebibytes of [64, LARGE_MEBIBYTES]) {
    const files = await prepare(scratch.directory, mebibytes);
    for (const direction of ["encrypt", "decrypt"] as const)
      peaks[`${direction} ${String(mebibytes)} MiB`] = [await files.run("coffer", direction)];
    facts["idle"] = `${(await files.run("coffer", "idle")).toFixed(0)} MiB`;
  }
  return measured({
    name: "crypto-memory",
    about: `peak resident memory of a process that encrypts or decrypts up to ${String(LARGE_MEBIBYTES)} MiB`,
    value: Math.max(...Object.values(peaks).map(median)),
    unit: "MiB",
    limit: { at: "most", value: 128 },
    series: peaks,
    facts,
  });
};

/** Nobody is always the one behind the other. */
function inTurns<Contender>(contenders: readonly Contender[], round: number): readonly Contender[] {
  return round % 2 === 0 ? contenders : [...contenders].reverse();
}

function ratioFacts(of: (direction: string) => readonly [readonly number[], readonly number[]]) {
  return Object.fromEntries(["encrypt", "decrypt"].map((direction) => [direction, renderRatios(...of(direction))]));
}

/** A sample, the bundled program, keys; runs one codec in one direction in a process and answers its peak memory in MiB. */
async function prepare(directory: string, mebibytes: number) {
  const sample = join(directory, "sample");
  writeSample(sample, mebibytes);
  const program = (codec: string) => join(directory, `${codec}.mjs`);
  for (const [codec, source] of Object.entries(PROGRAMS)) await bundle(source, program(codec));
  const identity = await generateX25519Identity();
  const identityFile = join(directory, "identity");
  writeFileSync(identityFile, `${identity}\n`);
  const stored = (codec: string) => join(directory, `${codec}.stored`);
  const back = join(directory, "back");
  return {
    run: async (codec: string, direction: "encrypt" | "decrypt" | "idle"): Promise<number> => {
      const [from, to] = direction === "encrypt" ? [sample, stored(codec)] : [stored(codec), back];
      // As age needs it: its output does not exist yet.
      if (direction !== "idle") rmSync(to, { force: true });
      if (codec === "age") {
        const mode = direction === "encrypt" ? ["--encrypt", "-i", identityFile] : ["--decrypt", "-i", identityFile];
        await run("age", [...mode, "-o", to, from]);
        return 0;
      }
      const { stdout } = await run(process.execPath, [program(codec), direction, from, to, identity]);
      return (JSON.parse(stdout) as { readonly peak: number }).peak;
    },
    /** A benchmark of a codec that loses bytes would measure nothing. */
    check: () => {
      if (!readFileSync(back).equals(readFileSync(sample))) throw new Error("what came back is not what was encrypted");
    },
  };
}

interface StoredChunk {
  readonly nonce: Uint8Array;
  readonly block: Uint8Array;
  readonly tag: Uint8Array;
}

function encryptChunks(key: KeyObject, data: Uint8Array): StoredChunk[] {
  const chunks: StoredChunk[] = [];
  for (let at = 0; at < data.length; at += CHUNK_BYTES) {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(at / CHUNK_BYTES, 8);
    const cipher = createCipheriv("aes-256-gcm", key, nonce);
    const block = cipher.update(data.subarray(at, at + CHUNK_BYTES));
    cipher.final();
    chunks.push({ nonce, block, tag: cipher.getAuthTag() });
  }
  return chunks;
}

function decryptChunks(key: KeyObject, chunks: readonly StoredChunk[]): Uint8Array[] {
  return chunks.map(({ block, nonce, tag }) => {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: BLOCK_BYTES - CHUNK_BYTES });
    decipher.setAuthTag(tag);
    const chunk = decipher.update(block);
    decipher.final();
    return chunk;
  });
}

/**
 * MiB per second of processor time, of work on 1 MiB: the middle one of many short turns, which alternate. Where others keep the machine
 * busy, or a host takes its processors away, single turns take a multiple; with the next turn of the other they are not compared then.
 */
async function speedsOf(
  contenders: readonly (readonly [string, () => unknown])[],
): Promise<readonly (readonly [string, number])[]> {
  const speeds = contenders.map((): number[] => []);
  for (let turn = 0; turn < CODEC_TURNS; turn += 1)
    for (const [at, [, work]] of inTurns([...contenders.entries()], turn)) {
      const before = process.cpuUsage();
      for (let count = 0; count < CODEC_MEBIBYTES; count += 1) await work();
      const { system, user } = process.cpuUsage(before);
      speeds[at]?.push((CODEC_MEBIBYTES / (system + user)) * 1e6);
    }
  return contenders.map(([name], at) => [name, median(speeds[at] ?? [])] as const);
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

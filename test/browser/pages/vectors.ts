/** What the root entry of @coffer/crypto makes of the vectors in a browser. It judges nothing: the test compares. */
import {
  ciphertextSize,
  CryptoError,
  DataKey,
  decryptFile,
  decryptMessage,
  decryptMessageStream,
  encryptFile,
  newFilePlan,
  openRangeReader,
  paddedSize,
  plaintextSize,
  webPlatform,
} from "@coffer/crypto";
import { base64, bytesOf } from "./base64.ts";
import { answerTest, type Where } from "./in-page-or-worker.ts";
import { countCalls, type RuntimeFacts } from "./runtime-facts.ts";
import { readStatements, type StatementsRead } from "../../vectors/read-statements.ts";
import type { StatementVectors } from "../../vectors/statement-vectors.ts";

/** Bytes are base64, here and in the answer. */
export interface VectorsInput {
  readonly where: Where;
  /** Feed everything byte by byte too, which takes most of the time. */
  readonly byteByByte: boolean;
  readonly sizes: readonly number[];
  readonly messages: readonly MessageToOpen[];
  readonly files: readonly FileToOpen[];
  readonly statements: StatementVectors;
  /** Files to make, by the size of their content. */
  readonly toEncrypt: readonly { readonly size: number; readonly padded: boolean }[];
}

export interface MessageToOpen {
  readonly key: string;
  readonly context: string;
  readonly message: string;
  /** The message is compressed with zlib. */
  readonly compressed?: boolean;
}

export interface FileToOpen {
  readonly file: string;
  readonly dataKey: string;
  readonly digest?: string;
}

/** As much content as was given, and why no more; null: that was all. */
export interface Opened {
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  readonly sha512: string;
  readonly refusal: string | null;
}

export interface VectorsAnswer {
  readonly facts: RuntimeFacts;
  readonly sizes: readonly (readonly [ciphertext: number, padded: number, back: number])[];
  /** Whole, then by {@link FEEDINGS}. */
  readonly messages: readonly (readonly Opened[])[];
  readonly files: readonly (readonly Opened[])[];
  /** All of the file, then its halves. */
  readonly ranges: readonly (readonly Opened[])[];
  readonly statements: StatementsRead;
  readonly encrypted: readonly { readonly dataKey: string; readonly file: string; readonly content: string }[];
}

/** Whole, and in pieces that fit nothing. */
const FEEDINGS: readonly (readonly number[])[] = [[], [1000, 16400, 1, 30000]];
/** Longer ones are never fed byte by byte. */
const SHORT = 100_000;

const facts = countCalls();

answerTest(async (input: VectorsInput): Promise<VectorsAnswer> => {
  const answer = {
    sizes: input.sizes.map(
      (size) => [ciphertextSize(size), paddedSize(size), plaintextSize(ciphertextSize(size))] as const,
    ),
    messages: await inTurn(input.messages, (message) => openMessage(message, input)),
    files: await inTurn(input.files, (file) => openFile(file, input)),
    ranges: await inTurn(input.files, readRanges),
    statements: await readStatements(webPlatform, input.statements),
    encrypted: await inTurn(input.toEncrypt, encrypt),
  };
  return { ...answer, facts: facts() };
});

async function inTurn<Item, Result>(
  items: readonly Item[],
  each: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await each(item));
  return results;
}

async function openMessage(
  { key, context, message, compressed }: MessageToOpen,
  { byteByByte }: VectorsInput,
): Promise<readonly Opened[]> {
  const bytes = compressed === true ? await inflate(bytesOf(message)) : bytesOf(message);
  const feedings = byteByByte && bytes.length <= SHORT ? [...FEEDINGS, [1]] : FEEDINGS;
  const keys = [webPlatform, bytesOf(key), bytesOf(context)] as const;
  return [
    await collect(() => wholeMessage(decryptMessage(...keys, bytes))),
    ...(await inTurn(feedings, (sizes) => collect(() => decryptMessageStream(...keys, feed(bytes, sizes))))),
  ];
}

async function* wholeMessage(opened: Promise<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield await opened;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(inflated).arrayBuffer());
}

function openFile({ file, dataKey, digest }: FileToOpen, { byteByByte }: VectorsInput): Promise<readonly Opened[]> {
  const unlock = () => ({
    dataKey: new DataKey(bytesOf(dataKey)),
    digest: digest === undefined ? null : bytesOf(digest),
  });
  const bytes = bytesOf(file);
  const feedings = byteByByte ? [...FEEDINGS, [1]] : FEEDINGS;
  return inTurn(feedings, (sizes) => collect(() => decryptFile(webPlatform, feed(bytes, sizes), { unlock })));
}

async function readRanges({ file, dataKey }: FileToOpen): Promise<readonly Opened[]> {
  const bytes = bytesOf(file);
  const open = () =>
    openRangeReader(webPlatform, {
      fetchBytes: (from, to) => bytes.subarray(from, to),
      unlock: ({ payloadOffset }) => ({
        dataKey: new DataKey(bytesOf(dataKey)),
        messageLength: bytes.length - payloadOffset,
      }),
    });
  const part = async function* (from: (size: number) => number, to: (size: number) => number) {
    const reader = await open();
    yield* reader.read(from(reader.contentSize), to(reader.contentSize));
  };
  const middle = (size: number): number => Math.floor(size / 2);
  const [start, end] = [() => 0, (size: number) => size];
  return [
    await collect(() => part(start, end)),
    await collect(() => part(start, middle)),
    await collect(() => part(middle, end)),
  ];
}

async function collect(read: () => AsyncIterable<Uint8Array>): Promise<Opened> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let refusal: string | null = null;
  try {
    for await (const piece of read()) pieces.push(new Uint8Array(piece));
  } catch (error) {
    refusal = error instanceof CryptoError ? `${error.code} ${error.step}` : String(error);
  }
  const content = new Uint8Array(await new Blob(pieces).arrayBuffer());
  return {
    size: content.length,
    sha256: await digest("SHA-256", content),
    sha512: await digest("SHA-512", content),
    refusal,
  };
}

async function digest(algorithm: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest(algorithm, bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function* feed(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const end = at + (sizes[turn % sizes.length] ?? bytes.length);
    yield bytes.subarray(at, end);
    at = end;
  }
}

async function encrypt({
  size,
  padded,
}: VectorsInput["toEncrypt"][number]): Promise<VectorsAnswer["encrypted"][number]> {
  const content = crypto.getRandomValues(new Uint8Array(size));
  let dataKey = "";
  const plan = await newFilePlan(webPlatform, {
    fileId: crypto.randomUUID(),
    versionId: crypto.randomUUID(),
    contentSize: size,
    padded,
    envelopeOf: (request) => {
      dataKey = base64(request.dataKey.reveal());
      return new Uint8Array(300);
    },
  });
  const file: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of encryptFile(plan, feed(content, [10_000]))) file.push(new Uint8Array(piece));
  return {
    dataKey,
    content: base64(content),
    file: base64(new Uint8Array(await new Blob(file).arrayBuffer())),
  };
}

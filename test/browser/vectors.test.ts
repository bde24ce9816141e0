/** The file format in a real browser: every vector, in a page and in a dedicated worker, on WebCrypto, under a strict policy. */
import { existsSync, readFileSync } from "node:fs";
import { DataKey, decryptFile } from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { collect, sha256Of } from "../kit/bytes.ts";
import { applyEdits, type PayloadVectors } from "../vectors/payload-vectors.ts";
import { expectMaterial, expectOutcomes } from "../vectors/expect-statements.ts";
import type { StatementVectors } from "../vectors/statement-vectors.ts";
import { findChromium, requireChromium } from "./chromium.ts";
import { openPage, type OpenPage } from "./page.ts";
import type { Opened, VectorsAnswer, VectorsInput } from "./pages/vectors.ts";
import { processesOf } from "./processes.ts";

const payload = read<PayloadVectors>("../vectors/file-format/payload.json");
const statements = read<StatementVectors>("../vectors/file-format/statements.json");
const WYCHEPROOF = "../../../shared/vectors/c2sp_chunked_encryption_aes_256_gcm_test.json";

interface WycheproofTest {
  readonly tcId: number;
  readonly key: string;
  readonly ctx: string;
  readonly ct: string;
  readonly msgLength?: number;
  readonly msgSha512?: string;
  readonly result: "valid" | "invalid";
}

const wycheproof = existsSync(new URL(WYCHEPROOF, import.meta.url))
  ? read<{ testGroups: readonly { tests: readonly WycheproofTest[] }[] }>(WYCHEPROOF).testGroups.flatMap(
      ({ tests }) => tests,
    )
  : null;
const [opened, failures, malformed] = [payload.files, payload.failures, payload.malformed];
const TO_ENCRYPT = [
  { size: 0, padded: false },
  { size: 40_000, padded: false },
  { size: 40_000, padded: true },
];

function inputOf(where: VectorsInput["where"]): VectorsInput {
  return {
    where,
    byteByByte: where === "page",
    sizes: payload.sizes.map(({ content }) => content),
    messages: [
      ...payload.messages,
      ...(wycheproof ?? []).map(({ ct, ctx, key }) => ({
        key: toBase64(key),
        context: toBase64(ctx),
        message: toBase64(ct),
        compressed: true,
      })),
    ],
    files: [
      ...opened.map(({ dataKey, digest, file }) => ({ dataKey, digest, file })),
      ...failures.map((failure) => ({
        dataKey: opened.find(({ name }) => name === failure.file)!.dataKey,
        file: Buffer.from(applyEdits(payload, failure)).toString("base64"),
      })),
      ...malformed.map(({ dataKey, file }) => ({ dataKey, file })),
    ],
    statements,
    toEncrypt: TO_ENCRYPT,
  };
}

let page: OpenPage | null = null;

beforeAll(async () => {
  if (findChromium() !== null) page = await openPage("vectors");
});

afterAll(() => page?.[Symbol.asyncDispose]());

describe.each(["page", "worker"] as const)("in Chromium, in a %s", (where) => {
  let answered: Promise<VectorsAnswer> | undefined;
  const run = async (context: TestContext): Promise<VectorsAnswer> => {
    requireChromium(context);
    return (answered ??= page!.run<VectorsAnswer>(inputOf(where)));
  };

  it("runs on the browser's own AES-GCM and Ed25519, where no text is run as code and no memory is shared", async (context) => {
    const { facts } = await run(context);
    expect(facts).toMatchObject({
      isWorker: where === "worker",
      violations: [],
      isSecureContext: true,
      hasSharedMemory: false,
      runsText: false,
      calls: {
        "decrypt AES-GCM": expect.any(Number),
        "encrypt AES-GCM": expect.any(Number),
        "verify Ed25519": expect.any(Number),
        "sign Ed25519": statements.signatures.length,
      },
    });
    // Our own vectors, and Wycheproof's where they are beside this clone.
    expect(facts.calls["decrypt AES-GCM"]).toBeGreaterThan(wycheproof === null ? 250 : 1_000);
    expect(facts.calls["verify Ed25519"]).toBeGreaterThan(statements.versions.length);
  });

  it("file-format §3: sizes", async (context) => {
    const { sizes } = await run(context);
    expect(sizes).toEqual(payload.sizes.map(({ content, message, padded }) => [message, padded, content]));
  });

  it("opens every message, whole and in pieces", async (context) => {
    const { messages } = await run(context);
    for (const [index, { name, plaintext }] of payload.messages.entries()) {
      const bytes = Buffer.from(plaintext, "base64");
      expect(messages[index], name).toHaveLength(where === "page" ? 4 : 3);
      for (const each of messages[index]!) expect(each, name).toMatchObject({ ...whole(bytes), refusal: null });
    }
  });

  it("opens every file, and its halves, to the content of the vectors", async (context) => {
    const { files, ranges } = await run(context);
    for (const [index, { contentSha256, contentSize, name }] of opened.entries()) {
      const content = { size: contentSize, sha256: contentSha256, refusal: null };
      expect(files[index], name).toHaveLength(where === "page" ? 3 : 2);
      for (const each of files[index]!) expect(each, name).toMatchObject(content);
      const [all, ...halves] = ranges[index]!;
      expect(all, name).toMatchObject(content);
      expect(
        halves.map(({ size, refusal }) => [size, refusal]),
        name,
      ).toEqual([
        [Math.floor(contentSize / 2), null],
        [Math.ceil(contentSize / 2), null],
      ]);
    }
  });

  it("refuses every file that was tampered with at the step that the vectors name, and gives no byte too many", async (context) => {
    const { files, ranges } = await run(context);
    expect(failures.length).toBeGreaterThan(40);
    for (const [index, { code, name, released, step }] of failures.entries()) {
      for (const each of files[opened.length + index]!)
        expect(each, name).toMatchObject({ size: released, refusal: `${code} ${step}` });
      expect(ranges[opened.length + index]![0]!.refusal, name).not.toBeNull();
    }
    for (const [index, { code, name, step }] of malformed.entries())
      for (const each of files[opened.length + failures.length + index]!)
        expect(each.refusal, name).toBe(`${code} ${step}`);
  });

  it("file-format §6 to §9: signatures, keys, metadata and names are those of the vectors", async (context) => {
    const { statements: made } = await run(context);
    expectMaterial(made, statements);
  });

  it("file-format §10 and §12: opens or refuses versions, entries and exports as the vectors say", async (context) => {
    const { statements: made } = await run(context);
    expectOutcomes(made, statements, "versions", "entries", "exports");
  });

  it("makes files that open on Node", async (context) => {
    const { encrypted } = await run(context);
    expect(encrypted).toHaveLength(TO_ENCRYPT.length);
    for (const { content, dataKey, file } of encrypted) {
      const key = { dataKey: new DataKey(Buffer.from(dataKey, "base64")), digest: null };
      const source = [Buffer.from(file, "base64")];
      const found = await collect(decryptFile(nodePlatform, source, { unlock: () => key }));
      expect(found.toString("base64")).toBe(content);
    }
  });

  it("all of Wycheproof's vectors: of an invalid one, the longest valid beginning", async (context) => {
    requireChromium(context);
    if (wycheproof === null)
      context.skip("Wycheproof's chunked-encryption vectors are not beside this clone (../shared/vectors)");
    const { messages } = await run(context);
    expect(wycheproof).toHaveLength(35);
    for (const [index, test] of wycheproof!.entries()) {
      const [atOnce, ...streamed] = messages[payload.messages.length + index] as readonly Opened[];
      const name = `vector ${test.tcId}`;
      const good = test.result === "valid";
      expect([atOnce!.refusal === null, atOnce!.size], name).toEqual([good, good ? (test.msgLength ?? 0) : 0]);
      expect(streamed.length, name).toBeGreaterThan(1);
      for (const each of streamed) {
        expect([each.refusal === null, each.size], name).toEqual([good, test.msgLength ?? 0]);
        if (test.msgSha512 !== undefined) expect(each.sha512, name).toBe(test.msgSha512);
      }
    }
  });
});

/** Chromium asks them for itself, before any page does anything; the relay lets none of it out. */
const ITS_MAKER = /\.(google|googleapis|gstatic)\.com:\d+$/;

describe("the browser", () => {
  it("had nothing to complain about, asked nobody but its page's server, and read nothing of Node", (context) => {
    requireChromium(context);
    const { complaints, relay, site } = page!;
    expect(complaints).toEqual([]);
    expect(relay.refused.filter((place) => !ITS_MAKER.test(place))).toEqual([]);
    expect([...relay.connections.keys()]).toEqual([Number(new URL(site.origin).port)]);
    expect(site.modules.filter((path) => /packages\/crypto\/src\//.test(path)).length).toBeGreaterThan(30);
    expect(site.modules.filter((path) => /^node:|\/node\//.test(path))).toEqual([]);
  });

  it("is gone with its test: no process, no directory", async (context) => {
    requireChromium(context);
    const { chromium } = page!;
    expect(processesOf(chromium.directory).length).toBeGreaterThan(1);
    await page![Symbol.asyncDispose]();
    page = null;
    expect(processesOf(chromium.directory)).toEqual([]);
    expect(existsSync(chromium.directory)).toBe(false);
  });
});

function whole(bytes: Uint8Array): { size: number; sha256: string } {
  return { size: bytes.length, sha256: sha256Of(bytes) };
}

function toBase64(hex: string): string {
  return Buffer.from(hex, "hex").toString("base64");
}

function read<Value>(path: string): Value {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as Value;
}

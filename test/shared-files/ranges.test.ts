/** A part of a large file: only what covers it is fetched. The file is not stored anywhere: its bytes are made where they are asked for. */
import {
  encryptMetadata,
  encryptPart,
  makeEntryStatement,
  makeEnvelope,
  makeVersionStatement,
  newFilePlan,
  partOffset,
  type FilePlan,
} from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import type { File } from "@coffer/contract";
import type { Middleware, Vault } from "@coffer/sdk";
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openVaultOutside } from "../kit/opened-vault.ts";
import { sharedStack } from "../kit/shared-scene.ts";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const SIZE = 2 * GIB;

const stack = sharedStack();

/** The content of the large file: byte `at` follows from `at`. */
async function* contentOf(from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = from; at < to; at += MIB)
    yield Uint8Array.from({ length: Math.min(MIB, to - at) }, (_, index) => byteAt(at + index));
}

function byteAt(at: number): number {
  return (at ^ (at >>> 8) ^ Math.floor(at / 65_536)) & 0xff;
}

test("1 MiB at 1.5 GiB of a file of 2 GiB costs at most 1.1 MiB of it", async () => {
  const { client } = stack.owner;
  const made = await client.vaults.create({ name: "large", type: "shared" });
  const large = await describeLarge(made);
  let fetched = 0;
  const serving: Middleware = async (request, next) => {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith(`/files/${large.file.id}`)) return Response.json({ file: large.file });
    if (!pathname.endsWith(`/files/${large.file.id}/content`)) return next(request);
    const [, first = "", last = ""] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "") ?? [];
    const body = await storedBytes(large.plan, Number(first), Number(last) + 1);
    fetched += body.length;
    const headers = {
      "content-range": `bytes ${first}-${last}/${String(large.file.size)}`,
      "content-length": String(body.length),
      etag: `"sha256-${"A".repeat(43)}"`,
      "content-type": "application/octet-stream",
    };
    return new Response(body, { status: 206, headers });
  };
  const reader = stack.owner.another({ middleware: [serving] });
  const offset = 1.5 * GIB + 12_345;
  const download = await reader.files.download(large.file.id, { range: { offset, length: MIB } });
  const bytes = await download.bytes();
  expect(download.size).toBe(SIZE);
  expect(bytes.every((byte, index) => byte === byteAt(offset + index))).toBe(true);
  expect(bytes).toHaveLength(MIB);
  expect(fetched).toBeGreaterThan(MIB);
  expect(fetched).toBeLessThanOrEqual(1.1 * MIB);
});

/** A file of the vault as the service would show it, had it been uploaded. */
async function describeLarge(vault: Vault): Promise<{ readonly file: File; readonly plan: FilePlan }> {
  const { client } = stack.owner;
  const small = await client.files.upload({ vaultId: vault.id, name: "small", body: new Uint8Array(1) });
  const { view, author, record, key } = await openVaultOutside(stack.owner, vault, stack.network);
  const [id, versionId] = [randomUUID(), randomUUID()];
  const plan = await newFilePlan(nodePlatform, {
    fileId: id,
    versionId,
    contentSize: SIZE,
    padded: false,
    envelopeOf: (request) => makeEnvelope(nodePlatform, record, key, request),
  });
  const version = await makeVersionStatement(view, author, {
    record,
    header: plan.header,
    envelope: plan.envelope,
    commitment: plan.keys.commitment,
    messageLength: plan.messageSize ?? 0,
    digest: null,
    previous: null,
    time: Date.now(),
  });
  const place = { kind: "file", id, revision: 1n, keyId: record.keyId } as const;
  const named = { name: "large.bin", contentType: "video/mp4", size: SIZE };
  const metadata = await encryptMetadata(nodePlatform, key, place, named);
  const entry = await makeEntryStatement(view, author, {
    kind: "file",
    id,
    folderId: null,
    metadata,
    record,
    previous: null,
    time: Date.now(),
  });
  const [version64, entry64, metadata64] = [version.bytes, entry.bytes, metadata].map((bytes) =>
    Buffer.from(bytes).toString("base64"),
  );
  const nameIndex = "0".repeat(32);
  const shared = { version: version64 ?? "", entry: entry64 ?? "", metadata: metadata64 ?? "", nameIndex };
  const { name: _name, storedSize: _stored, ...file } = small.file;
  return { plan, file: { ...file, id, versionId, name: "", size: plan.fileSize ?? 0, shared } };
}

/** Bytes `from` to `to` of the stored file: the chunks around them, encrypted now. The start of the file is part of chunk 0. */
async function storedBytes(plan: FilePlan, from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunkAt = (at: number): number => Math.max(0, Math.floor((at - partOffset(plan, 1)) / 16_400) + 1);
  const [first, end] = [chunkAt(from), chunkAt(to - 1) + 1];
  const pieces: Uint8Array[] = [];
  for (let chunk = first; chunk < end; chunk += 1)
    pieces.push((await encryptPart(nodePlatform, plan, contentOf, chunk, chunk + 1)).bytes);
  const start = partOffset(plan, first);
  return Uint8Array.from(Buffer.concat(pieces).subarray(from - start, to - start));
}

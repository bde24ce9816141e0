/** The process of the crypto benchmarks: `encrypt|decrypt FROM TO`, or `idle`; prints its own peak memory. */
import { open } from "node:fs/promises";
import { DataKey, decryptFile, encryptFile, newFilePlan } from "@coffer/crypto";
import { nodePlatform, readContentOf, writePieces } from "@coffer/crypto/node";
import { peakMebibytes } from "./machine.ts";

/** A benchmark's key: what it encrypts is no secret. */
const KEY = new DataKey(new Uint8Array(32));

const [direction, from = "", to = ""] = process.argv.slice(2);
if (direction !== "idle") await write(to, convert());
console.log(JSON.stringify({ peak: peakMebibytes(process.pid) }));

async function* convert(): AsyncGenerator<Uint8Array> {
  await using file = await open(from);
  const source = readContentOf(file)(0, (await file.stat()).size);
  if (direction === "encrypt") yield* encryptFile(await makePlan(), source, { reuseBuffer: true });
  else yield* decryptFile(nodePlatform, source, { unlock: () => ({ dataKey: KEY }), reuseBuffer: true });
}

async function makePlan() {
  const salt = nodePlatform.randomBytes(24);
  const platform = { ...nodePlatform, randomBytes: (length: number) => (length === 24 ? salt : KEY.reveal()) };
  return newFilePlan(platform, {
    fileId: "01890a5d-ac96-774b-bcce-b302099a8057",
    versionId: "01890a5d-ac96-774b-bcce-b302099a8058",
    contentSize: null,
    padded: false,
    envelopeOf: () => new Uint8Array(1000),
  });
}

async function write(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  await using file = await open(path, "w");
  await writePieces(file, pieces);
}

/** Encrypts or decrypts a file into another: `encrypt-file.ts encrypt|decrypt FROM TO`. */
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { DataKey, decryptFile, encryptFile, newFilePlan } from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";

const PIECE_BYTES = 1024 * 1024;
/** What a benchmark encrypts is no secret. */
const KEY = new Uint8Array(32);

const [direction, from = "", to = ""] = process.argv.slice(2);
const source = createReadStream(from, { highWaterMark: PIECE_BYTES });
const pieces =
  direction === "encrypt"
    ? encryptFile(await makePlan(), source)
    : decryptFile(nodePlatform, source, { unlock: () => ({ dataKey: new DataKey(KEY) }) });
await pipeline(pieces, createWriteStream(to));

async function makePlan() {
  const platform = {
    ...nodePlatform,
    randomBytes: (length: number) => (length === KEY.length ? KEY.slice() : nodePlatform.randomBytes(length)),
  };
  return newFilePlan(platform, {
    fileId: "01890a5d-ac96-774b-bcce-b302099a8057",
    versionId: "01890a5d-ac96-774b-bcce-b302099a8058",
    contentSize: null,
    padded: false,
    envelopeOf: () => new Uint8Array(1000),
  });
}

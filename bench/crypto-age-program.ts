/** age-encryption doing the same as crypto-program.ts: `encrypt|decrypt FROM TO IDENTITY`. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { writePieces } from "@coffer/crypto/node";
import { Decrypter, Encrypter, identityToRecipient } from "age-encryption";
import { peakMebibytes } from "./machine.ts";

const PIECE_BYTES = 256 * 1024;

const [direction, from = "", to = "", identity = ""] = process.argv.slice(2);
const source = Readable.toWeb(createReadStream(from, { highWaterMark: PIECE_BYTES })) as ReadableStream<Uint8Array>;
await using file = await open(to, "w");
await writePieces(file, direction === "encrypt" ? await encrypt() : await decrypt());
console.log(JSON.stringify({ peak: peakMebibytes(process.pid) }));

async function encrypt(): Promise<ReadableStream<Uint8Array>> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(identity));
  return encrypter.encrypt(source);
}

async function decrypt(): Promise<ReadableStream<Uint8Array>> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(source);
}

/** age-encryption doing the same as encrypt-file.ts: `age-encrypt-file.ts encrypt|decrypt FROM TO IDENTITY`. */
import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Decrypter, Encrypter, identityToRecipient } from "age-encryption";

const PIECE_BYTES = 1024 * 1024;

const [direction, from = "", to = "", identity = ""] = process.argv.slice(2);
const source = Readable.toWeb(createReadStream(from, { highWaterMark: PIECE_BYTES })) as ReadableStream<Uint8Array>;
await pipeline(direction === "encrypt" ? await encrypt() : await decrypt(), createWriteStream(to));

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

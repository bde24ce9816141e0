/**
 * What the scan of the suite must see: a program that encrypts, as members do, and then lets something out. It imports nothing of the
 * product and nothing of the scan; its first argument says what it does, its second one is a directory of its own.
 */
import { spawn } from "node:child_process";
import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";

const [mode = "", directory = ""] = process.argv.slice(2);
const NAME = "minutes of the board meeting.pdf";

function encrypt(plaintext: Uint8Array): Buffer {
  const cipher = createCipheriv("aes-256-gcm", randomBytes(32), randomBytes(12));
  return Buffer.concat([cipher.update(plaintext), cipher.final()]);
}

/** Metadata as file-format §9 has it. */
function metadata(): Buffer {
  const type = "application/pdf";
  const text = Buffer.from(NAME);
  const parts = [[1, 0, text.length], text, [type.length], Buffer.from(type), new Uint8Array(8)];
  const encoded = Buffer.concat(parts.map((part) => Uint8Array.from(part)));
  return Buffer.concat([encoded, Buffer.alloc(64 - encoded.length)]);
}

async function send(...pieces: readonly (Uint8Array | string)[]): Promise<void> {
  const server = createServer((socket) => socket.resume().on("end", () => socket.end())).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").resume();
  for (const piece of pieces) await new Promise((done) => socket.write(piece, done));
  socket.end();
  await once(socket, "close");
  server.close();
}

/** The directory of a server, which is gone when the program ends. */
async function store(content: Uint8Array | string): Promise<void> {
  mkdirSync(join(directory, "blobs"), { recursive: true });
  const database = new DatabaseSync(join(directory, "data.sqlite"));
  database.exec("CREATE TABLE a (b)");
  database.close();
  writeFileSync(join(directory, "blobs", "one"), content);
  await rm(directory, { recursive: true });
}

/** No two pieces of it are the same, and none has too few different bytes to be looked for: chance would see to neither for certain. */
const content = Buffer.concat(Array.from({ length: 32 }, (_, at) => createHash("sha256").update(`${at}`).digest()));
const key = randomBytes(32);
const acts: Readonly<Record<string, () => Promise<void>>> = {
  "nothing leaks": async () => {
    encrypt(metadata());
    await send(encrypt(content), encrypt(key));
    await store(encrypt(content));
  },
  "content on the wire": async () => {
    encrypt(content);
    await send("PUT /file HTTP/1.1\r\n\r\n", content);
  },
  "content on the wire before it is known": async () => {
    await send(content.toString("base64"));
    encrypt(content);
  },
  "a key on the wire, in two writes": async () => {
    encrypt(key);
    await send("x".repeat(9), key.subarray(0, 10), key.subarray(10));
  },
  "a key of WebCrypto on the wire": async () => {
    const imported = await crypto.subtle.importKey("raw", randomBytes(32), "AES-GCM", false, ["encrypt"]);
    await crypto.subtle.encrypt({ name: "AES-GCM", iv: randomBytes(12) }, imported, key);
    await send(JSON.stringify({ key: [...key] }));
  },
  "a name on the wire": async () => {
    encrypt(metadata());
    await send(`GET /files?name=${encodeURIComponent(NAME)} HTTP/1.1\r\n\r\n`);
  },
  "a key on a server's disk": async () => {
    encrypt(key);
    await store(`key=${key.toString("base64")}`);
  },
  "content on the wire of a child": () => start("content on the wire"),
  "a name in the log of a child": () => start("prints the name"),
  "content on the wire of a thread": async () => {
    const thread = new Worker(new URL(import.meta.url), { argv: ["content on the wire", directory] });
    await once(thread, "exit");
  },
  "prints the name": async () => {
    encrypt(metadata());
    process.stderr.write(`cannot read ${NAME}\n`);
  },
};

/** With an environment of its own that says nothing of a scan. */
async function start(act: string): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, act, directory], { env: { PATH: "" }, stdio: "pipe" });
  child.stderr.resume();
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`the child ended with ${code}`);
}

const act = acts[mode];
if (act === undefined) throw new Error(`unknown: ${mode}`);
await act();

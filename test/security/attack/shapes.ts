/** HTTP that no client library sends, with the one answer that each must get. */
import { connect } from "node:net";
import { RAW_CASES, tryRawCase } from "../../fuzz/raw-socket.ts";
import type { Section, Target } from "./target.ts";

const END = "Host: x\r\nConnection: close\r\n\r\n";

const coded = (coding: string) =>
  `POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`;

const json = (body: string, length = Buffer.byteLength(body)) =>
  `POST /api/auth/logout HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${String(length)}\r\n${END}${body}`;

/** The status is the server's first. */
const CASES: Readonly<Record<string, readonly [bytes: string, status: number]>> = {
  "two Host lines": [`GET /healthz HTTP/1.1\r\nHost: a\r\n${END}`, 400],
  "no version": ["GET /healthz\r\n\r\n", 400],
  "version 2.0": [`GET /healthz HTTP/2.0\r\n${END}`, 400],
  "gzip before chunked": [coded("gzip, chunked"), 400],
  "chunked twice": [coded("chunked, chunked"), 400],
  "identity before chunked": [coded("identity, chunked"), 400],
  "a coding that nobody has": [coded("x-odd, chunked"), 400],
  "chunked after all": [coded("chunked, gzip"), 400],
  "a target that is not UTF-8": [`GET /api/files?name=%c3%28 HTTP/1.1\r\n${END}`, 400],
  "a raw byte in a target": [`GET /api/files?name=\u00ff HTTP/1.1\r\n${END}`, 400],
  "a megabyte without a credential": [json("", 1_000_000), 413],
  "17 KiB without a credential": [json("", 17 * 1024), 413],
  "deep JSON": [json("[".repeat(10_000)), 400],
  "wide JSON": [json(`[${"1,".repeat(7_000)}1]`), 400],
  "a prototype in a body": [json('{"refreshToken":"x","__proto__":{}}'), 400],
  "length and chunks": [
    `POST /api/auth/logout HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n${END}0\r\n\r\n`,
    400,
  ],
  "a header without a colon": [`GET /healthz HTTP/1.1\r\nodd\r\n${END}`, 400],
  "headers beyond every limit": [`GET /healthz HTTP/1.1\r\nx-big: ${"h".repeat(40_000)}\r\n${END}`, 431],
  "a good request": [`GET /healthz HTTP/1.1\r\n${END}`, 200],
};

export async function attackWithShapes({ baseUrl }: Target): Promise<Section> {
  const findings: string[] = [];
  for (const [name, [bytes, wanted]] of Object.entries(CASES)) {
    const status = await statusOf(baseUrl, bytes);
    if (status !== wanted) findings.push(`${name}: answered ${String(status)}, not ${String(wanted)}`);
  }
  for (const [name, bytes] of Object.entries(RAW_CASES))
    findings.push(...(await tryRawCase(baseUrl, bytes)).map((problem) => `${name}: ${problem}`));
  if ((await fetch(`${baseUrl}/healthz`)).status !== 200) findings.push("the service is not healthy after that");
  const checks = Object.keys(CASES).length + Object.keys(RAW_CASES).length;
  return { name: "shapes of HTTP", checks, findings, notes: [] };
}

/** null: closed without an answer. */
function statusOf(baseUrl: string, bytes: string): Promise<number | null> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(bytes, "latin1")));
    const done = (): void => {
      socket.destroy();
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1];
      resolve(status === undefined ? null : Number(status));
    };
    socket.setTimeout(10_000, done);
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
      if (answer.includes("\r\n\r\n")) done();
    });
    socket.on("error", done).on("close", done);
  });
}

/** HTTP that no client library sends: what the server's parser, limits and error paths must survive. */
import { connect } from "node:net";
import { parseJson } from "../conformance/judge.ts";
import { fitsStatus, isErrorCode } from "@coffer/contract";

/** What a case must be answered with: an error, or nothing but a closed connection. */
const PATIENCE_MS = 5_000;

export const RAW_CASES: Readonly<Record<string, string | Buffer>> = {
  "no HTTP at all": "hello\r\n\r\n",
  "TLS client hello": Buffer.from("16030100c8010000c40303", "hex"),
  "unknown version": "GET /api/account HTTP/9.9\r\nhost: x\r\n\r\n",
  "no host": "GET /api/account HTTP/1.1\r\n\r\n",
  "two hosts": "GET /api/account HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
  "unknown method": "FROBNICATE /api/account HTTP/1.1\r\nhost: x\r\n\r\n",
  CONNECT: "CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n",
  "absolute target": "GET http://evil.example/api/nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
  "asterisk target": "OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
  "target without slash": "GET api/nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
  "raw bytes in the target": Buffer.from(
    "GET /api/\xff\xfe HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    "latin1",
  ),
  "control characters in a header": "GET /api/account HTTP/1.1\r\nhost: x\r\nx-odd: a\u0001b\r\n\r\n",
  "NUL in a header": "GET /api/account HTTP/1.1\r\nhost: x\r\nx-odd: a\u0000b\r\n\r\n",
  "folded header":
    "GET /api/account HTTP/1.1\r\nhost: x\r\nx-odd: a\r\n b\r\nconnection: close\r\nauthorization: Bearer x\r\n\r\n",
  "space before the colon": "GET /api/account HTTP/1.1\r\nhost : x\r\n\r\n",
  "bare line feeds": "GET /api/account HTTP/1.1\nhost: x\nauthorization: Bearer x\nconnection: close\n\n",
  "length and chunks (smuggling)":
    "POST /api/vaults HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "two lengths": "POST /api/vaults HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nabcd",
  "negative length": "POST /api/vaults HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
  "huge length": "POST /api/vaults HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999999999999\r\n\r\n",
  "length in hex": "POST /api/vaults HTTP/1.1\r\nhost: x\r\ncontent-length: 0x4\r\n\r\nabcd",
  "odd transfer coding": "POST /api/vaults HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, identity\r\n\r\n",
  "broken chunk size":
    "POST /api/vaults HTTP/1.1\r\nhost: x\r\nauthorization: Bearer x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\n",
  "chunk longer than said":
    "POST /api/files?name=a HTTP/1.1\r\nhost: x\r\nauthorization: Bearer x\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabcdef\r\n0\r\n\r\n",
  "headers above every limit": `GET /api/account HTTP/1.1\r\nhost: x\r\nx-big: ${"h".repeat(100_000)}\r\n\r\n`,
  "target above every limit": `GET /api/${"p".repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  "thousands of headers": `GET /api/account HTTP/1.1\r\nhost: x\r\n${"a: b\r\n".repeat(3000)}\r\n`,
  "body cut off":
    "POST /api/vaults HTTP/1.1\r\nhost: x\r\nauthorization: Bearer x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
  "pipelined rubbish": "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nrubbish\r\n\r\n",
};

/** Problems of the answer to one case; empty when it is a proper error, a proper answer, or a closed connection. */
export async function tryRawCase(baseUrl: string, bytes: string | Buffer): Promise<string[]> {
  const answer = await converse(baseUrl, bytes);
  if (answer.length === 0) return [];
  const text = answer.toString("latin1");
  const last = text.lastIndexOf("HTTP/1.1 ");
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(text.slice(last))?.[1];
  if (status === undefined) return [`not an HTTP answer: ${JSON.stringify(text.slice(0, 200))}`];
  if (Number(status) < 400) return [];
  return judgeRaw(Number(status), text.slice(last));
}

function judgeRaw(status: number, text: string): string[] {
  const end = text.indexOf("\r\n\r\n");
  const code = /^x-error-code: *(\S+)/im.exec(text.slice(0, end))?.[1] ?? "";
  const problems = status >= 500 ? [`status ${String(status)}`] : [];
  if (!isErrorCode(code)) problems.push(`X-Error-Code is "${code}" with ${String(status)}`);
  else if (!fitsStatus(code, status)) problems.push(`X-Error-Code ${code} with ${String(status)}`);
  const body = parseJson(Buffer.from(text.slice(end + 4), "latin1"));
  const exact = typeof body === "object" && body !== null && Object.keys(body).join() === "error";
  return exact
    ? problems
    : [...problems, `the error body is not { error }: ${JSON.stringify(text.slice(end + 4, end + 204))}`];
}

/** Writes, closes its side, and reads until the server closes or patience ends. */
function converse(baseUrl: string, bytes: string | Buffer): Promise<Buffer> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    const done = () => {
      socket.destroy();
      resolve(Buffer.concat(chunks));
    };
    socket.setTimeout(PATIENCE_MS, done);
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", done);
    socket.on("close", done);
  });
}

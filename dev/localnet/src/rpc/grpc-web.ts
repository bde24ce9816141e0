/** gRPC-Web over `fetch`: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md, binary and text. Unary calls only. */

/** Statuses by number, as gRPC has them. */
export const STATUS = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

export type StatusName = keyof typeof STATUS;

export class RpcFailure extends Error {
  override readonly name = "RpcFailure";
  readonly status: StatusName;

  constructor(status: StatusName, message: string) {
    super(message);
    this.status = status;
  }
}

const HEADER_BYTES = 5;
const TRAILERS = 0x80;
/** Largest request: a transaction with a package, in base64. */
const MAX_REQUEST_BYTES = 1024 * 1024;

/** The message of the request's one frame. Throws {@link RpcFailure} for anything else. */
export async function readMessage(request: Request): Promise<Uint8Array> {
  const body = Buffer.from(await readBounded(request));
  const bytes = isText(request) ? Buffer.from(body.toString("latin1"), "base64") : body;
  if (bytes.length < HEADER_BYTES) throw new RpcFailure("INVALID_ARGUMENT", "the request holds no message");
  const length = bytes.readUInt32BE(1);
  if (bytes[0] !== 0 || bytes.length !== HEADER_BYTES + length) {
    throw new RpcFailure("INVALID_ARGUMENT", "the request is not one uncompressed message");
  }
  return new Uint8Array(bytes.subarray(HEADER_BYTES));
}

async function readBounded(request: Request): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body ?? []) {
    size += part.length;
    if (size > MAX_REQUEST_BYTES) throw new RpcFailure("RESOURCE_EXHAUSTED", "the request is too large");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

export function answer(request: Request, message: Uint8Array): Response {
  return respond(request, [frame(0, message), trailers("OK", "")]);
}

export function refuse(request: Request, failure: RpcFailure): Response {
  return respond(request, [trailers(failure.status, failure.message)]);
}

function respond(request: Request, frames: readonly Uint8Array[]): Response {
  const text = isText(request);
  // Base64 may be padded at the end of each frame: readers take it in groups of four.
  const body = text
    ? frames.map((bytes) => Buffer.from(bytes).toString("base64")).join("")
    : new Uint8Array(Buffer.concat(frames));
  return new Response(body, {
    headers: { "content-type": text ? "application/grpc-web-text+proto" : "application/grpc-web+proto" },
  });
}

export function isGrpcWeb(request: Request): boolean {
  return request.headers.get("content-type")?.startsWith("application/grpc-web") ?? false;
}

function isText(request: Request): boolean {
  return request.headers.get("content-type")?.startsWith("application/grpc-web-text") ?? false;
}

function trailers(status: StatusName, message: string): Uint8Array {
  const lines = [`grpc-status:${STATUS[status]}`];
  if (message !== "") lines.push(`grpc-message:${encodeURIComponent(message)}`);
  return frame(TRAILERS, Buffer.from(`${lines.join("\r\n")}\r\n`));
}

function frame(kind: number, bytes: Uint8Array): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = kind;
  header.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([header, bytes]);
}

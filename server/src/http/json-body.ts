/** JSON request bodies: bounded in size and time, strict UTF-8, and tolerant of an empty body where one may be empty. */
import type { IncomingMessage } from "node:http";
import { JsonBounds } from "../json-bounds.ts";
import { ServiceError } from "../service-error.ts";
import type { BodyPlace } from "../limits/body-room.ts";
import type { Turns } from "./turns.ts";

export interface JsonBody {
  /** As it arrived; the fingerprint of an Idempotency-Key is made of it. */
  readonly text: string;
  readonly value: unknown;
}

/** Whether the framing announces a body (RFC 9112 §6). */
export function announcesBody(raw: IncomingMessage): boolean {
  if (raw.headers["transfer-encoding"] !== undefined) return true;
  const length = raw.headers["content-length"];
  return length !== undefined && length !== "0";
}

/**
 * The body's JSON value, or null for an empty body (whatever its media type: many clients send `application/json` with
 * nothing). Rejects with the ServiceError to answer; what is left of the body is then unread.
 */
export async function readJsonBody(raw: IncomingMessage, limits: JsonBodyLimits): Promise<JsonBody | null> {
  if (!announcesBody(raw)) return null;
  const bounds = new JsonBounds();
  let begun = false;
  const bytes = await collectBody(raw, limits, (chunk) => {
    if (!begun) requireJsonType(raw);
    begun = true;
    bounds.add(chunk);
  });
  if (bytes.length === 0) return null;
  return bytes.length <= PARSED_AT_ONCE ? parseJson(bytes) : limits.turns.run(() => parseJson(bytes));
}

export interface BodyLimits {
  readonly bytes: number;
  readonly milliseconds: number;
  /** Where the body's bytes are held; its owner gives it back once the body has been parsed. */
  readonly place: BodyPlace;
}

export interface JsonBodyLimits extends BodyLimits {
  readonly turns: Turns;
}

/** Some tenths of a millisecond at the worst. Bytes. */
const PARSED_AT_ONCE = 4 * 1024;

function requireJsonType(raw: IncomingMessage): void {
  const encoding = raw.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new ServiceError("unsupported_media_type", "Content-Encoding is not supported");
  }
  const type = raw.headers["content-type"] ?? "";
  const [essence = "", ...parameters] = type.toLowerCase().split(";");
  const charset = parameters.find((parameter) => parameter.trim().startsWith("charset="));
  const isUtf8 = charset === undefined || /^\s*charset="?utf-8"?\s*$/.test(charset);
  if (essence.trim() !== "application/json" || !isUtf8) {
    throw new ServiceError("unsupported_media_type", "Unsupported media type: send application/json in UTF-8");
  }
}

function parseJson(bytes: Buffer): JsonBody {
  try {
    // RFC 8259 §8.1: UTF-8, and a receiver may ignore a byte order mark.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { text, value: JSON.parse(text) as unknown };
  } catch (cause) {
    throw new ServiceError("malformed_json", undefined, { cause });
  }
}

function tooLarge(limit: number): ServiceError {
  return new ServiceError("body_too_large", `The body is larger than ${limit} bytes`);
}

/** The whole body, within bounds of size and time. Rejects as {@link readJsonBody} does, and with what `look` throws at a piece of it. */
export async function collectBody(
  raw: IncomingMessage,
  limits: BodyLimits,
  onChunk: (chunk: Buffer) => void = ignore,
): Promise<Buffer> {
  if (Number(raw.headers["content-length"] ?? 0) > limits.bytes) throw tooLarge(limits.bytes);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => stop(new ServiceError("request_timeout")), limits.milliseconds);
    const stop = (failure: ServiceError | null): void => {
      clearTimeout(timer);
      raw.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
      if (failure === null) return resolve(Buffer.concat(chunks, size));
      raw.on("error", ignore).pause();
      reject(failure);
    };
    const onData = (chunk: Buffer): void => {
      try {
        size += chunk.length;
        if (size > limits.bytes) throw tooLarge(limits.bytes);
        limits.place.add(chunk.length);
        onChunk(chunk);
        chunks.push(chunk);
      } catch (failure) {
        stop(failure as ServiceError);
      }
    };
    const onEnd = (): void => stop(null);
    const onClose = (): void => stop(new ServiceError("body_truncated"));
    raw.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

/** An aborted request emits `error`; it has been answered for already. */
function ignore(): void {}

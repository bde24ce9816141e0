/** Bytes and digests that the flows send. */
import { createHash } from "node:crypto";

/** Bytes that repeat nowhere in short distance, so that a shifted or torn range shows. */
export function sampleBytes(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let state = seed >>> 0 || 1;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** RFC 9530 field value: `sha-256=:<base64>:`. */
export function digestField(bytes: Uint8Array): string {
  return `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;
}

/** tus `Upload-Checksum`: algorithm and base64. */
export function tusChecksum(algorithm: "sha1" | "sha256", bytes: Uint8Array): string {
  return `${algorithm} ${createHash(algorithm).update(bytes).digest("base64")}`;
}

/** tus `Upload-Metadata`: names and base64 values. */
export function tusMetadata(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`)
    .join(",");
}

export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

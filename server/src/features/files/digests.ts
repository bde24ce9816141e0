/** Digests that a sender adds to a body (RFC 9530): checked before anything is acknowledged. */
import { createHash, type Hash } from "node:crypto";
import { ServiceError } from "../../service-error.ts";

/** The algorithms of RFC 9530 §5 that are not deprecated there. */
const ALGORITHMS = { "sha-256": { name: "sha256", bytes: 32 }, "sha-512": { name: "sha512", bytes: 64 } } as const;
type Algorithm = keyof typeof ALGORITHMS;

export interface ExpectedDigest {
  readonly algorithm: Algorithm;
  readonly value: Buffer;
}

interface DigestHeaders {
  readonly "content-digest"?: string | undefined;
  readonly "repr-digest"?: string | undefined;
}

/**
 * One member of an RFC 9651 dictionary whose value is a byte sequence, with parameters that mean nothing here. Byte
 * sequences hold no comma, so a comma separates members without a full parser.
 */
const MEMBER = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):(?:[ ]*;[ ]*[a-z*][a-z0-9_.*-]*(?:=[^,;"\s]+)?)*$/;

/** Unknown algorithms are ignored (RFC 9530 §2); throws `validation_failed` for a malformed field. */
export function parseDigests(headers: DigestHeaders): ExpectedDigest[] {
  return (["content-digest", "repr-digest"] as const).flatMap((name) => {
    const field = headers[name];
    return field === undefined ? [] : field.split(",").flatMap((member) => parseMember(name, member.trim()));
  });
}

function parseMember(name: string, member: string): ExpectedDigest[] {
  const match = MEMBER.exec(member);
  if (match === null) throw malformed(name);
  const [, algorithm = "", encoded = ""] = match;
  if (!isKnown(algorithm)) return [];
  const value = Buffer.from(encoded, "base64");
  if (value.length !== ALGORITHMS[algorithm].bytes) throw malformed(name);
  return [{ algorithm, value }];
}

function isKnown(algorithm: string): algorithm is Algorithm {
  return Object.hasOwn(ALGORITHMS, algorithm);
}

function malformed(name: string): ServiceError {
  return new ServiceError("validation_failed", `headers.${name}: expected sha-256=:<base64>: or sha-512=:<base64>:`);
}

/** Repr-Digest of stored bytes whose SHA-256 is known in hex. */
export function renderReprDigest(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`;
}

/**
 * Passes the bytes on and rejects with `digest_mismatch` at their end when a digest differs, so the reader fails before
 * it completes anything. Hashes only what is asked for; a body without digests is not touched.
 */
export function verifying(
  source: AsyncIterable<Uint8Array>,
  expected: readonly ExpectedDigest[],
): AsyncIterable<Uint8Array> {
  return expected.length === 0 ? source : verifyAtEnd(source, expected);
}

async function* verifyAtEnd(
  source: AsyncIterable<Uint8Array>,
  expected: readonly ExpectedDigest[],
): AsyncGenerator<Uint8Array> {
  const hashes = new Map<Algorithm, Hash>();
  for (const { algorithm } of expected) hashes.set(algorithm, createHash(ALGORITHMS[algorithm].name));
  for await (const chunk of source) {
    for (const hash of hashes.values()) hash.update(chunk);
    yield chunk;
  }
  const found = new Map([...hashes].map(([algorithm, hash]) => [algorithm, hash.digest()]));
  for (const { algorithm, value } of expected) {
    if (found.get(algorithm)?.equals(value) !== true) throw digestMismatch(algorithm);
  }
}

/** Compares with a SHA-256 the blob store has counted anyway, sparing a second pass over the bytes. */
export function requireDigests(expected: readonly ExpectedDigest[], sha256: string): void {
  for (const { algorithm, value } of expected) {
    if (algorithm === "sha-256" && value.toString("hex") !== sha256) throw digestMismatch(algorithm);
  }
}

/** The digests that {@link requireDigests} cannot check after the fact. */
export function beyondSha256(expected: readonly ExpectedDigest[]): ExpectedDigest[] {
  return expected.filter(({ algorithm }) => algorithm !== "sha-256");
}

function digestMismatch(algorithm: Algorithm): ServiceError {
  return new ServiceError("digest_mismatch", `The bytes do not match the ${algorithm} digest that was sent`);
}

/** The body of `POST /v1/fetch_key`: JSON from outside into what the key server checks. */
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { isValidSuiAddress } from "@mysten/sui/utils";
import { parseApproval, type Approval } from "./approval.ts";
import { memoize } from "./memoize.ts";
import { BadBodyError, KeyServerError } from "./key-server-error.ts";
import type { SessionKeys } from "./encrypted-key.ts";

/** By which a user lets a session key ask for a while. */
export interface Certificate {
  readonly user: string;
  /** 32 bytes, Ed25519. */
  readonly sessionKey: Uint8Array;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly minutes: number;
  /** Serialised Sui signature over the personal message, Base64. */
  readonly signature: string;
  /** A name of the package at the Move registry. */
  readonly packageName: string | null;
}

export interface FetchRequest {
  readonly approval: Approval;
  readonly session: SessionKeys;
  /** As received, for the session's signature. */
  readonly sessionBytes: { readonly encryption: Uint8Array; readonly verification: Uint8Array };
  /** 64 bytes, by the session key. */
  readonly requestSignature: Uint8Array;
  readonly certificate: Certificate;
}

/** Base64 of a multisig of ten zkLogin signatures. */
const MAX_SIGNATURE = 96 * 1024;

/**
 * @throws BadBodyError when the body is not of the form.
 * @throws KeyServerError `InvalidPTB` when the form is right and the transaction is not.
 */
export function parseFetchRequest(body: string): FetchRequest {
  const json = parseObject(parseJson(body), "the body");
  const encryption = parseBytes(json["enc_key"], 48, "enc_key");
  const verification = parseBytes(json["enc_verification_key"], 96, "enc_verification_key");
  const requestSignature = parseBytes(json["request_signature"], 64, "request_signature");
  const certificate = parseCertificate(parseObject(json["certificate"], "certificate"));
  const session = {
    encryption: parseG1(encryption, "enc_key"),
    verification: parseG2(verification, "enc_verification_key"),
  };
  const transaction = decodeBase64(parseText(json["ptb"], "ptb"));
  if (transaction === null) throw new KeyServerError("InvalidPTB", "Invalid PTB: Invalid Base64");
  const approval = parseApproval(transaction);
  return { approval, session, sessionBytes: { encryption, verification }, requestSignature, certificate };
}

function parseCertificate(json: Record<string, unknown>): Certificate {
  const user = parseText(json["user"], "certificate.user");
  if (!isValidSuiAddress(user)) throw malformed("certificate.user");
  const signature = parseText(json["signature"], "certificate.signature");
  if (signature.length > MAX_SIGNATURE) throw malformed("certificate.signature");
  const name = json["mvr_name"];
  return {
    user,
    sessionKey: parseBytes(json["session_vk"], 32, "certificate.session_vk"),
    createdAt: parseWhole(json["creation_time"], Number.MAX_SAFE_INTEGER, "certificate.creation_time"),
    minutes: parseWhole(json["ttl_min"], 65_535, "certificate.ttl_min"),
    signature,
    packageName: name == null ? null : parseText(name, "certificate.mvr_name"),
  };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new BadBodyError(400, "Failed to parse the request body as JSON");
  }
}

function parseObject(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed(name);
  return { ...value };
}

function parseText(value: unknown, name: string): string {
  if (typeof value !== "string") throw malformed(name);
  return value;
}

function parseWhole(value: unknown, limit: number, name: string): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > limit) throw malformed(name);
  return value;
}

function parseBytes(value: unknown, length: number, name: string): Uint8Array {
  const bytes = decodeBase64(parseText(value, name));
  if (bytes?.length !== length) throw malformed(name);
  return bytes;
}

/** Only points of the prime-order subgroup, and not the one at infinity. */
function parsePoint<P extends { assertValidity(): void; is0(): boolean }>(
  curve: { fromBytes(bytes: Uint8Array): P },
  bytes: Uint8Array,
  name: string,
): P {
  try {
    const point = curve.fromBytes(bytes);
    point.assertValidity();
    if (!point.is0()) return point;
  } catch {
    // Answered below.
  }
  throw malformed(name);
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const parseG1 = memoize(
  (bytes: Uint8Array, name: string) => parsePoint(bls12_381.G1.Point, bytes, name),
  (bytes) => hexOf(bytes),
);
const parseG2 = memoize(
  (bytes: Uint8Array, name: string) => parsePoint(bls12_381.G2.Point, bytes, name),
  (bytes) => hexOf(bytes),
);

function decodeBase64(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? new Uint8Array(bytes) : null;
}

function malformed(name: string): BadBodyError {
  return new BadBodyError(422, `Failed to deserialize the JSON body into the target type: ${name}`);
}

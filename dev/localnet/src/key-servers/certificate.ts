/** Whether a request is by the user it names: certificate, session signature and clock. */
import { bcs } from "@mysten/sui/bcs";
import { Ed25519PublicKey } from "@mysten/sui/keypairs/ed25519";
import type { ChainAccess } from "../chain-access.ts";
import type { Certificate, FetchRequest } from "./fetch-request.ts";
import { KeyServerError } from "./key-server-error.ts";

const MAX_MINUTES = 30;
const MINUTE = 60_000;

/** What the session key signs, without an intent. */
const RequestFormat = bcs.struct("RequestFormat", {
  ptb: bcs.byteVector(),
  encKey: bcs.byteVector(),
  encVerificationKey: bcs.byteVector(),
});

export interface CertificateFacts {
  /** The first version of the package that is asked. */
  readonly originalPackageId: string;
  /** This server's clock, milliseconds since 1970. */
  readonly now: number;
  /** Real key servers refuse users who set up address aliases; here a fault says so. */
  readonly aliased: boolean;
}

/** @throws KeyServerError `InvalidCertificate`, `InvalidSignature`, `InvalidSessionSignature` or `InvalidMVRName`. */
export async function checkCertificate(
  request: FetchRequest,
  facts: CertificateFacts,
  chain: Pick<ChainAccess, "verifyPersonalMessage">,
): Promise<void> {
  const { certificate } = request;
  // There is no Move registry here, so no name is consistent with a package.
  if (certificate.packageName !== null) throw new KeyServerError("InvalidMVRName", "Invalid MVR name");
  checkTimes(certificate, facts.now);
  const message = new TextEncoder().encode(certificateText(certificate, facts.originalPackageId));
  const signed = await chain.verifyPersonalMessage(message, certificate.signature, certificate.user);
  if (facts.aliased || !signed) throw new KeyServerError("InvalidSignature", "Invalid user signature");
  if (!(await isSignedBySession(request)))
    throw new KeyServerError("InvalidSessionSignature", "Invalid session key signature");
}

function checkTimes(certificate: Certificate, now: number): void {
  const age = now - certificate.createdAt;
  const lifetime = certificate.minutes * MINUTE;
  if (certificate.minutes <= MAX_MINUTES && age >= 0 && age <= lifetime) return;
  throw new KeyServerError("InvalidCertificate", "Invalid certificate time or ttl");
}

/** The personal message a user signs, letter by letter (`@mysten/seal` SessionKey). */
function certificateText(certificate: Certificate, packageId: string): string {
  const from = new Date(certificate.createdAt).toISOString().slice(0, 19).replace("T", " ");
  const sessionKey = Buffer.from(certificate.sessionKey).toString("base64");
  return `Accessing keys of package ${packageId} for ${certificate.minutes} mins from ${from} UTC, session key ${sessionKey}`;
}

async function isSignedBySession(request: FetchRequest): Promise<boolean> {
  const message = RequestFormat.serialize({
    ptb: request.approval.bytes,
    encKey: request.sessionBytes.encryption,
    encVerificationKey: request.sessionBytes.verification,
  }).toBytes();
  try {
    return await new Ed25519PublicKey(request.certificate.sessionKey).verify(message, request.requestSignature);
  } catch {
    return false;
  }
}

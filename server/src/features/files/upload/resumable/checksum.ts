/** Upload-Checksum (tus 1.0.0, "Checksum"): one part's digest, checked before the part counts. */
import { createHash } from "node:crypto";
import { TUS_CHECKSUMS } from "@coffer/contract";
import { ServiceError } from "../../../../service-error.ts";

export interface ExpectedChecksum {
  readonly algorithm: (typeof TUS_CHECKSUMS)[number];
  readonly digest: Buffer;
}

const LENGTHS = { sha256: 32, sha1: 20 } as const;

/** null when none was sent. Throws `validation_failed` for an algorithm that is not ours (the protocol asks for 400). */
export function parseChecksum(header: string | undefined): ExpectedChecksum | null {
  if (header === undefined) return null;
  const [name = "", encoded = "", ...rest] = header.trim().split(" ");
  const algorithm = TUS_CHECKSUMS.find((known) => known === name);
  if (algorithm === undefined) throw invalid(`expected one of ${TUS_CHECKSUMS.join(", ")}`);
  const digest = Buffer.from(encoded, "base64");
  if (rest.length > 0 || digest.length !== LENGTHS[algorithm] || digest.toString("base64") !== encoded) {
    throw invalid("expected the digest in base64");
  }
  return { algorithm, digest };
}

/** Passes the bytes on and rejects with `checksum_mismatch` at their end. */
export async function* checking(
  source: AsyncIterable<Uint8Array>,
  expected: ExpectedChecksum,
): AsyncGenerator<Uint8Array> {
  const hash = createHash(expected.algorithm);
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
  if (!hash.digest().equals(expected.digest)) throw new ServiceError("checksum_mismatch");
}

function invalid(reason: string): ServiceError {
  return new ServiceError("validation_failed", `headers.upload-checksum: ${reason}`);
}

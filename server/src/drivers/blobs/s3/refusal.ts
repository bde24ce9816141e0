/** What a store's refusal means for the caller. */
import { BlobStoreAwayError, BlobStoreFullError } from "../../../ports/blob-store.ts";
import type { S3Settings } from "./settings.ts";
import { readXml, textOf } from "./xml.ts";

/** An answer that is no success, by its status and S3's code. */
export class S3Refusal extends Error {
  override readonly name = "S3Refusal";
  readonly operation: string;
  readonly status: number;
  readonly code: string;
  constructor(operation: string, status: number, code: string) {
    super(`The store answered ${String(status)}${code === "" ? "" : ` ${code}`} to ${operation}`);
    this.operation = operation;
    this.status = status;
    this.code = code;
  }
}

const PASSING: ReadonlySet<string> = new Set([
  ...["InternalError", "SlowDown", "ServiceUnavailable", "RequestTimeout", "OperationAborted", "Throttling"],
  // The bytes that came were not those that were signed: damaged on the way.
  ...["BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody", "ConditionalRequestConflict"],
]);
const FULL: ReadonlySet<string> = new Set(["QuotaExceeded", "InsufficientStorage", "XMinioStorageFull"]);
const OURS: ReadonlySet<string> = new Set([
  ...["AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"],
  ...["RequestTimeTooSkewed", "PermanentRedirect", "AuthorizationHeaderMalformed"],
]);

export function refusalOf(operation: string, status: number, body: string): S3Refusal {
  return new S3Refusal(operation, status, codeIn(body));
}

/** The code of an error document; empty for anything else. */
export function codeIn(body: string): string {
  try {
    const root = readXml(body);
    return root.name === "Error" ? textOf(root, "Code") : "";
  } catch {
    return "";
  }
}

/** The same request can succeed a moment later. */
export function passes({ status, code }: Pick<S3Refusal, "status" | "code">): boolean {
  return PASSING.has(code) || (status >= 500 && status !== 501 && status !== 507) || status === 429 || status === 408;
}

/** As the port says it. A refusal that says nothing about the store itself stays as it is. */
export function asPortError(
  error: unknown,
  { endpoint, bucket, region }: Pick<S3Settings, "endpoint" | "bucket" | "region">,
): unknown {
  if (!(error instanceof S3Refusal)) return error;
  if (isWithoutBucket(error))
    return new BlobStoreAwayError(
      `There is no bucket ${bucket} at ${endpoint}: make it first, for instance by aws s3 mb s3://${bucket} --region ${region} --endpoint-url ${endpoint}`,
      { cause: error },
    );
  if (FULL.has(error.code) || error.status === 507)
    return new BlobStoreFullError("The blob store has no room", { cause: error });
  if (passes(error)) return new BlobStoreAwayError("The blob store does not serve", { cause: error });
  if (!OURS.has(error.code) && error.status !== 401 && error.status !== 403) return error;
  const message = `The blob store refuses this server (${error.code}): check bucket, region, keys and the clock`;
  return new BlobStoreAwayError(message, { cause: error });
}

/** The answer to HEAD has no document that would say so (RFC 9110 §9.3.2), and "ping" asks about the bucket itself. */
function isWithoutBucket({ operation, status, code }: S3Refusal): boolean {
  return code === "NoSuchBucket" || (operation === "ping" && status === 404);
}

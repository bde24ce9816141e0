/** Signatures by the text of the standard (AWS, "Authenticating requests"), beside the library's. */
import { createHash, createHmac } from "node:crypto";

export interface ToSign {
  /** As in `X-Amz-Date`: `20260101T000000Z`. */
  readonly date: string;
  readonly region: string;
  readonly secretAccessKey: string;
  /** The request in its canonical form. */
  readonly canonical: string;
}

/** The scope, and the signature in hex. */
export function signByHand({ date, region, secretAccessKey, canonical }: ToSign): { scope: string; signature: string } {
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", date, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const key = scope
    .split("/")
    .reduce<Buffer | string>((sum, part) => createHmac("sha256", sum).update(part).digest(), `AWS4${secretAccessKey}`);
  return { scope, signature: createHmac("sha256", key).update(text).digest("hex") };
}

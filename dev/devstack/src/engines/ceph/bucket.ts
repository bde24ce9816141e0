import { AwsClient } from "aws4fetch";
import type { CephAddress } from "./ceph.ts";

/** Also when it is there already. */
export async function createBucket(
  { endpoint, accessKeyId, secretAccessKey }: CephAddress,
  bucket: string,
): Promise<void> {
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", region: "us-east-1" });
  const answer = await client.fetch(`${endpoint}/${bucket}`, { method: "PUT" });
  if (!answer.ok) throw new Error(`Ceph makes no bucket: ${await answer.text()}`);
}

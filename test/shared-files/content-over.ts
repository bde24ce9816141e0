import { createHash } from "node:crypto";

/** What a writer stores over a version. Its digest, since ids of versions go over the wire and no content may. */
export function contentOver(versionId: string): string {
  return createHash("sha256").update(versionId).digest("hex");
}

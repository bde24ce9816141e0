import { api } from "@coffer/contract";
import { type Digest, digestLocal, digestStored, openSource } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Fact } from "../result.ts";
import { COUNT, FLAG, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { findReadableFile } from "./own-file.ts";
import { itemRef, localPath, namedVault, vaultRef } from "./places.ts";

export const fileVerify = defineTool({
  name: "file_verify",
  profile: "read",
  title: "Verify a file",
  description:
    "Reads the stored bytes and reports whether they are intact or damaged; with path, whether a local file is equal.",
  endpoints: [api.files.get, api.files.content],
  touchesFiles: true,
  input: { file: itemRef, path: z.optional(localPath), vaultId: z.optional(vaultRef) },
  describe: { path: "file to compare; default: none", vaultId: "id or name, for paths; default: none" },
  output: { fileId: TEXT, intact: FLAG, equal: FLAG, bytes: COUNT, sha256: TEXT },
  run: async ({ file: named, path, vaultId }, call) => {
    const file = await findReadableFile(call, named, await namedVault(call, vaultId));
    const local = path === undefined ? null : await digestPath(call, path);
    const stored = await digestStored(call, file.id, file.size);
    // Only a client that decrypts it can compute this digest: the service lists the digest of the encrypted bytes.
    const sha256 = file.encrypted ? stored.sha256 : file.sha256;
    const intact = !stored.damaged && stored.sha256 === sha256 && stored.bytes === file.size;
    const known = intact || !file.encrypted;
    const equal = local === null || !known ? null : local.sha256 === sha256 && local.bytes === file.size;
    return {
      summary: verdict(intact, equal),
      facts: verifyFacts(file, known ? sha256 : null, intact, equal, stored, local),
    };
  },
});

function verdict(intact: boolean, equal: boolean | null): string {
  if (!intact) return "The stored file is damaged.";
  if (equal === null) return "The stored file is intact.";
  return equal ? "Intact, and equal to the local file." : "Intact, but the local file differs.";
}

function verifyFacts(
  file: { id: string; size: number },
  sha256: string | null,
  intact: boolean,
  equal: boolean | null,
  stored: Digest,
  local: Digest | null,
): Record<string, Fact> {
  return {
    fileId: file.id,
    intact,
    equal,
    bytes: file.size,
    sha256,
    ...(intact ? {} : { storedBytes: stored.bytes, storedSha256: stored.sha256 }),
    ...(local === null ? {} : { localBytes: local.bytes, localSha256: local.sha256 }),
  };
}

async function digestPath(call: Call, path: string): Promise<Digest> {
  await using source = await openSource(call.folders, path);
  return await digestLocal(call, source);
}

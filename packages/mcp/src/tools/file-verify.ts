import { api } from "@coffer/contract";
import { type Digest, digestLocal, openSource, type Verification, verifyFile } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Fact } from "../result.ts";
import { COUNT, FLAG, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { findReadableFile } from "./file-facts.ts";
import { itemRef, localPath, namedVault, vaultRef } from "./reference-input.ts";

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
  run: async ({ file: fileText, path, vaultId }, call) => {
    const file = await findReadableFile(call, fileText, await namedVault(call, vaultId));
    const local = path === undefined ? null : await digestPath(call, path);
    const verified = await verifyFile(call, file, local);
    return {
      summary: verdict(verified),
      facts: factsOf(file, verified),
    };
  },
});

function verdict({ equal, intact }: Verification): string {
  if (!intact) return "The stored file is damaged.";
  if (equal === null) return "The stored file is intact.";
  return equal ? "Intact, and equal to the local file." : "Intact, but the local file differs.";
}

function factsOf(file: { id: string; size: number }, verified: Verification): Record<string, Fact> {
  const { equal, intact, local, sha256, stored } = verified;
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

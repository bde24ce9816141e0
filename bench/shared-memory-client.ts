/** A client of the shared-memory benchmark: `node shared-memory-client.ts JOB`, a file with a {@link Job}; prints what it took. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { nodePlatform } from "@coffer/crypto/node";
import { chainKeySigner, createClient } from "@coffer/sdk";
import { downloadFile, uploadFile } from "@coffer/sdk/node";
import { sharedVaults } from "@coffer/sdk/shared";
import { peakMebibytes, residentMebibytes } from "./machine.ts";
import type { ClientSettings } from "./shared-vaults.ts";

export interface Job extends ClientSettings {
  readonly vaultId: string;
  readonly work:
    | { readonly kind: "idle" }
    | { readonly kind: "upload"; readonly path: string; readonly journalDirectory: string }
    | { readonly kind: "download"; readonly fileId: string; readonly path: string }
    | { readonly kind: "range"; readonly fileId: string; readonly offset: number; readonly length: number };
}

/** Memory in MiB. `fetched`: bytes of answers to requests for content. */
export interface Took {
  readonly fileId: string;
  readonly sha256: string;
  readonly opened: number;
  readonly peak: number;
  readonly fetched: number;
  readonly seconds: number;
}

const { apiKey, baseUrl, chainKey, network, proofs, vaultId, work } = JSON.parse(
  readFileSync(process.argv[2] ?? "", "utf8"),
) as Job;
let fetched = 0;
const carry = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const answer = await carry(input, init);
  const url = input instanceof Request ? input.url : String(input);
  if (url.includes("/content")) fetched += Number(answer.headers.get("content-length"));
  return answer;
};
const client = createClient({
  ...{ baseUrl, credentials: { apiKey }, network: proofs },
  sharedVaults: sharedVaults({ signer: await chainKeySigner(chainKey), network, platform: nodePlatform }),
});
// What opens the vault: its files' names are encrypted.
await client.files.list({ vaultId });
const opened = residentMebibytes(process.pid);
// From here on the kernel tells the peak anew (proc(5): clear_refs).
writeFileSync("/proc/self/clear_refs", "5");
const began = performance.now();
const { fileId, sha256 } = await perform();
const seconds = (performance.now() - began) / 1000;
const took: Took = { fileId, sha256, opened, peak: peakMebibytes(process.pid), fetched, seconds };
console.log(JSON.stringify(took));

async function perform(): Promise<{ fileId: string; sha256: string }> {
  if (work.kind === "idle") return { fileId: "", sha256: "" };
  if (work.kind === "upload") {
    const { journalDirectory, path } = work;
    const { file, sha256 } = await uploadFile(client, path, { vaultId, journalDirectory });
    return { fileId: file.id, sha256 };
  }
  const { fileId } = work;
  if (work.kind === "download") return { fileId, sha256: (await downloadFile(client, fileId, work.path)).sha256 };
  const { length, offset } = work;
  const bytes = await (await client.files.download(fileId, { range: { offset, length } })).bytes();
  return { fileId, sha256: createHash("sha256").update(bytes).digest("hex") };
}

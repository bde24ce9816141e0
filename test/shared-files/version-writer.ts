/**
 * A process that writes new versions of files of a shared vault, each on the condition of the version that it has read. It says on standard
 * output what the service confirmed, a line each: the file, the version that it had read, and the one that it made. It ends when its input does.
 */
import { writeSync } from "node:fs";
import { chainKeySigner, createClient, SdkError } from "@coffer/sdk";
import { fileStore } from "@coffer/sdk/node";
import { sharedVaults, vaultStores } from "@coffer/sdk/shared";
import type { NetworkConfiguration } from "@coffer/chain";
import { contentOver } from "./content-over.ts";

interface Task {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly privateKey: string;
  readonly network: NetworkConfiguration;
  readonly vaultId: string;
  readonly fileIds: readonly string[];
  /** What both processes remember of the vault, as programs of one machine do. */
  readonly store: string;
}

const { baseUrl, apiKey, privateKey, network, vaultId, fileIds, store } = JSON.parse(process.env["TASK"] ?? "") as Task;
const signer = await chainKeySigner(privateKey);
const shared = sharedVaults({ signer, network, ...vaultStores(fileStore(store)) });
const client = createClient({ baseUrl, credentials: { apiKey }, sharedVaults: shared });

process.stdin.resume().once("end", () => process.exit());
for (;;) {
  const fileId = fileIds[Math.floor(Math.random() * fileIds.length)] ?? "";
  const { tag, versionId } = await client.files.get(fileId, {});
  try {
    const input = { vaultId, body: contentOver(versionId), ifMatch: tag };
    const { file } = await client.files.replace(fileId, input);
    // At once and whole, so that a kill leaves no half of it.
    writeSync(1, `${fileId} ${versionId} ${file.versionId}\n`);
  } catch (error) {
    if (!(error instanceof SdkError) || error.code !== "precondition_failed") throw error;
  }
}

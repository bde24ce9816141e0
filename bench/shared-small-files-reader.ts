/**
 * A client of the shared-small-files benchmark that wrote nothing of what it reads: `node shared-small-files-reader.ts`. Takes
 * {@link ClientSettings} as its first line; each one after it is a {@link Wanted}, and is answered with a line that is a {@link Came}.
 */
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { nodePlatform } from "@coffer/crypto/node";
import { chainKeySigner, createClient } from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import { rateOf } from "./lanes.ts";
import type { ClientSettings } from "./shared-vaults.ts";

export interface Wanted {
  readonly vault: "public" | "shared";
  readonly fileIds: readonly string[];
}

export interface Came {
  /** Files a second. */
  readonly rate: number;
  /** Processor time of this process for a file, in milliseconds. */
  readonly processor: number;
  /** SHA-256 of all content in the order of the ids, hex. */
  readonly sha256: string;
}

const lines = createInterface(process.stdin)[Symbol.asyncIterator]();
const { apiKey, baseUrl, chainKey, network, proofs } = JSON.parse(await nextLine()) as ClientSettings;
const service = { baseUrl, credentials: { apiKey }, network: proofs };
const signer = await chainKeySigner(chainKey);
const clients = {
  public: createClient(service),
  shared: createClient({ ...service, sharedVaults: sharedVaults({ signer, network, platform: nodePlatform }) }),
};
for (let line = await nextLine(); line !== ""; line = await nextLine())
  console.log(JSON.stringify(await read(JSON.parse(line) as Wanted)));

async function nextLine(): Promise<string> {
  const next = await lines.next();
  return next.done === true ? "" : next.value;
}

async function read({ vault, fileIds }: Wanted): Promise<Came> {
  const contents: Uint8Array[] = [];
  const before = process.cpuUsage();
  const rate = await rateOf(fileIds.length, async (at) => {
    contents[at] = await (await clients[vault].files.download(fileIds[at] ?? "")).bytes();
  });
  const { system, user } = process.cpuUsage(before);
  const hash = createHash("sha256");
  for (const content of contents) hash.update(content);
  return { rate, processor: (system + user) / 1000 / fileIds.length, sha256: hash.digest("hex") };
}

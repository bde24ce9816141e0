/**
 * A client of the small-files benchmark that wrote nothing of what it reads. Takes {@link ClientSettings} as its first line; each one after
 * it is a {@link ToRead}, and is answered with a line that is a {@link Read}.
 */
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { openClients, type ClientSettings } from "../service.ts";

export interface ToRead {
  readonly vault: "public" | "shared";
  readonly fileIds: readonly string[];
}

export interface Read {
  /** Files a second. */
  readonly rate: number;
  /** SHA-256 of all content in the order of the ids, hex. */
  readonly sha256: string;
}

/** Calls on their way at once. */
const LANES = 4;

/** Does `work` for 0 to `count` - 1, {@link LANES} at once; answers how often a second. */
export async function perSecond(count: number, work: (at: number) => Promise<void>): Promise<number> {
  const began = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return (count / (performance.now() - began)) * 1000;
}

if (import.meta.main) await main();

async function main(): Promise<void> {
  const lines = createInterface(process.stdin)[Symbol.asyncIterator]();
  const settings = await lines.next();
  const clients = await openClients(JSON.parse(settings.value ?? "") as ClientSettings);
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
    const { fileIds, vault } = JSON.parse(line.value) as ToRead;
    const contents: Uint8Array[] = [];
    const rate = await perSecond(fileIds.length, async (at) => {
      contents[at] = await (await clients[vault].files.download(fileIds[at] ?? "")).bytes();
    });
    const hash = createHash("sha256");
    for (const content of contents) hash.update(content);
    console.log(JSON.stringify({ rate, sha256: hash.digest("hex") } satisfies Read));
  }
}

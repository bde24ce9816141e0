/**
 * Upload a file with the SDK, watch its progress, and get it back: whole, as a range, and verified.
 * Run it: `npm run example -- sdk-transfer`, or copy it into a project of yours. The program checks each claim and
 * ends with 1 at the first that does not hold.
 */
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, SdkError, type Client, type Progress } from "@coffer/sdk";
import { downloadFile, fileStore, resolveSettings, uploadFile } from "@coffer/sdk/node";

// The address and the key come from SERVICE_BASE_URL and SERVICE_API_KEY, or from the file that SERVICE_CONFIG_FILE names.
const { baseUrl, apiKey } = await resolveSettings();
if (baseUrl === null || apiKey === null)
  throw new Error("Set SERVICE_CONFIG_FILE, or SERVICE_BASE_URL and SERVICE_API_KEY.");
const client = createClient({ baseUrl, credentials: apiKey });
const folder = await mkdtemp(join(tmpdir(), "coffer-example-"));
const vault = await client.vaults.create({ name: `Example ${randomUUID()}`, type: "public" });

try {
  await transfer(client, vault.id);
  console.log("every claim holds");
} finally {
  await client.vaults.delete(vault.id, { force: true });
  await rm(folder, { recursive: true, force: true });
}

async function transfer(client: Client, vaultId: string): Promise<void> {
  const content = randomBytes(20 * 1024 * 1024 + 7);
  const source = join(folder, "film.bin");
  await writeFile(source, content);

  // Above 8 MiB a file goes in parts: the next call goes on after a cut, even after a crash.
  const up: Progress[] = [];
  const store = fileStore(join(folder, "store"));
  const {
    file,
    bytes,
    sha256: digest,
  } = await uploadFile(client, source, {
    vaultId,
    contentType: "video/mp4",
    store,
    onProgress: (progress) => up.push(progress),
  });
  claim("the server holds the bytes that were sent", bytes === content.length && digest === sha256(content));
  claim(
    "the file has the source's name and the given type",
    file.name === "film.bin" && file.contentType === "video/mp4",
  );
  claim(
    "progress was reported on the way",
    up.length > 10 && up.some((at) => at.bytes > 0 && at.bytes < content.length),
  );
  claim("and ended with the whole", up.at(-1)?.bytes === content.length && up.at(-1)?.total === content.length);

  const down: Progress[] = [];
  const destination = join(folder, "copy.bin");
  const copy = await downloadFile(client, file.id, destination, { onProgress: (progress) => down.push(progress) });
  claim(
    "the download is verified and identical",
    copy.sha256 === digest && content.equals(await readFile(destination)),
  );
  claim("its progress ends with the whole", down.at(-1)?.bytes === content.length);

  const refused: unknown = await downloadFile(client, file.id, destination).catch((error: unknown) => error);
  claim(
    "an existing file is not overwritten without asking",
    refused instanceof SdkError && refused.code === "destination_exists",
  );

  const range = { offset: 8 * 1024 * 1024 - 3, length: 6 };
  const middle = await (await client.files.download(file.id, { range })).bytes();
  claim("a range is exactly its bytes", content.subarray(range.offset, range.offset + range.length).equals(middle));

  const aborted = new AbortController();
  const stopped: unknown = await uploadFile(client, source, {
    vaultId,
    name: "stopped.bin",
    store,
    signal: aborted.signal,
    onProgress: ({ bytes: sent }) => {
      if (sent > 1024 * 1024) aborted.abort();
    },
  }).catch((error: unknown) => error);
  claim("an abort is reported as one", stopped instanceof SdkError && stopped.code === "aborted");
  const names = [];
  for await (const each of client.files.list({ vaultId })) names.push(each.name);
  claim("and leaves no file", names.length === 1 && names[0] === "film.bin");
}

function claim(sentence: string, holds: boolean): void {
  assert.ok(holds, sentence);
  console.log(`ok  ${sentence}`);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The client of the sdk-upload benchmark: `node sdk-upload-client.ts BASE_URL KEY FILE JOURNALS`; prints its own peak memory. */
import { createClient } from "@coffer/sdk";
import { uploadFile } from "@coffer/sdk/node";
import { peakMebibytes } from "./machine.ts";

const [baseUrl = "", apiKey = "", path = "", journalDirectory = ""] = process.argv.slice(2);
/** The SDK's default, named here because memory depends on it. */
const PART_BYTES = 8 * 1024 * 1024;

const client = createClient({ baseUrl, credentials: { apiKey } });
const began = performance.now();
await uploadFile(client, path, { journalDirectory, partBytes: PART_BYTES });
const seconds = (performance.now() - began) / 1000;
console.log(JSON.stringify({ partBytes: PART_BYTES, peak: peakMebibytes(process.pid), seconds }));

/** The client of the sdk-call benchmark: `node sdk-call-client.ts BASE_URL KEY FILE_ID`; prints milliseconds per call. */
import { createClient } from "@coffer/sdk";

const [baseUrl = "", apiKey = "", fileId = ""] = process.argv.slice(2);
const ROUNDS = 9;
const CALLS = 500;

const client = createClient({ baseUrl, credentials: { apiKey } });
const headers = { authorization: `Bearer ${apiKey}` };
const bareCall = async () => {
  const answer = await fetch(`${baseUrl}/api/files/${fileId}`, { headers });
  await answer.json();
};
const sdkCall = async () => {
  await client.files.get(fileId);
};

/** User and system time of this process per call, one call at a time, in milliseconds. */
async function measure(call: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let at = 0; at < CALLS; at += 1) await call();
  const { system, user } = process.cpuUsage(before);
  return (system + user) / 1000 / CALLS;
}

const bare: number[] = [];
const sdk: number[] = [];
await measure(bareCall);
await measure(sdkCall);
for (let round = 0; round < ROUNDS; round += 1) {
  bare.push(await measure(bareCall));
  sdk.push(await measure(sdkCall));
}
console.log(JSON.stringify({ bare, sdk }));

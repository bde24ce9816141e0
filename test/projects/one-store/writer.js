import { parentPort } from "node:worker_threads";
import * as sdk from "@coffer/sdk";
import { openSharedVaults, resolveSettings } from "@coffer/sdk/node";
import * as webhooks from "@coffer/sdk/webhooks";
import { listenOnNode } from "./node-receiver.mjs";
import { runScenario } from "./scenario.mjs";

const [vaultId, number] = process.argv.slice(2);
const settings = await resolveSettings();
const sharedVaults = await openSharedVaults(settings);
await runScenario({ sdk, webhooks, settings, sharedVaults, listen: listenOnNode });

const client = sdk.createClient({ baseUrl: settings.baseUrl, credentials: settings.apiKey, sharedVaults });
await client.files.upload({ vaultId, name: `${number}.txt`, body: number });
let outcome = "stored";
try {
  await client.files.upload({ vaultId, name: "wanted.txt", body: number });
} catch (error) {
  outcome = error.code;
}
if (parentPort === null) process.send(outcome);
else parentPort.postMessage(outcome);

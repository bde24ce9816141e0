// TypeScript that is compiled to CommonJS, and uses the packed SDK. Prints "done" if all of it works.
import * as sdk from "@coffer/sdk";
import { openSharedVaults, resolveSettings } from "@coffer/sdk/node";
import * as webhooks from "@coffer/sdk/webhooks";
import { listenOnNode } from "./node-receiver.js";
import { runScenario } from "./scenario.js";

async function main(): Promise<void> {
  const settings = await resolveSettings();
  await runScenario({ sdk, webhooks, settings, sharedVaults: await openSharedVaults(settings), listen: listenOnNode });
  console.log("done");
}

void main();

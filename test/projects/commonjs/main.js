// A CommonJS program that uses the packed SDK. Prints "done" if all of it works.
const sdk = require("@coffer/sdk");
const { openSharedVaults, resolveSettings } = require("@coffer/sdk/node");
const webhooks = require("@coffer/sdk/webhooks");
const { listenOnNode } = require("./node-receiver.mjs");
const { runScenario } = require("./scenario.mjs");

async function main() {
  const settings = await resolveSettings();
  await runScenario({ sdk, webhooks, settings, sharedVaults: await openSharedVaults(settings), listen: listenOnNode });
  console.log("done");
}

void main();

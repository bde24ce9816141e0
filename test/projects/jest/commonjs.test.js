const sdk = require("@coffer/sdk");
const { openSharedVaults, resolveSettings } = require("@coffer/sdk/node");
const webhooks = require("@coffer/sdk/webhooks");
const { listenOnNode } = require("./node-receiver.mjs");
const { runScenario } = require("./scenario.mjs");

it("works as CommonJS", async () => {
  const settings = await resolveSettings();
  await runScenario({ sdk, webhooks, settings, sharedVaults: await openSharedVaults(settings), listen: listenOnNode });
}, 120_000);

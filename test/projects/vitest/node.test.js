import * as sdk from "@coffer/sdk";
import { openSharedVaults, resolveSettings } from "@coffer/sdk/node";
import * as webhooks from "@coffer/sdk/webhooks";
import { it } from "vitest";
import { listenOnNode } from "./node-receiver.mjs";
import { runScenario } from "./scenario.mjs";

it("works", async () => {
  const settings = await resolveSettings();
  await runScenario({ sdk, webhooks, settings, sharedVaults: await openSharedVaults(settings), listen: listenOnNode });
}, 120_000);

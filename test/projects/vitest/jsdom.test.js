// @vitest-environment jsdom
import * as sdk from "@coffer/sdk";
import * as webhooks from "@coffer/sdk/webhooks";
import { expect, it } from "vitest";
import { listenOnNode } from "./node-receiver.mjs";
import { openPlain } from "./plain-settings.mjs";
import { runScenario } from "./scenario.mjs";

it("works in a page of jsdom", async () => {
  expect(typeof document).toBe("object");
  await runScenario({ sdk, webhooks, ...(await openPlain(process.env)), listen: listenOnNode });
}, 120_000);

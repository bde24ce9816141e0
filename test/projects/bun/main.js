// A program of Bun that uses the packed SDK. Prints "done" if all of it works.
import * as sdk from "@coffer/sdk";
import { openSharedVaults, resolveSettings } from "@coffer/sdk/node";
import * as webhooks from "@coffer/sdk/webhooks";
import { runScenario } from "./scenario.mjs";

async function listen(receive) {
  const answer = async (request) =>
    new Response(null, { status: await receive({ body: await request.text(), headers: request.headers }) });
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  return { url: server.url.href, close: () => server.stop(true) };
}

const settings = await resolveSettings();
await runScenario({ sdk, webhooks, settings, sharedVaults: await openSharedVaults(settings), listen });
console.log("done");

// A worker that uses the packed SDK. It answers "done" if all of it works, else what did not.
import { parseNetworkConfiguration } from "@coffer/chain";
import * as sdk from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import * as webhooks from "@coffer/sdk/webhooks";
import { refuseRedirects } from "./refusals.mjs";
import { runScenario } from "./scenario.mjs";

let receiveMessage = null;

export default {
  async fetch(request, env) {
    const { origin, pathname } = new URL(request.url);
    if (pathname === "/webhooks") {
      const status = await receiveMessage({ body: await request.text(), headers: request.headers });
      return new Response(null, { status });
    }
    try {
      if (pathname === "/redirects") await refuseRedirects(sdk, env.REDIRECTING_URL);
      else await run(`${origin}/webhooks`, env);
      return new Response("done");
    } catch (error) {
      return new Response(`${error.stack}`, { status: 500 });
    }
  },
};

async function run(url, env) {
  const signer = await sdk.chainKeySigner(env.SERVICE_CHAIN_PRIVATE_KEY);
  const network = parseNetworkConfiguration(JSON.parse(env.NETWORK));
  const listen = async (receive) => {
    receiveMessage = receive;
    return { url, close: () => {} };
  };
  const settings = { baseUrl: env.SERVICE_BASE_URL, apiKey: env.SERVICE_API_KEY };
  await runScenario({ sdk, webhooks, settings, sharedVaults: sharedVaults({ signer, network }), listen });
}

// A worker that uses the packed SDK. It answers "done" if all of it works, else what did not.
import * as sdk from "@coffer/sdk";
import * as webhooks from "@coffer/sdk/webhooks";
import { openPlain } from "./plain-settings.mjs";
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
    const listen = async (receive) => {
      receiveMessage = receive;
      return { url: `${origin}/webhooks`, close: () => {} };
    };
    try {
      if (pathname === "/redirects") await refuseRedirects(sdk, env.REDIRECTING_URL);
      else await runScenario({ sdk, webhooks, ...(await openPlain(env)), listen });
      return new Response("done");
    } catch (error) {
      return new Response(error.stack, { status: 500 });
    }
  },
};

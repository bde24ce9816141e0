import { setupServer } from "msw/node";
import { COVERED_BY_FAKE, describeClient } from "../../../../test/suites/client.ts";
import { createFake } from "./index.ts";
import { handlers } from "./msw.ts";

const ORIGIN = "http://127.0.0.1:8787";

async function openThroughMsw() {
  const server = setupServer(...handlers(createFake(), { baseUrl: ORIGIN }));
  // MSW 3 ignores `onUnhandledRequest`; without this option a stray call would go to the network.
  server.listen({ onUnhandledFrame: "error" });
  return Promise.resolve({
    baseUrl: ORIGIN,
    backstage: null,
    [Symbol.asyncDispose]: () => {
      server.close();
      return Promise.resolve();
    },
  });
}

async function openInProcess() {
  return Promise.resolve({
    baseUrl: ORIGIN,
    transport: createFake().fetch,
    backstage: null,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

describeClient("the fake through MSW", openThroughMsw, COVERED_BY_FAKE);
describeClient("the fake in process", openInProcess, COVERED_BY_FAKE);

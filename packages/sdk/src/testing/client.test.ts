import { setupServer } from "msw/node";
import { describeClient } from "../../../../test/suites/client.ts";
import { createFake, handlers } from "./index.ts";

const ORIGIN = "http://coffer.test";

describeClient("the fake through MSW", () => {
  const server = setupServer(...handlers(createFake(), { baseUrl: ORIGIN }));
  // MSW 3 ignores `onUnhandledRequest`; without this option a stray call would go to the network.
  server.listen({ onUnhandledFrame: "error" });
  return Promise.resolve({
    baseUrl: ORIGIN,
    [Symbol.asyncDispose]: () => {
      server.close();
      return Promise.resolve();
    },
  });
});

describeClient("the fake in process", () => {
  const { fetch } = createFake();
  return Promise.resolve({ baseUrl: ORIGIN, transport: fetch, [Symbol.asyncDispose]: () => Promise.resolve() });
});

import { setupServer } from "msw/node";
import { describeClient } from "../../../../test/suites/client.ts";
import { backstageOf } from "../../../../test/suites/fake-backstage.ts";
import { createFake } from "./index.ts";
import { handlers } from "./msw.ts";

/** Of this machine: elsewhere nobody acts as an account without a credential. */
const ORIGIN = "http://127.0.0.1:8787";

describeClient("the fake through MSW", () => {
  const fake = createFake();
  const server = setupServer(...handlers(fake, { baseUrl: ORIGIN }));
  // MSW 3 ignores `onUnhandledRequest`; without this option a stray call would go to the network.
  server.listen({ onUnhandledFrame: "error" });
  return Promise.resolve({
    ...{ baseUrl: ORIGIN, backstage: backstageOf(fake, ORIGIN) },
    [Symbol.asyncDispose]: () => {
      server.close();
      return Promise.resolve();
    },
  });
});

describeClient("the fake in process", () => {
  const fake = createFake();
  return Promise.resolve({
    ...{ baseUrl: ORIGIN, transport: fake.fetch, backstage: backstageOf(fake, ORIGIN) },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});

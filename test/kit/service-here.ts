/** The real service in this process: one for a test file, with an account of its own for each test that asks. */
import { randomUUID } from "node:crypto";
import { createClient, inProcessTransport, type Client, type ClientOptions, type Middleware } from "@coffer/sdk";
import { fetchHandler, parseConfig, startServer, type RunningServer } from "@coffer/server";
import { afterAll, beforeAll } from "vitest";
import { makeDirectory } from "./directory.ts";

/** A new account. */
export interface AccountHere {
  /** The owner's. */
  readonly client: Client;
  /** Another client of the owner, which repeats nothing. */
  readonly connect: (...middleware: Middleware[]) => Client;
  readonly connectWith: (options: Partial<ClientOptions>) => Client;
}

/** Makes an account at the service of a test file. */
export type NewAccount = () => Promise<AccountHere>;

/** For the top of a test file: starts the service before its tests, and ends it after them. */
export function serviceOfFile(): NewAccount {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(
      parseConfig({
        SERVICE_ENV: "development",
        SERVICE_HOST: "127.0.0.1",
        SERVICE_PORT: "0",
        SERVICE_DATA_DIR: makeDirectory(),
      }),
      { logSink: { write: () => undefined } },
    );
  });
  afterAll(() => server.close());
  return async () => {
    const { baseUrl } = server;
    const transport = inProcessTransport(fetchHandler(server.app));
    const visitor = createClient({ baseUrl, transport });
    const { apiKey } = await visitor.development.signup({ email: `${randomUUID()}@example.com` });
    const connectWith = (options: Partial<ClientOptions>): Client =>
      createClient({ baseUrl, transport, credentials: { apiKey }, ...options });
    const connect = (...middleware: Middleware[]): Client => connectWith({ middleware, retry: { limit: 0 } });
    return { client: connect(), connect, connectWith };
  };
}

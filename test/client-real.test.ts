/** The client suite against the real server: in process, and over a real socket on loopback by each transport. */
import { inProcessTransport } from "@coffer/sdk";
import { nodeTransport } from "@coffer/sdk/node";
import { fetchHandler, parseConfig, startServer, type RunningServer } from "@coffer/server";
import { runOperator } from "./journeys/kit/operator.ts";
import { readMailedToken } from "./journeys/kit/outbox.ts";
import { delivery, PAYMENT_SECRET } from "./journeys/kit/payments.ts";
import { makeDirectory } from "./kit/directory.ts";
import type { Backstage } from "./suites/client-subject.ts";
import { describeClient, type ClientSubject } from "./suites/client.ts";

async function openServer(
  subjectOf: (server: RunningServer) => Pick<ClientSubject, "baseUrl" | "transport">,
): Promise<ClientSubject> {
  const directory = makeDirectory();
  const environment = {
    SERVICE_ENV: "development",
    SERVICE_HOST: "127.0.0.1",
    SERVICE_PORT: "0",
    SERVICE_DATA_DIR: directory,
    SERVICE_LOG_LEVEL: "error",
    SERVICE_PAYMENT_SECRET: PAYMENT_SECRET,
  };
  const server = await startServer(parseConfig(environment));
  return {
    ...subjectOf(server),
    backstage: backstageOf(server.baseUrl, environment),
    [Symbol.asyncDispose]: async () => {
      await server.close();
    },
  };
}

/** The operator at the shell, the outbox for a mailbox, and the payment provider's signature. */
function backstageOf(baseUrl: string, environment: Readonly<Record<"SERVICE_DATA_DIR", string>>): Backstage {
  return {
    accessCode: async () => (await runOperator(["access-codes", "create"], environment)).stdout.trim(),
    mailedToken: (to, purpose) => readMailedToken(environment.SERVICE_DATA_DIR, to, purpose),
    pay: (event, forged) => {
      const { headers } = delivery(event, forged === undefined ? {} : { secret: "whsec_Zm9yZ2Vk" });
      return fetch(`${baseUrl}/api/billing/events`, {
        method: "POST",
        headers: { ...headers },
        body: JSON.stringify(event),
      });
    },
  };
}

// `createFake` and the server's own tests run the client in process as well.
if (process.env["COFFER_TEST_COUNTS"] === "full")
  describeClient("the server in process", () =>
    openServer((server) => ({ baseUrl: server.baseUrl, transport: inProcessTransport(fetchHandler(server.app)) })),
  );

describeClient("the server over a socket", () => openServer((server) => ({ baseUrl: server.baseUrl })));

describeClient("the server over a socket, with contents over node:http", () =>
  openServer((server) => ({
    baseUrl: server.baseUrl,
    transport: nodeTransport({ contentOrigins: ["https://s3.example.com"] }),
  })),
);

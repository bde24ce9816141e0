/** The client suite against the real server: in process, and over a real socket on loopback. */
import { inProcessTransport } from "@coffer/sdk";
import { fetchHandler, parseConfig, startServer, type RunningServer } from "@coffer/server";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeClient, type ClientSubject } from "./suites/client.ts";

async function openServer(
  subjectOf: (server: RunningServer) => Pick<ClientSubject, "baseUrl" | "transport">,
): Promise<ClientSubject> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-real-"));
  const environment = {
    SERVICE_ENV: "development",
    SERVICE_HOST: "127.0.0.1",
    SERVICE_PORT: "0",
    SERVICE_DATA_DIR: directory,
    SERVICE_LOG_LEVEL: "error",
  };
  const server = await startServer(parseConfig(environment));
  return {
    ...subjectOf(server),
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

describeClient("the server in process", () =>
  openServer((server) => ({ baseUrl: server.baseUrl, transport: inProcessTransport(fetchHandler(server.app)) })),
);

describeClient("the server over a socket", () => openServer((server) => ({ baseUrl: server.baseUrl })));

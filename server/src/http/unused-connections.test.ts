import { once } from "node:events";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { parseConfig, startServer } from "../index.ts";

it("a connection that was opened ahead of need does not hold up a shutdown", { timeout: 60_000 }, async () => {
  const directory = makeDirectory();
  // Longer than the test may take: a shutdown that waits for its grace fails it.
  const environment = { SERVICE_ENV: "development", SERVICE_PORT: "0", SERVICE_DATA_DIR: directory };
  const config = parseConfig({ ...environment, SERVICE_SHUTDOWN_SECONDS: "600" });
  const server = await startServer(config, { logSink: { write: () => undefined } });
  const early = connect(server.address.port, "127.0.0.1");
  const used = connect(server.address.port, "127.0.0.1");
  const ends = [early, used].map((socket) => once(socket.resume(), "close"));
  await Promise.all([once(early, "connect"), once(used, "connect")]);
  used.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(used, "data");
  await server.close();
  await Promise.all(ends);
  expect(early.bytesRead).toBe(0);
});

/** `npm run localnet -- [--directory <path>] [--port <number>] [--no-auto-fund]`: the local network as a program. */
import { setInterval } from "node:timers";
import { parseArgs } from "node:util";
import { openLocalnet } from "./localnet.ts";

const { values } = parseArgs({
  options: {
    directory: { type: "string" },
    port: { type: "string", default: "0" },
    "no-auto-fund": { type: "boolean", default: false },
  },
});

await main();

async function main(): Promise<void> {
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new RangeError("--port is a number up to 65535");
  const directory = values.directory === undefined ? {} : { directory: values.directory };
  const localnet = await openLocalnet({ ...directory, autoFund: !values["no-auto-fund"] });
  const { url } = await localnet.listen({ port });
  const kept = values.directory === undefined ? "in memory: gone when it stops" : `in ${values.directory}`;
  console.error(
    "Coffer local network: FOR DEVELOPMENT ONLY. Its coins and keys are worth nothing, and it keeps no secrets.",
  );
  console.error(`Listening at ${url}, on this machine only; chain ${kept}. Stop it with Ctrl-C.`);
  // The network configuration, for whoever started it.
  console.log(JSON.stringify(localnet.network()));
  stopWithParent(() => localnet.close());
}

/** On a signal, and when whoever started it is gone: a forgotten local network does not stay. */
function stopWithParent(close: () => Promise<void>): void {
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    void close().then(() => process.exit(0));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stop();
  }, 1_000).unref();
}

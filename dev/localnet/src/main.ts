/** `npm run localnet -- --help`: the local network as a program. */
import { setInterval } from "node:timers";
import { parseArgs } from "node:util";
import { openLocalnet } from "./localnet.ts";

const HELP = `npm run localnet -- [OPTIONS]: a local chain with its faucet and key servers, on this machine only, FOR DEVELOPMENT ONLY.
Prints the network configuration as JSON.

  --directory DIR   Keeps the chain there over restarts. Default: in memory.
  --port N          The port. Default: any free one.
  --no-auto-fund    Gives no SUI to addresses that have none.
  --help`;

const OPTIONS = {
  directory: { type: "string" },
  port: { type: "string", default: "0" },
  "no-auto-fund": { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

await main();

async function main(): Promise<void> {
  const values = parseOptions();
  if (values === null) return;
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) return refuse("--port is a number up to 65535");
  const directory = values.directory === undefined ? {} : { directory: values.directory };
  const localnet = await openLocalnet({ ...directory, autoFund: !values["no-auto-fund"] });
  const { url } = await localnet.listen({ port });
  const kept = values.directory === undefined ? "in memory: gone when it stops" : `in ${values.directory}`;
  console.error(
    "Coffer local network: FOR DEVELOPMENT ONLY. Its coins and keys are worth nothing, and it keeps no secrets.",
  );
  console.error(`Listening at ${url}, on this machine only; chain ${kept}. Stop it with Ctrl-C.`);
  // The network configuration, for the user who started it.
  console.log(JSON.stringify(localnet.network()));
  stopWithParent(() => localnet.close());
}

/** null: it has been said what there is to say. */
function parseOptions() {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (!values.help) return values;
    console.log(HELP);
  } catch (error) {
    refuse(error instanceof Error ? error.message : "Unknown option");
  }
  return null;
}

function refuse(sentence: string): void {
  console.error(`${sentence}. --help names the options`);
  process.exitCode = 2;
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

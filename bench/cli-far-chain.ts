/** `coffer` in a shared vault when the chain's node is far away: how many trips to it follow one after another. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { openCoffer } from "./cli-peers.ts";
import { measured, median, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";
import { openSharedVaults } from "./shared-vaults.ts";

/** From a question to its answer, more than without it. As of a node on another continent. */
const TRIP_MS = 80;
const ROUNDS = 9;

export const cliFarChain: Benchmark = async () => {
  await using scratch = await openScratch();
  await using stack = await openSharedVaults(scratch.directory);
  const { settings, sharedVault } = stack;
  await using far = await openFarNode(settings.network.grpcUrl);
  const homeOf = (name: string): string => {
    const home = join(scratch.directory, name);
    mkdirSync(home);
    return home;
  };
  const network = { ...settings.network, grpcUrl: far.url };
  const coffers = {
    near: openCoffer(homeOf("near"), stack),
    far: openCoffer(homeOf("far"), { settings: { ...settings, network } }),
  };
  const file = join(scratch.directory, "small");
  writeFileSync(file, randomBytes(4096));
  await coffers.near.run(["upload", file, "--vault", sharedVault], { opens: true });
  const commands = { ls: ["ls", `${sharedVault}:`], cat: ["cat", `${sharedVault}:small`] } as const;
  const ways = Object.entries(commands).flatMap(([command, words]) =>
    Object.entries(coffers).map(([place, { run }]) => ({
      title: `${command}, ${place}`,
      words,
      run,
      ms: [] as number[],
    })),
  );
  // The first round fills the caches of file system and compiler.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const { words, run, ms } of round % 2 === 0 ? ways : ways.toReversed()) {
      const seconds = await run(words, { opens: true });
      if (round > 0) ms.push(seconds * 1000);
    }
  const series = Object.fromEntries(ways.map(({ title, ms }) => [title, ms]));
  const trips = (command: keyof typeof commands): number => {
    const [near = [], distant = []] = [series[`${command}, near`], series[`${command}, far`]];
    return median(distant.map((ms, at) => (ms - (near[at] ?? Number.NaN)) / TRIP_MS));
  };
  const limit = { at: "most", value: 3 } as const;
  return measured({
    name: "cli-far-chain",
    about: `trips that coffer ls waits for, one after another, when the chain's node is ${String(TRIP_MS)} ms away`,
    ...{ value: trips("ls"), unit: "trips", limit, alsoHeld: { "coffer cat": { value: trips("cat"), limit } } },
    series: Object.fromEntries(Object.entries(series).map(([title, ms]) => [`coffer ${title}, ms`, ms])),
    facts: { "connections to the far node by one command": String(far.connections() / (2 * (ROUNDS + 1))) },
  });
};

/** What comes to it goes to the node, and back, half a trip later each way. Connections open at once. */
async function openFarNode(url: string) {
  const { hostname, port } = new URL(url);
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    connections += 1;
    const node = createConnection({ host: hostname, port: Number(port) });
    for (const [from, to] of [
      [near, node],
      [node, near],
    ] as const) {
      open.add(from);
      from.on("data", (piece) => void setTimeout(() => to.writable && to.write(piece), TRIP_MS / 2));
      from.on("end", () => void setTimeout(() => to.end(), TRIP_MS / 2));
      from.on("error", () => to.destroy());
      from.on("close", () => open.delete(from));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

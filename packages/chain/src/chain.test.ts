import { Transaction } from "@mysten/sui/transactions";
import { expect, it } from "vitest";
import { openChain } from "./chain.ts";
import type { NetworkConfiguration } from "./network.ts";
import { boundedFetch } from "./node-fetch.ts";
import { PACKAGE_DIGEST } from "./package/index.ts";

const id = (byte: string): string => `0x${byte.repeat(32)}`;
const network: NetworkConfiguration = {
  network: "localnet",
  chainId: "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S",
  grpcUrl: "http://127.0.0.1:9",
  originalPackageId: id("ab"),
  latestPackageId: id("ab"),
  packageDigest: PACKAGE_DIGEST,
  keyServerSets: [],
};
const MIB = 1024 * 1024;

/** Answers every request with one message that says it has 4 GiB; counts how many pieces of 1 MiB were taken of each. */
function endless(pieces: number) {
  const state = { taken: [] as number[] };
  const answer = async (): Promise<Response> => {
    const at = state.taken.push(0) - 1;
    let piece = new Uint8Array(Buffer.from("AP////8A".padEnd(MIB, "A")));
    const pull = (controller: ReadableStreamDefaultController): void => {
      const taken = state.taken[at] ?? 0;
      if (taken === pieces) return controller.close();
      state.taken[at] = taken + 1;
      controller.enqueue(piece);
      piece = new Uint8Array(MIB).fill(0x41);
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    return new Response(body, { headers: { "content-type": "application/grpc-web-text" } });
  };
  return { state, fetch: answer };
}

/** Never answers; says why when it is given up. */
const silent: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error));
  });

it("reads no more of an answer than a node's can have", async () => {
  const { state, fetch } = endless(64);
  const reading = openChain(network, { fetch }).readVault(id("02"));
  await expect(reading).rejects.toMatchObject({ code: "chain_unavailable" });
  expect(Math.max(...state.taken)).toBeLessThan(12);
});

it("gives up a node that says nothing, also where the client itself would wait for ever", async () => {
  const bounded = boundedFetch(silent, { milliseconds: 1 });
  await expect(bounded("http://127.0.0.1:9", {})).rejects.toMatchObject({ name: "TimeoutError" });
  const gone = AbortSignal.abort(new Error("gone"));
  await expect(boundedFetch((_, init) => Promise.reject(init?.signal?.reason as Error))("/", { signal: gone }))
    .rejects //
    .toThrow("gone");
  const signals: unknown[] = [];
  const noting: typeof fetch = async (_, init) => {
    signals.push(init?.signal);
    throw new TypeError("fetch failed");
  };
  const { client } = openChain(network, { fetch: noting });
  const transaction = new Transaction();
  transaction.setSender(id("03"));
  await expect(transaction.build({ client })).rejects.toThrow();
  expect(signals.length).toBeGreaterThan(0);
  for (const signal of signals) expect(signal).toBeInstanceOf(AbortSignal);
});

it("passes on what it was given: status, headers and bytes", async () => {
  const bounded = boundedFetch(async () => new Response("four", { status: 418, headers: { "x-a": "b" } }), {
    bytes: 4,
  });
  const response = await bounded("http://127.0.0.1:9");
  expect([response.status, response.headers.get("x-a"), await response.text()]).toEqual([418, "b", "four"]);
  const less = boundedFetch(async () => new Response("five!"), { bytes: 4 });
  await expect(less("http://127.0.0.1:9").then((answer) => answer.text())).rejects.toThrow("longer than");
});

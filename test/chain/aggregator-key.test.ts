/** An aggregator that wants an API key: it gets it, and nobody else does. */
import { inspect } from "node:util";
import { createVault, fromSuiSigner, openChain, sealVaultKeyWrap, type NetworkConfiguration } from "@coffer/chain";
import { openLocalnet, type Localnet } from "@coffer/localnet";
import { fromHex } from "@mysten/sui/utils";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { keypairOf } from "../kit/key-wrap-bench.ts";

const KEY = "enoki_private_0123456789abcdef0123456789abcdef";
const owner = fromSuiSigner(keypairOf(1));
const key = new Uint8Array(32).fill(42);

let localnet: Localnet;
let vault: Awaited<ReturnType<typeof createVault>>["vault"];
/** Requests, by address, that carried the key in their head, address or body. */
let carrying: string[];
const printed: unknown[] = [];

beforeAll(async () => {
  localnet = await openLocalnet({ keyServers: { aggregatorKey: { name: "X-API-Key", value: KEY } } });
  vault = (await createVault(openChain(localnet.network(), { fetch: localnet.fetch }), owner, {})).vault;
  for (const level of ["log", "info", "warn", "error", "debug"] as const)
    vi.spyOn(console, level).mockImplementation((...words) => void printed.push(...words));
});
afterEach(() => Object.assign(localnet.faults.keyServer(3), { otherAnswer: null, wrongKey: false }));
afterAll(async () => {
  vi.restoreAllMocks();
  await localnet.close();
});

const recorded: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const text = [request.url, ...[...request.headers].flat(), await request.clone().text()].join("\n");
  if (text.includes(KEY)) carrying.push(request.url.replace(/\?.*/, ""));
  return localnet.fetch(request);
};

/** Both accepted sets, the committee for writing. */
function networkWith(apiKey: string | undefined): NetworkConfiguration {
  const network = localnet.network() as NetworkConfiguration;
  const [independent, committee] = network.keyServerSets;
  const named = committee!.servers.map((server) => ({
    ...server,
    apiKeyName: "X-API-Key",
    ...(apiKey === undefined ? {} : { apiKey }),
  }));
  return { ...network, keyServerSets: [{ ...committee!, servers: named }, independent!] };
}

function openWith(apiKey: string | undefined) {
  const network = networkWith(apiKey);
  const { client } = openChain(network, { fetch: recorded });
  const vaultObjects = { locate: async () => ({ initialSharedVersion: vault.initialSharedVersion, at: 0n }) };
  const place = { vault: fromHex(vault.objectId), generation: 1n, after: 0n, creator: fromHex(owner.chainAddress) };
  const wrapOf = (at: NetworkConfiguration) =>
    sealVaultKeyWrap({ client, network: at, signer: owner, vaultObjects, fetch: recorded, timeout: 2_000 });
  const [committee, independent] = network.keyServerSets;
  const others = wrapOf({ ...network, keyServerSets: [independent!, committee!] });
  carrying = [];
  return { wrap: wrapOf(network), others, place };
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => new Error("nothing failed"),
    (reason: unknown) => reason as Error,
  );
}

/** In no form that errors are shown in. */
function requireUntold(error: Error): void {
  const told = [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error), String(error.stack)].join("\n");
  expect(told).not.toContain(KEY);
  expect(inspect(printed, { depth: 20 })).not.toContain(KEY);
}

it("opens with its key, which goes to the aggregator alone [K7]", async () => {
  const { wrap, others, place } = openWith(KEY);
  const sealed = [await wrap.wrap(key, place), await others.wrap(key, place)];
  expect(await wrap.unwrap(sealed.map((sealedKey) => ({ sealedKey, place })))).toEqual([key, key]);
  expect(await wrap.checkKeyServers()).toMatchObject([{ state: "ok" }]);
  expect(carrying).toEqual([
    "http://localnet.invalid/key-servers/committee/v1/fetch_key",
    "http://localnet.invalid/key-servers/committee/v1/service",
  ]);
});

it("says without it, or with another one, that an API key may be wanted", async () => {
  for (const apiKey of [undefined, `${KEY}x`]) {
    const { wrap, place } = openWith(apiKey);
    const error = await failureOf(wrap.unwrap([{ sealedKey: await wrap.wrap(key, place), place }]));
    expect(error).toMatchObject({ code: "key_servers_unavailable" });
    expect(error.message).toMatch(
      /1 of 1 \(\S+\) refuses its callers with HTTP status 401, as one does that wants an API/,
    );
    expect(error.message).toMatch(/Waiting does not cure that/);
    requireUntold(error);
    expect(await wrap.checkKeyServers()).toMatchObject([
      { state: "failed", detail: expect.stringContaining("API key") },
    ]);
  }
});

it.each(["redirect", "not_json", "Failure", "hang"] as const)(
  "is told by no error, and not passed on: %s [K7]",
  async (answer) => {
    const { wrap, place } = openWith(KEY);
    const sealedKey = await wrap.wrap(key, place);
    localnet.faults.keyServer(3).otherAnswer = answer;
    requireUntold(await failureOf(wrap.unwrap([{ sealedKey, place }])));
    await wrap.checkKeyServers();
    expect(new Set(carrying.map((url) => url.replace(/v1\/\w+$/, "")))).toEqual(
      new Set(["http://localnet.invalid/key-servers/committee/"]),
    );
  },
);

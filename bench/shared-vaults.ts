/** A local network, our server beside it, and an owner with a public and a shared vault. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { parseNetworkConfiguration, type NetworkConfiguration } from "@coffer/chain";
import { nodePlatform } from "@coffer/crypto/node";
import { chainKeySigner, createClient, generateChainKey, type Client } from "@coffer/sdk";
import { type SharedVaultOptions, sharedVaults } from "@coffer/sdk/shared";
import { stopChild } from "./machine.ts";
import { startService, type Service } from "./service.ts";

const LOCALNET = new URL("../packages/localnet/src/main.ts", import.meta.url).pathname;

/** In production the server takes no local chain by its name; what signatures name is all that this decides. */
const PROOFS = "testnet";

/** What a client in another process is made of; all of it is a benchmark's own, and no secret. */
export interface ClientSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly chainKey: string;
  readonly network: NetworkConfiguration;
  readonly proofs: typeof PROOFS;
}

export interface SharedVaults extends AsyncDisposable {
  readonly service: Service;
  readonly settings: ClientSettings;
  /** Of the account's owner, who opens shared vaults. */
  readonly client: Client;
  /** The same credential without a chain key: what public vaults cost by themselves. */
  readonly plain: Client;
  /** The same person in a client that has opened nothing yet. */
  readonly another: (more?: Partial<SharedVaultOptions>) => Client;
  readonly publicVault: string;
  readonly sharedVault: string;
  /** Requests for keys so far, by key server, of all clients. */
  readonly keyRequests: () => readonly number[];
}

/** Each in a process of its own; the client is this process. */
export async function openSharedVaults(directory: string): Promise<SharedVaults> {
  const stack = new AsyncDisposableStack();
  try {
    const network = await startLocalnet(stack);
    const chain = {
      SERVICE_CHAIN_NETWORK: PROOFS,
      SERVICE_CHAIN_URL: network.grpcUrl,
      SERVICE_CHAIN_PACKAGE: network.originalPackageId,
      SERVICE_CHAIN_ID: network.chainId,
    };
    const service = stack.use(await startService(directory, 1, chain));
    const { privateKey } = await generateChainKey();
    const signer = await chainKeySigner(privateKey);
    const counted = countKeyRequests();
    const opened = sharedVaults({ signer, network, platform: nodePlatform, fetch: counted.fetch });
    const apiKey = service.keys[0] ?? "";
    const credentials = { apiKey };
    const another: SharedVaults["another"] = (more) =>
      createClient({
        ...{ baseUrl: service.baseUrl, credentials, network: PROOFS },
        sharedVaults: { ...opened, ...more },
      });
    const client = another();
    await client.account.linkChain(signer);
    const publicVault = (await client.vaults.create({ name: "bench-public", type: "public" })).id;
    const sharedVault = (await client.vaults.create({ name: "bench-shared", type: "shared" })).id;
    return {
      ...{
        service,
        settings: { baseUrl: service.baseUrl, apiKey, chainKey: privateKey.reveal(), network, proofs: PROOFS },
        client,
        another,
        plain: createClient({ baseUrl: service.baseUrl, credentials }),
        publicVault,
        sharedVault,
        keyRequests: counted.requests,
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function startLocalnet(stack: AsyncDisposableStack): Promise<NetworkConfiguration> {
  const child = spawn(process.execPath, ["--conditions=coffer-source", LOCALNET], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  stack.defer(() => stopChild(child));
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return parseNetworkConfiguration(JSON.parse(line));
}

/** A fetch that counts what goes to key servers. */
function countKeyRequests(): { readonly fetch: typeof fetch; readonly requests: () => readonly number[] } {
  const counts = new Map<number, number>();
  return {
    fetch: (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      const server = /\/key-servers\/(\d+)\/v1\/fetch_key/.exec(url)?.[1];
      if (server !== undefined) counts.set(Number(server), (counts.get(Number(server)) ?? 0) + 1);
      return fetch(input, init);
    },
    requests: () => [0, 1, 2].map((server) => counts.get(server) ?? 0),
  };
}

/** A key wrap over the allowlist chain and key servers in process, with a signer that counts. */
import type { KeyBinding } from "@coffer/crypto";
import { fromSuiSigner, type NetworkConfiguration, sealVaultKeyWrap, type SealKeyWrap } from "@coffer/chain";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { fromHex } from "@mysten/sui/utils";
import { startKeyServers, type KeyServers } from "@coffer/localnet/key-servers";
import { openAllowlistChain, PACKAGE, VAULT, type AllowlistChain } from "./allowlist-chain.ts";

export const ORIGIN = "http://localnet.invalid";

export interface WrapOptions {
  readonly network?: NetworkConfiguration;
  /** Whose signatures are used; the user's own by default. */
  readonly signAs?: Ed25519Keypair;
  readonly clock?: () => number;
  readonly sleep?: (milliseconds: number) => Promise<void>;
  readonly timeout?: number;
  readonly batch?: number;
}

export interface KeyWrapBench {
  readonly chain: AllowlistChain;
  readonly servers: KeyServers;
  readonly network: NetworkConfiguration;
  /** The texts that were signed, by all users. */
  readonly signed: string[];
  wrapOf(user: Ed25519Keypair, options?: WrapOptions): SealKeyWrap;
  /** Of the three independent servers: requests for keys. */
  asked(): number[];
  /** Everything healthy, nothing counted. */
  reset(): void;
}

/** The same one for each number. */
export function keypairOf(fill: number): Ed25519Keypair {
  return Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(fill));
}

export function placeOf(generation: bigint, creator = keypairOf(1)): KeyBinding {
  return { vault: fromHex(VAULT), generation, after: 0n, creator: fromHex(creator.toSuiAddress()) };
}

export async function openKeyWrapBench(): Promise<KeyWrapBench> {
  const chain = openAllowlistChain();
  const servers = await startKeyServers(chain.access, {});
  await servers.announce(ORIGIN);
  const network = networkOf(servers);
  const signed: string[] = [];
  return {
    chain,
    servers,
    network,
    signed,
    wrapOf: (user, options = {}) => openWrap({ chain, servers, network, signed }, user, options),
    asked: () => [0, 1, 2].map((index) => servers.requests(index).fetchKey),
    reset: () => reset(chain, servers, signed),
  };
}

function networkOf(servers: KeyServers): NetworkConfiguration {
  const keyServerSets = servers
    .sets()
    .map((set) => ({ ...set, servers: set.servers.map((server) => ({ ...server })) }));
  return {
    network: "localnet",
    chainId: "1".repeat(44),
    grpcUrl: "http://127.0.0.1:1",
    originalPackageId: PACKAGE,
    latestPackageId: PACKAGE,
    packageDigest: "0".repeat(64),
    keyServerSets,
  };
}

function openWrap(
  bench: Pick<KeyWrapBench, "chain" | "servers" | "network" | "signed">,
  user: Ed25519Keypair,
  options: WrapOptions,
): SealKeyWrap {
  const signer = fromSuiSigner(options.signAs ?? user);
  return sealVaultKeyWrap({
    client: bench.chain.client,
    network: options.network ?? bench.network,
    signer: {
      chainAddress: user.toSuiAddress(),
      signTransaction: async () => await Promise.reject(new Error("a key wrap signs no transaction")),
      signPersonalMessage: async (message) => {
        bench.signed.push(new TextDecoder().decode(message));
        return await signer.signPersonalMessage(message);
      },
    },
    vaultObjects: { locate: async () => ({ initialSharedVersion: 1n, at: 0n }) },
    fetch: async (input, init) => await bench.servers.handle(new Request(input, init)),
    clock: options.clock,
    sleep: options.sleep,
    timeout: options.timeout,
    batch: options.batch,
  });
}

function reset(chain: AllowlistChain, servers: KeyServers, signed: string[]): void {
  const healthy = {
    down: false,
    slow: 0,
    stale: false,
    wrongKey: false,
    clockSkew: 0,
    addressAlias: false,
    budget: 500_000_000n,
    otherAnswer: null,
  };
  for (let index = 0; index < 9; index += 1) {
    Object.assign(servers.faults(index), healthy);
    Object.assign(servers.requests(index), { service: 0, fetchKey: 0 });
  }
  Object.assign(chain, { generation: 1n, price: 1_000_000n, requests: 0, nodeDown: false, nodeLag: 0, skew: 0 });
  signed.length = 0;
}

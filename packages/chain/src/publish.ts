/**
 * Publishes the Move package, immutable from its first moment, and writes the configuration that clients pin
 * (encryption design §3, §5).
 */
import { SealClient } from "@mysten/seal";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Transaction } from "@mysten/sui/transactions";
import { fromBase64, toBase64 } from "@mysten/sui/utils";
import { type ChainOptions, openChain } from "./chain.ts";
import { isCreatedBy } from "./object-origin.ts";
import { ChainError } from "./errors.ts";
import { type ActWarning, execute, type Executed } from "./execution.ts";
import type { UnpinnedKeyServerSet } from "./network-catalog.ts";
import { type NetworkConfiguration, parseNetworkConfiguration } from "./network.ts";
import { readNodeState } from "./node.ts";
import { boundedFetch } from "./node-fetch.ts";
import { MODULES, PACKAGE_DIGEST } from "./package/index.ts";
import type { TransactionSigner } from "./signer.ts";

/** The Move standard library and the Sui framework: the same ids on every network. */
const DEPENDENCIES = ["0x1", "0x2"].map((id) => `0x${id.slice(2).padStart(64, "0")}`);

export interface PublishTarget {
  readonly network: NetworkConfiguration["network"];
  readonly grpcUrl: string;
  /** If it is known, the chain must be this one. */
  readonly chainId?: string | undefined;
  /** The first is for writing. */
  readonly keyServerSets: readonly UnpinnedKeyServerSet[];
}

export interface Published {
  readonly configuration: NetworkConfiguration;
  /** Digest of the publishing transaction. */
  readonly digest: string;
  readonly warnings: readonly ActWarning[];
}

/**
 * Publishes the package and makes it immutable in the same transaction: nobody, the publisher included, can change its
 * rules. Then it reads the key servers' public keys, and compares the chain with the configuration that it returns.
 * @throws ChainError `network_changed` for another chain, `no_gas`, `transaction_failed`, …
 */
export async function publishPackage(
  target: PublishTarget,
  signer: TransactionSigner,
  options: ChainOptions = {},
): Promise<Published> {
  const client = new SuiGrpcClient({
    network: target.network,
    baseUrl: target.grpcUrl,
    fetch: boundedFetch(options.fetch),
  });
  const { chainId } = await readNodeState({ client });
  if (target.chainId !== undefined && target.chainId !== chainId) throw new ChainError("network_changed");
  const keyServerSets = await Promise.all(target.keyServerSets.map((set) => pinKeys(client, set)));
  const configure = (packageId: string): NetworkConfiguration =>
    parseNetworkConfiguration({
      network: target.network,
      chainId,
      grpcUrl: target.grpcUrl,
      originalPackageId: packageId,
      latestPackageId: packageId,
      packageDigest: PACKAGE_DIGEST,
      keyServerSets,
    });
  // Reports every error before it pays for anything.
  configure(`0x${"0".repeat(64)}`);
  const executed = await execute(
    { client, network: { ...NO_PACKAGE, chainId }, wait: options.wait ?? sleep },
    signer,
    toPublish,
  );
  const configuration = configure(findPackage(executed));
  await openChain(configuration, options).verifyNetwork();
  return { configuration, digest: executed.digest, warnings: executed.warnings };
}

/** No package aborts yet. */
const NO_PACKAGE = { originalPackageId: "0x0", latestPackageId: "0x0" };

function toPublish(): Transaction {
  const transaction = new Transaction();
  const upgradeCap = transaction.publish({ modules: [...MODULES], dependencies: DEPENDENCIES });
  transaction.moveCall({ target: "0x2::package::make_immutable", arguments: [upgradeCap] });
  return transaction;
}

function findPackage(executed: Executed): string {
  const written = executed.effects.changedObjects.filter(({ outputState }) => outputState === "PackageWrite");
  const [packageId, ...more] = written;
  if (packageId === undefined || more.length > 0) throw new ChainError("transaction_failed");
  // The publisher of the same modules under another id may have kept the right to upgrade them.
  if (!isCreatedBy(executed.digest, packageId.objectId))
    throw new ChainError("network_changed", {
      message: "The chain node names a package that this transaction did not publish. Name another node.",
    });
  return packageId.objectId;
}

/** Clients will insist on the chain's state of today. */
async function pinKeys(client: SuiGrpcClient, { threshold, servers }: UnpinnedKeyServerSet) {
  const seal = new SealClient({
    suiClient: client,
    serverConfigs: servers.map(({ objectId, weight, aggregatorUrl }) => ({
      objectId,
      weight,
      ...(aggregatorUrl === undefined ? {} : { aggregatorUrl }),
    })),
    verifyKeyServers: false,
  });
  const keyServers = await seal.getKeyServers().catch((cause: unknown) => {
    throw new ChainError("network_changed", {
      message:
        "A key server is not on this chain, or not as it was named. Nothing was published; check the key servers.",
      cause,
    });
  });
  const pinned = servers.map((server) => ({
    ...server,
    publicKey: toBase64(keyServers.get(server.objectId)?.pk ?? fromBase64("")),
  }));
  return { threshold, servers: pinned };
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

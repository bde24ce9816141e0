/** The chain and the key servers of a stack, kept in its data directory. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ChainInUseError, openLocalnet } from "@coffer/localnet";

export interface LocalNetwork {
  /** Chain node, faucet and key servers: all at one address of this machine. */
  readonly url: string;
  /** The Move package that vaults are objects of. */
  readonly packageId: string;
  /** Every local chain has the same package: this distinguishes them. */
  readonly chainId: string;
  /** The network configuration, mode 0600: what `SERVICE_NETWORK_FILE` takes. */
  readonly file: string;
  /** Another stack on the same data serves it; it goes when that one goes. */
  readonly borrowed: boolean;
  close(): Promise<void>;
}

/** The chain or the key servers of a data directory cannot be opened; the message says what to do. */
export class LocalNetworkError extends Error {
  override readonly name = "LocalNetworkError";
}

/** How long a stack waits for one that has the chain and does not serve it: it is just starting, or ending. Milliseconds. */
const PATIENCE = 10_000;
const BETWEEN_LOOKS = 100;

/**
 * Opens the local network of a data directory: the same chain, with the same vaults, after every restart. Where another stack has it open
 * already, or is about to, that one is used.
 * @throws LocalNetworkError when what is kept there cannot be opened.
 */
export async function openLocalNetwork(dataDirectory: string, { patience = PATIENCE } = {}): Promise<LocalNetwork> {
  const file = join(dataDirectory, "network.json");
  for (const began = performance.now(); ; await sleep(BETWEEN_LOOKS)) {
    try {
      return await openOwn(dataDirectory, file);
    } catch (error) {
      const running = await findRunning(file);
      if (running !== null) return { ...running, file, borrowed: true, close: () => Promise.resolve() };
      const mayCome = error instanceof ChainInUseError && performance.now() - began < patience;
      if (!mayCome) throw unopened(dataDirectory, error);
    }
  }
}

async function openOwn(dataDirectory: string, file: string): Promise<LocalNetwork> {
  const localnet = await openLocalnet({ directory: join(dataDirectory, "localnet") });
  try {
    const { url } = await localnet.listen();
    const network = localnet.network();
    await writePrivately(file, `${JSON.stringify(network, null, 2)}\n`);
    const close = (): Promise<void> => localnet.close();
    return { url, packageId: network.originalPackageId, chainId: network.chainId, file, borrowed: false, close };
  } catch (error) {
    await localnet.close();
    throw error;
  }
}

function unopened(dataDirectory: string, cause: unknown): LocalNetworkError {
  const place = join(dataDirectory, "localnet");
  const why = cause instanceof Error ? cause.message : "unknown error";
  return new LocalNetworkError(
    `The local network kept in ${place} cannot be opened: ${why}. Stop what else uses it, or start on another directory with --data`,
    { cause },
  );
}

/** A local network's answer to requests without a known path. */
const GREETING = "This is Coffer's local network";

/** Where the network of that file answers; null when it does not. */
async function findRunning(file: string): Promise<Pick<LocalNetwork, "url" | "packageId" | "chainId"> | null> {
  try {
    const network: unknown = JSON.parse(await readFile(file, "utf8"));
    if (typeof network !== "object" || network === null || !("grpcUrl" in network)) return null;
    if (!("originalPackageId" in network && "chainId" in network)) return null;
    const { grpcUrl: url, originalPackageId: packageId, chainId } = network;
    if (typeof url !== "string" || typeof packageId !== "string" || typeof chainId !== "string") return null;
    // Its port may be another program's by now.
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    const greeting = await answer.text();
    return answer.status === 404 && greeting.startsWith(GREETING) ? { url, packageId, chainId } : null;
  } catch {
    return null;
  }
}

/** Whole or not at all: tool servers read it while the next stack writes it. */
async function writePrivately(file: string, text: string): Promise<void> {
  const temporary = `${file}.new`;
  await writeFile(temporary, text, { mode: 0o600 });
  await rename(temporary, file);
}

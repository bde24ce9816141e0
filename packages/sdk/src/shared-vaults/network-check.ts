/** Whether the chain and the key servers answer at all, without a vault. For people: no decision depends on it. */
import { ChainError, openChain, sealVaultKeyWrap } from "@coffer/chain";
import { connectionWords } from "../http/connection-words.ts";
import type { SharedVaultOptions } from "../connection/options.ts";
import { failed, keyServerLayer, ok, unknown, type LayerCheck } from "./keys/layer-check.ts";

/** The state of what shared vaults need beside the service. */
export interface NetworkCheck {
  /** The chain node answers, and is of the configured network. */
  readonly chain: LayerCheck;
  /** Enough key servers answer. */
  readonly keyServers: LayerCheck;
}

/** Milliseconds until a node counts as away. */
const PATIENCE_MS = 3_000;
/** Key servers are asked where the chain says that they are, so after it. */
const SERVERS_PATIENCE_MS = 4_000;

/** Never rejects. */
export async function checkNetworkOf(options: SharedVaultOptions): Promise<NetworkCheck> {
  const { network, signer, fetch: inner = fetch, clock } = options;
  let thrown: unknown = null;
  const asking: typeof fetch = async (input, init) => {
    try {
      return await inner(input, init);
    } catch (error) {
      thrown = error;
      throw error;
    }
  };
  const chain = openChain(network, { fetch: asking, clock });
  const wrap = sealVaultKeyWrap({
    network,
    client: chain.client,
    fetch: inner,
    clock,
    timeout: PATIENCE_MS,
    // Nothing is signed and no vault is looked for: the servers are only asked whether they are there.
    signer: {
      chainAddress: signer.chainAddress,
      signPersonalMessage: (bytes) => signer.signPersonalMessage(bytes),
      signTransaction: () => Promise.reject(new TypeError("a check sends nothing")),
    },
    vaultObjects: { locate: () => Promise.reject(new TypeError("a check opens no vault")) },
  });
  try {
    const [node, servers] = await Promise.all([
      inTime(chain.verifyNetwork(), PATIENCE_MS).then(
        () => ok("The chain node answers, and is of the configured network."),
        (error: unknown) => away(error, thrown, network.grpcUrl),
      ),
      inTime(wrap.checkKeyServers(), SERVERS_PATIENCE_MS).then(
        (statuses) => keyServerLayer(network, statuses),
        () => unknown("The key servers did not answer in time."),
      ),
    ]);
    return { chain: node, keyServers: servers };
  } finally {
    wrap.close();
  }
}

/** Why the node does not answer: its client keeps the words of a failed request, and not the cause. */
function away(error: unknown, thrown: unknown, grpcUrl: string): LayerCheck {
  if (!(error instanceof ChainError)) return unknown("The chain node was not asked.");
  if (error.code !== "chain_unavailable" || thrown === null) return failed(error);
  const { message, nextStep } = connectionWords(thrown, grpcUrl, "grpcUrl of the network file");
  return { state: "failed", cause: error.code, nextStep: `${message}. ${nextStep}` };
}

async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ChainError("chain_unavailable")), milliseconds);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

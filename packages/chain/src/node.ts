/** The questions to a chain node, with every failure named. */
import { isError } from "@coffer/contract";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { ChainError } from "./errors.ts";
import type { NetworkConfiguration } from "./network.ts";

/** How long one request may take, in milliseconds. */
export const REQUEST_MS = 15_000;

export interface Node {
  readonly network: NetworkConfiguration;
  readonly client: SuiGrpcClient;
  readonly clock: () => number;
  readonly wait: (milliseconds: number) => Promise<void>;
}

/** The node's description of itself. */
export interface NodeState {
  readonly chainId: string;
  /** Time of its newest checkpoint, in milliseconds since the epoch. */
  readonly timestamp: number;
  readonly epoch: bigint;
}

/** @throws ChainError `chain_unavailable`. */
export async function readNodeState({ client }: Pick<Node, "client">): Promise<NodeState> {
  const { response } = await orUnavailable(
    client.ledgerService.getServiceInfo({}, { abort: AbortSignal.timeout(REQUEST_MS) }),
  );
  const { chainId, epoch, timestamp } = response;
  if (chainId === undefined || epoch === undefined || timestamp === undefined)
    throw new ChainError("chain_unavailable", { message: "The chain node does not say which chain it serves." });
  return { chainId, epoch, timestamp: Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1e6) };
}

/**
 * An object with its Move contents and its whole BCS form; null when the node has none.
 * @throws ChainError `chain_unavailable`.
 */
export async function findObject({ client }: Pick<Node, "client">, objectId: string, form: "content" | "objectBcs") {
  const { objects } = await orUnavailable(
    client.core.getObjects({
      objectIds: [objectId],
      include: { content: form === "content", objectBcs: form === "objectBcs" },
      signal: AbortSignal.timeout(REQUEST_MS),
    }),
  );
  const [object] = objects;
  if (object === undefined || isError(object)) {
    if (object !== undefined && "reason" in object && object.reason === "notFound") return null;
    throw new ChainError("chain_unavailable", { cause: object });
  }
  return object;
}

/** Any failed request means that the node is unusable; the client's errors are the cause. */
export async function orUnavailable<Result>(request: PromiseLike<Result>): Promise<Result> {
  try {
    return await request;
  } catch (cause) {
    if (cause instanceof ChainError) throw cause;
    throw new ChainError("chain_unavailable", { cause });
  }
}

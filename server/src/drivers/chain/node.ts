/** A node of the Sui chain over gRPC-web, with the unmodified `@mysten/sui` client. */
import { ChainUnavailableError, ClockSkewError } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import { boundedFetch } from "../bounded-fetch.ts";
import type { ChainPin } from "./chain-pin.ts";

export type SuiClient = Awaited<ReturnType<typeof openSuiClient>>;

/**
 * The most that a node's time, that of its latest checkpoint, may differ from this machine's, in milliseconds
 * (encryption design §2, §8).
 */
const MAX_SKEW = 30_000;

/** Loaded by the first who asks: it costs a server without shared vaults neither time nor memory. */
export async function openSuiClient(baseUrl: string, given: typeof fetch) {
  const { SuiGrpcClient } = await import("@mysten/sui/grpc");
  // `network` chooses a name service, which nothing here uses.
  return new SuiGrpcClient({
    network: "custom",
    baseUrl,
    fetch: (input, init) => boundedFetch(input, init, given),
    fetchInit: { redirect: "error" },
  });
}

export interface RecentNode {
  readonly client: SuiClient;
  readonly clock: Clock;
  readonly pin: ChainPin;
}

/** What a node says of itself. */
export interface Recent {
  /** null when it does not say. */
  readonly epoch: bigint | null;
  /** The chain's time, in milliseconds since 1970. */
  readonly time: number;
}

/** @throws ChainUnavailableError when the node is of another chain, or its time too far from this machine's to be believed. */
export async function readRecent({ client, clock, pin }: RecentNode, signal: AbortSignal): Promise<Recent> {
  const { response } = await client.ledgerService.getServiceInfo({}, { abort: signal });
  const { chainId, timestamp, epoch = null } = response;
  pin.check(chainId);
  if (timestamp === undefined) throw new ChainUnavailableError("The chain's node does not say how recent it is");
  const time = Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1_000_000);
  requireSameTime(time, clock.now());
  return { epoch, time };
}

/** @throws ClockSkewError with the seconds and the direction. */
export function requireSameTime(time: number, now: number): void {
  const off = Math.abs(now - time);
  if (off <= MAX_SKEW) return;
  const seconds = Math.ceil(off / 1000);
  throw new ClockSkewError(
    now < time
      ? `The service's clock is ${seconds} s behind the chain's: its operator must set it`
      : `The service's clock is ${seconds} s ahead of the chain node's: its operator must set it, or name another node if that one is late`,
  );
}

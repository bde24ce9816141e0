/** The wait before a lost connection of a feed is opened again. */
import type { Connection } from "../connection/options.ts";
import type { SdkError } from "../http/errors.ts";
import { retryDelay } from "../http/retry.ts";
import { pause } from "../http/time-limit.ts";

/** The longest wait that a feed chooses, in milliseconds; the service may ask for a longer one. */
export const LONGEST_WAIT_MS = 30_000;

interface Reconnect<Failure extends SdkError | null> {
  /** Why the connection was lost. null: it ended. */
  readonly error: Failure;
  /** Milliseconds that the wait does not exceed unless the service asks for more. */
  readonly atMostMs: number;
  readonly onReconnect: ((error: Failure, waitMs: number) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Waits at random within the upper half of `atMostMs`, so that readers do not return in step. Ends early when the signal aborts. */
export async function waitToReconnect<Failure extends SdkError | null>(
  { clock, retry }: Connection,
  { error, atMostMs, onReconnect, signal }: Reconnect<Failure>,
): Promise<void> {
  const ofService = retryDelay(retry, 1, error, () => 0);
  const waitMs = Math.round(Math.max(ofService, atMostMs * (0.5 + clock.random() / 2)));
  onReconnect?.(error, waitMs);
  await pause(clock, waitMs, signal).catch((failure: unknown) => {
    if (signal?.aborted !== true) throw failure;
  });
}

/** What the service sees of the chain: it reads through a node of its own, which may be some seconds behind the one that took a change. */
import type { ErrorCode } from "@coffer/contract";
import type { CallOptions } from "../call.ts";
import { isApiError } from "../errors.ts";
import type { Connection } from "../options.ts";
import { pause } from "../watch.ts";

/** For how long a call is repeated, in milliseconds. */
const PATIENCE = 20_000;
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 4_000;

/**
 * Runs `call`, which tells the service of a change that stands on the chain, again while the service answers `unseen`: its node has not
 * seen the change yet. Afterwards the service's answer is thrown as it is.
 */
export async function untilSeen<Result>(
  { clock }: Connection,
  unseen: ErrorCode,
  { signal }: CallOptions = {},
  call: () => Promise<Result>,
): Promise<Result> {
  const deadline = clock.now() + PATIENCE;
  for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
    try {
      return await call();
    } catch (error) {
      if (!isApiError(error) || error.code !== unseen || clock.now() + wait > deadline) throw error;
    }
    await pause(clock, wait, signal);
  }
}

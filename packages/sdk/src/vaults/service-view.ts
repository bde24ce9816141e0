/** What the service sees of the chain: it reads through a node of its own, which may be some seconds behind the one that took a change. */
import type { ErrorCode } from "@coffer/contract";
import { ApiError, isApiError } from "../errors.ts";
import type { Connection, CallOptions } from "../options.ts";
import { pause } from "../watch.ts";

/** As the service would say it, before anything is sent. */
export function refused(code: "generation_moved" | "precondition_failed", status: number, message: string): ApiError {
  return new ApiError(code, message, { status, requestId: null, retryAfterMs: null });
}

export function generationMoved(): ApiError {
  return refused("generation_moved", 409, "The vault has a newer generation");
}

/** For how long a call is repeated, in milliseconds. */
const PATIENCE = 20_000;
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 4_000;

/**
 * Runs `call`, which tells the service of a change that stands on the chain, again while the service answers `unseen`: its node has not
 * seen the change yet. Afterwards the service's answer is thrown as it is.
 */
export function untilSeen<Result>(
  connection: Connection,
  unseen: ErrorCode,
  options: CallOptions | undefined,
  call: () => Promise<Result>,
): Promise<Result> {
  return repeat(connection, options, call, (error) => isApiError(error) && error.code === unseen);
}

/** How the service refuses whom it does not take for a member, or not any more. */
export const CLOSED: ReadonlySet<string> = new Set(["not_a_member", "membership_ended"]);

/**
 * Runs `call` again while the service refuses as `not_a_member` or `membership_ended` whom the client's own node names (`isNamed`): it was
 * added, or its end put off, a moment ago.
 * Nobody else waits.
 */
export function untilServed<Result>(
  connection: Connection,
  isNamed: () => Promise<boolean>,
  call: () => Promise<Result>,
): Promise<Result> {
  const isLate = async (error: unknown) => isApiError(error) && CLOSED.has(error.code) && (await isNamed());
  return repeat(connection, undefined, call, isLate);
}

async function repeat<Result>(
  { clock }: Connection,
  { signal }: CallOptions = {},
  call: () => Promise<Result>,
  isLate: (error: unknown) => boolean | Promise<boolean>,
): Promise<Result> {
  const deadline = clock.now() + PATIENCE;
  for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
    try {
      return await call();
    } catch (error) {
      if (clock.now() + wait > deadline || !(await isLate(error))) throw error;
    }
    await pause(clock, wait, signal);
  }
}

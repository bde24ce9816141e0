/**
 * The service's view of the chain. It reads through a node of its own, which may be some seconds behind the one that
 * took a change.
 */
import type { ErrorCode } from "@coffer/contract";
import { ApiError, isAnswered, type VaultError } from "../http/errors.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { pause } from "../http/time-limit.ts";
import { vaultError } from "./vault-error.ts";

/** In the service's words, before anything is sent. */
export function preconditionFailed(message: string): ApiError {
  const nextStep = "Read it again and decide.";
  return new ApiError("precondition_failed", message, {
    status: 412,
    requestId: null,
    retryAfterMs: null,
    retryable: false,
    nextStep,
  });
}

export function generationMoved(): VaultError {
  return vaultError("generation_moved", "The vault has a newer generation");
}

/** For how long a call is repeated, in milliseconds. */
const PATIENCE = 20_000;
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 4_000;

/**
 * Runs `call`, which reports a change on the chain to the service. It repeats the call while the service answers
 * `unseen`: the service's node has not seen the change yet. Afterwards it throws the service's answer as it is.
 */
export function untilSeen<Result>(
  connection: Connection,
  unseen: ErrorCode,
  options: CallOptions | undefined,
  call: () => Promise<Result>,
): Promise<Result> {
  return repeat(connection, options, call, (error) => isAnswered(error) && error.code === unseen);
}

/** The service's refusals of a client that is no member, or no longer one. */
export const CLOSED: ReadonlySet<string> = new Set(["not_a_member", "membership_ended"]);

/**
 * Repeats `call` while the service refuses a client that the client's own node names (`isNamed`), with `not_a_member`
 * or `membership_ended`. It was added, or its end moved, a moment ago. Others do not wait.
 */
export function untilServed<Result>(
  connection: Connection,
  isNamed: () => Promise<boolean>,
  call: () => Promise<Result>,
): Promise<Result> {
  const isLate = async (error: unknown) => isAnswered(error) && CLOSED.has(error.code) && (await isNamed());
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

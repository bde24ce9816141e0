/** Sends a client's requests through kills: each is repeated until it is answered, or known not to be worth it. */
import { setTimeout as pause } from "node:timers/promises";
import { ERRORS, HEADERS, isErrorCode, type CallInput, type EndpointDefinition } from "@coffer/contract";
import { receive, type Received } from "../conformance/judge.ts";
import { renderRequest } from "../conformance/wire.ts";
import type { Draw } from "../fuzz/draw.ts";
import type { Gate, Ledger } from "./ledger.ts";

export interface ClientContext {
  readonly baseUrl: string;
  readonly key: string;
  /** A key of the same account that has budgets. */
  readonly limitedKey: string;
  /** A public vault of the account. */
  readonly vaultId: string;
  readonly gate: Gate;
  readonly ledger: Ledger;
  readonly draw: Draw;
  /** Unique among the clients of the run. */
  readonly name: string;
  /** Whose sessions this client refreshes. */
  readonly person: Person;
  readonly stopping: AbortSignal;
}

/** How a client signs in again when it lost an answer: a token that was used twice ends its session. */
export interface Person {
  readonly email: string;
  readonly password: string;
  /** The newest that was acknowledged and not used since; null: sign in. */
  refreshToken: string | null;
}

/** The answer was an error that no repeat cures; already in the ledger. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** Repeats until an answer comes; `settled` is an error that says that an earlier attempt did it. */
export async function persist<E extends EndpointDefinition>(
  context: ClientContext,
  e: E,
  input: CallInput<E, Uint8Array>,
  headers: Record<string, string> = {},
  settled?: string,
): Promise<Received> {
  for (;;) {
    const answer = await attempt(context, e, input, headers, settled);
    if (answer !== null) return answer;
  }
}

/** One try once the server is up; null when it was cut off or may be tried again. */
export async function attempt<E extends EndpointDefinition>(
  context: ClientContext,
  e: E,
  input: CallInput<E, Uint8Array>,
  headers: Record<string, string> = {},
  settled?: string,
): Promise<Received | null> {
  const { gate, key, ledger } = context;
  await gate.pass();
  ledger.counts.sent += 1;
  let answer: Received;
  try {
    answer = await receive(await fetch(renderRequest(context.baseUrl, e, input, { key, headers })));
  } catch {
    ledger.counts.cut += 1;
    await pause(5);
    return null;
  }
  if (answer.headers.get(HEADERS.idempotentReplay) === "true") ledger.counts.replayed += 1;
  const code = answer.headers.get(HEADERS.errorCode);
  if (answer.status < 300 || (code !== null && code === settled)) return answer;
  if (code !== null && isErrorCode(code) && (ERRORS[code].retryable || code === "offset_mismatch")) {
    await pause(20);
    return null;
  }
  ledger.findings.push(
    `${context.name}: ${e.id} answered ${String(answer.status)} ${String(code)}: ${new TextDecoder().decode(answer.body)}`,
  );
  throw new Refused();
}

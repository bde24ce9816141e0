/** Calls endpoints, holds every answer to the contract, and records what breaks it. */
import {
  ERRORS,
  HEADERS,
  isBytes,
  type CallInput,
  type EndpointDefinition,
  type ErrorCode,
  type Output,
} from "@coffer/contract";
import { judge, parseJson, receive, type Received } from "./judge.ts";
import { HTTP, type Recorder } from "./report.ts";
import { renderRequest, type Extras, type Transport } from "./wire.ts";

export interface Answer<E extends EndpointDefinition> extends Received {
  /** The decoded success; throws {@link StepFailed} when the call did not succeed, which ends the flow. */
  readonly value: () => Output<E, Uint8Array>;
}

/** A step on which later steps depend did not succeed; the finding is already recorded. */
export class StepFailed extends Error {
  override readonly name: string = "StepFailed";
}

/** It met the server's rate limit, which is nothing against the server; what is left of the flow cannot be tried. */
export class RateLimited extends StepFailed {
  override readonly name = "RateLimited";
}

/** What a step expects: a status, an error of the catalogue, or any answer that the contract allows. */
export type Expected = number | ErrorCode | "any";

export interface Ask extends Extras {
  readonly expect?: Expected;
}

export interface Conversation {
  readonly baseUrl: string;
  /** The bearer credential of its calls. */
  readonly key: string | null;
  /** Names what the following calls try. */
  step(text: string): void;
  /** Calls with schema-valid input under the session's key (or another). */
  call<E extends EndpointDefinition>(e: E, input: CallInput<E, Uint8Array>, ask?: Ask): Promise<Answer<E>>;
  /** Sends any request; `e` is the endpoint it is about, null for none. */
  send(e: EndpointDefinition | null, request: Request, expect: Expected): Promise<Received>;
  /** A check beyond the answer's shape. */
  check(e: EndpointDefinition | null, holds: boolean, problem: string): void;
  note(text: string): void;
  /** The same conversation under another key; null: without one. */
  as(key: string | null): Conversation;
}

export interface Line {
  readonly baseUrl: string;
  readonly transport: Transport;
  readonly recorder: Recorder;
}

export function openConversation(
  line: Line,
  key: string | null,
  progress: { step: string } = { step: "" },
): Conversation {
  const { recorder } = line;
  const record = (e: EndpointDefinition | null, holds: boolean, problem: string) => {
    recorder.check(e?.id ?? HTTP, progress.step, holds, problem);
  };
  const send = async (e: EndpointDefinition | null, request: Request, expect: Expected): Promise<Received> => {
    recorder.called(e?.id ?? HTTP);
    const answer = await receive(await line.transport(request));
    const problems = judge(e, request.method, answer);
    record(e, problems.length === 0, problems.join("; "));
    if (refusedWith(answer) === "rate_limited" && expect !== "rate_limited") {
      recorder.note(`${e?.id ?? HTTP} met the server's rate limit: what it then answers was not tried`);
      return answer;
    }
    const mismatch = outcomeMismatch(answer, expect);
    record(e, mismatch === null, mismatch ?? "");
    return answer;
  };
  return {
    baseUrl: line.baseUrl,
    key,
    step: (text) => void (progress.step = text),
    async call(e, input, ask = {}) {
      const { expect, ...extras } = ask;
      const received = await send(e, renderRequest(line.baseUrl, e, input, { key, ...extras }), expect ?? e.status);
      return { ...received, value: () => decode(e, received) };
    },
    send,
    check: record,
    note: (text) => {
      recorder.note(text);
    },
    as: (other) => openConversation(line, other, progress),
  };
}

/** The machine code of a refusal, null for a success. */
export function refusedWith(answer: Received): string | null {
  return answer.headers.get(HEADERS.errorCode);
}

function outcomeMismatch(answer: Received, expect: Expected): string | null {
  const code = answer.headers.get(HEADERS.errorCode);
  const got = code === null ? String(answer.status) : `${String(answer.status)} ${code}`;
  if (expect === "any") return null;
  if (typeof expect === "number")
    return answer.status === expect ? null : `expected ${String(expect)}, got ${got}${said(answer)}`;
  const matches = answer.status === ERRORS[expect].status && code === expect;
  return matches ? null : `expected ${String(ERRORS[expect].status)} ${expect}, got ${got}${said(answer)}`;
}

function said(answer: Received): string {
  const value = parseJson(answer.body);
  return typeof value === "object" && value !== null && "error" in value ? ` (${String(value.error)})` : "";
}

function decode<E extends EndpointDefinition>(e: E, answer: Received): Output<E, Uint8Array> {
  if (refusedWith(answer) === "rate_limited") throw new RateLimited(e.id);
  if (answer.status < 200 || answer.status >= 300) throw new StepFailed(`${e.id} answered ${String(answer.status)}`);
  // The judge has held the body to the schema; a flow that goes on after a finding may see undefined fields.
  const value = e.output === undefined ? undefined : isBytes(e.output) ? answer.body : parseJson(answer.body);
  return value as Output<E, Uint8Array>;
}

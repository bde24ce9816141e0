/**
 * The ladder of agreement: a host that can ask its user asks, in either protocol era. Any other host gets a preview and a
 * token. With `--confirm human-only` the token is never given.
 */
import { TaskFailure } from "@coffer/tasks";
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ConfirmRequest } from "./call.ts";
import type { ConfirmMode } from "./launch.ts";
import type { Binding, ConfirmationTokens } from "./confirmation-tokens.ts";

/** Ends a call of the 2026 era: its host asks the user and calls again with the answer. */
export class AskUser extends Error {
  readonly result: InputRequiredResult;

  constructor(result: InputRequiredResult) {
    super("the user has to be asked");
    this.result = result;
  }
}

export interface ConfirmationContext {
  readonly mcp: McpServer;
  readonly context: ServerContext;
  readonly confirmations: ConfirmationTokens;
  readonly mode: ConfirmMode;
  /** Text of others was shown. */
  readonly isTainted: boolean;
  /** How long a host's user may take, in milliseconds. Default: 30 s. */
  readonly answerWaitMs: number | undefined;
  /** Takes who agreed. */
  readonly onAgreed: (who: "user" | "token") => void;
}

/** Hosts give up on a call after 60 s. */
const ANSWER_WAIT_MS = 30_000;
const KEY = "confirm";
const FORM = {
  type: "object" as const,
  properties: { confirm: { type: "boolean" as const, title: "Do it", default: false } },
  required: ["confirm"],
};

/**
 * Returns when a person agreed, or when the caller holds the token of this very preview.
 * @throws AskUser; TaskFailure `confirmation_required`, `declined`.
 */
export async function requireConfirmed(
  confirmation: ConfirmationContext,
  tool: string,
  args: unknown,
  { preview, state, stateNow, token, isFinal = false }: ConfirmRequest,
): Promise<void> {
  const { confirmations } = confirmation;
  const isTaint = isFinal && confirmation.isTainted && confirmation.mode === "auto";
  const humanOnly = confirmation.mode === "human-only" || isTaint;
  const boundArgs = typeof args === "object" && args !== null ? { ...args, confirm: undefined } : args;
  const binding = { tool, args: boundArgs, state };
  if (!humanOnly && token !== undefined && confirmations.redeem(token, binding)) {
    confirmation.onAgreed("token");
    return;
  }
  const answer = await askUser(confirmation, preview, binding);
  if (answer === "yes") {
    if (JSON.stringify(await stateNow()) === JSON.stringify(state)) {
      confirmation.onAgreed("user");
      return;
    }
    throw new TaskFailure("precondition_failed", {
      message: "What the user agreed to has changed meanwhile; nothing was done",
      nextStep: "Call again: the user is asked anew.",
    });
  }
  if (answer === "no") throw new TaskFailure("declined");
  if (humanOnly)
    throw new TaskFailure("confirmation_required", {
      message: isTaint ? TAINT_MESSAGE : "The user of the host has to agree, and this host cannot ask",
      nextStep: isTaint ? TAINT_STEP : FLAG_STEP,
      preview,
    });
  const message = token === undefined ? {} : { message: "The token does not fit this call any more; nothing was done" };
  throw new TaskFailure("confirmation_required", { ...message, preview, confirm: confirmations.issue(binding) });
}

const FLAG_STEP =
  "Tell the user: a host with elicitation can ask, or the server can start without --confirm human-only.";
const TAINT_MESSAGE = "Text of others was shown here, so the user of the host has to agree, and this host cannot ask";
const TAINT_STEP =
  "Tell the user what the preview says. A host with elicitation can ask, the user can do it at a shell, or the server can start with --confirm token.";

type Answer = "yes" | "no" | "cannot ask";

async function askUser(asking: ConfirmationContext, message: string, binding: Binding): Promise<Answer> {
  const { answerWaitMs: timeout = ANSWER_WAIT_MS, context, mcp } = asking;
  const { envelope } = context.mcpReq;
  if (envelope !== undefined) return askInNextRound(asking, Object.entries(envelope), message, binding);
  const peer: AskingPeer = mcp.server;
  if (peer.getClientCapabilities()?.elicitation === undefined) return "cannot ask";
  try {
    return answerIn(await peer.elicitInput({ message, requestedSchema: FORM }, { timeout }));
  } catch {
    // Nobody answered in time, or the host refused to ask.
    return "cannot ask";
  }
}

/** The state that comes back is the client's word: it holds as a token does, for this call and these versions alone. */
function askInNextRound(
  { confirmations, context }: ConfirmationContext,
  envelope: readonly [string, unknown][],
  message: string,
  binding: Binding,
): Answer {
  const response = context.mcpReq.inputResponses?.[KEY];
  const state = context.mcpReq.requestState();
  if (response !== undefined) {
    const answer = answerIn(response);
    if (answer === "no" || (typeof state === "string" && confirmations.redeem(state, binding))) return answer;
  }
  if (!declaresElicitation(envelope)) return "cannot ask";
  throw new AskUser(
    inputRequired({
      inputRequests: { [KEY]: inputRequired.elicit({ message, requestedSchema: FORM }) },
      requestState: confirmations.issue(binding),
    }),
  );
}

function declaresElicitation(envelope: readonly [string, unknown][]): boolean {
  const capabilities = envelope.find(([key]) => key === CLIENT_CAPABILITIES_META_KEY)?.[1];
  return typeof capabilities === "object" && capabilities !== null && "elicitation" in capabilities;
}

/** Anything but a clear yes is a no. */
function answerIn(response: unknown): "yes" | "no" {
  if (typeof response !== "object" || response === null || !("action" in response)) return "no";
  const content: unknown = "content" in response ? response.content : null;
  const isTicked = typeof content === "object" && content !== null && "confirm" in content && content.confirm === true;
  return response.action === "accept" && isTicked ? "yes" : "no";
}

interface AskingPeer {
  getClientCapabilities(): { readonly elicitation?: object | undefined } | undefined;
  elicitInput(
    params: { readonly message: string; readonly requestedSchema: typeof FORM },
    options: { readonly timeout: number },
  ): Promise<unknown>;
}

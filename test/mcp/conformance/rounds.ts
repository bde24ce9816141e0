/** Fixtures of the 2026 revision that need several rounds: each asks until the client has answered. */
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type CallToolResult,
  type InputRequests,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { say, STATES, texts } from "./shared.ts";

type Round = CallToolResult | InputRequiredResult | Promise<CallToolResult | InputRequiredResult>;

const ask = (field: string, isBoolean = false) =>
  inputRequired.elicit({
    message: `Your ${field}?`,
    requestedSchema: {
      type: "object",
      properties: { [field]: isBoolean ? { type: "boolean" } : { type: "string" } },
      required: [field],
    },
  });
const sample = (text: string) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 50 });

/** A text that the user gave; null: none yet. */
function given({ mcpReq }: ServerContext, key: string, field: string): string | null {
  const value = acceptedContent<Record<string, unknown>>(mcpReq.inputResponses, key)?.[field];
  return typeof value === "string" ? value : null;
}

function fieldOf(context: ServerContext, key: string, field: string): unknown {
  const answer: unknown = context.mcpReq.inputResponses?.[key];
  return typeof answer === "object" && answer !== null ? Reflect.get(answer, field) : undefined;
}

export function addRounds(mcp: McpServer): void {
  const add = (name: string, run: (context: ServerContext) => Round): void => {
    mcp.registerTool(name, { description: `Runs ${name}`, inputSchema: texts() }, (_args, context) => run(context));
  };
  add("test_missing_capability", (context) =>
    fieldOf(context, "answer", "content") === undefined
      ? inputRequired({ inputRequests: { answer: sample("Say pong") } })
      : say("sampled"),
  );
  add("test_input_required_result_elicitation", (context) => {
    const name = given(context, "user_name", "name");
    return name === null ? inputRequired({ inputRequests: { user_name: ask("name") } }) : say(`Hello, ${name}!`);
  });
  add("test_input_required_result_sampling", (context) => {
    const content = fieldOf(context, "capital_question", "content");
    if (content === undefined)
      return inputRequired({ inputRequests: { capital_question: sample("What is the capital of France?") } });
    return say(`Sampling response: ${JSON.stringify(content)}`);
  });
  add("test_input_required_result_list_roots", (context) => {
    const roots = fieldOf(context, "client_roots", "roots");
    if (!Array.isArray(roots)) return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    return say(`Roots: ${JSON.stringify(roots)}`);
  });
  for (const name of ["request_state", "tampered_state"])
    add(`test_input_required_result_${name}`, async (context) => {
      const isAnswered = acceptedContent(context.mcpReq.inputResponses, "confirm") !== undefined;
      if (isAnswered && context.mcpReq.requestState() !== undefined) return say("state-ok: integrity-ok");
      return inputRequired({
        inputRequests: { confirm: ask("ok", true) },
        requestState: await STATES.mint({ name }),
      });
    });
  add("test_input_required_result_multiple_inputs", async (context) => {
    const name = given(context, "user_name", "name");
    const greeting = fieldOf(context, "greeting", "content");
    const roots = fieldOf(context, "client_roots", "roots");
    if (name !== null && greeting !== undefined && Array.isArray(roots))
      return say(`${JSON.stringify(greeting)} ${name}, ${String(roots.length)} roots`);
    return inputRequired({
      inputRequests: { user_name: ask("name"), greeting: sample("Greet"), client_roots: inputRequired.listRoots() },
      requestState: await STATES.mint({ name: "several" }),
    });
  });
  add("test_input_required_result_multi_round", multiRound);
  add("test_input_required_result_capabilities", (context) => {
    if (context.mcpReq.inputResponses !== undefined) return say("answered");
    const inputRequests = coveredRequests(context);
    return Object.keys(inputRequests).length === 0 ? say("nothing can be asked") : inputRequired({ inputRequests });
  });
  addPromptRound(mcp);
}

async function multiRound(context: ServerContext): Promise<CallToolResult | InputRequiredResult> {
  const state = context.mcpReq.requestState<Record<string, unknown>>();
  const round = typeof state?.["round"] === "number" ? state["round"] : 0;
  if (round === 2) return say(`${String(state?.["name"])} likes ${given(context, "step2", "color") ?? "nothing"}`);
  const name = round === 1 ? (given(context, "step1", "name") ?? "somebody") : null;
  return inputRequired({
    inputRequests: round === 0 ? { step1: ask("name") } : { step2: ask("color") },
    requestState: await STATES.mint({ round: round + 1, name }),
  });
}

/** Of each kind that the client can answer, one. */
function coveredRequests({ mcpReq }: ServerContext): InputRequests {
  const envelope = Object.entries(mcpReq.envelope ?? {});
  const declared = envelope.find(([key]) => key === CLIENT_CAPABILITIES_META_KEY)?.[1];
  const can = (kind: string): boolean => typeof declared === "object" && declared !== null && kind in declared;
  return {
    ...(!can("elicitation") ? {} : { user_name: ask("name") }),
    ...(!can("sampling") ? {} : { greeting: sample("Greet") }),
    ...(!can("roots") ? {} : { client_roots: inputRequired.listRoots() }),
  };
}

function addPromptRound(mcp: McpServer): void {
  mcp.registerPrompt("test_input_required_result_prompt", { description: "Asks first" }, (context) => {
    const text = given(context, "user_context", "context");
    if (text === null) return inputRequired({ inputRequests: { user_context: ask("context") } });
    return { messages: [{ role: "user", content: { type: "text", text: `Use this context: ${text}` } }] };
  });
}

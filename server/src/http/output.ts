/** Answers, held to the contract before they leave: unknown fields are dropped, wrong ones are a defect (500). */
import { type EndpointDefinition, isBytes } from "@coffer/contract";
import * as z from "zod/mini";
import { JSON_TYPE } from "./failures.ts";
import { type OutgoingBytes, Recorded, Reply } from "./handlers.ts";

export interface RenderedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, bytes, or nothing. */
  readonly body: string | OutgoingBytes | null;
}

/** Throws when the answer is not what the endpoint declares. */
export function renderAnswer(endpoint: EndpointDefinition, answer: unknown): RenderedAnswer {
  const reply = answer instanceof Recorded ? answer.reply : answer;
  const { body, status, headers } = reply instanceof Reply ? reply : new Reply(reply);
  const finalStatus = status ?? endpoint.status;
  if (finalStatus !== endpoint.status && !(endpoint.otherStatuses ?? []).includes(finalStatus)) {
    throw new Error(`${endpoint.id} answered ${finalStatus}, which the contract does not declare`);
  }
  if (body === undefined) {
    if (finalStatus === endpoint.status && endpoint.output !== undefined) {
      throw new Error(`${endpoint.id} answered without the body that the contract declares`);
    }
    return { status: finalStatus, headers, body: null };
  }
  const { output } = endpoint;
  if (output === undefined) throw new Error(`${endpoint.id} answered a body, and the contract declares none`);
  if (isBytes(output)) return { status: finalStatus, headers, body: body as OutgoingBytes };
  return {
    status: finalStatus,
    headers: { "Content-Type": JSON_TYPE, ...headers },
    body: renderJson(endpoint, output, body),
  };
}

function renderJson(endpoint: EndpointDefinition, schema: z.core.$ZodType, body: unknown): string {
  const result = z.safeEncode(schema, body as never);
  if (result.success) return JSON.stringify(result.data);
  const places = result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new Error(`${endpoint.id} answered what the contract does not allow: ${places.join("; ")}`);
}

/** Answers, checked against the contract before they leave: unknown fields are dropped, wrong ones are a defect (500). */
import { type EndpointDefinition, isBytes } from "@coffer/contract";
import * as z from "zod/mini";
import { type OutgoingBytes, Recorded, Reply } from "../handler.ts";
import { JSON_TYPE } from "./failures.ts";

export interface RenderedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, bytes, or nothing. */
  readonly body: string | OutgoingBytes | null;
}

/** Headers of every JSON answer that sets none of its own. */
export const JSON_HEADERS: Readonly<Record<string, string>> = { "Content-Type": JSON_TYPE };

/** Throws when the answer is not what the endpoint declares. */
export function renderAnswer(endpoint: EndpointDefinition, answer: unknown): RenderedAnswer {
  const reply = answer instanceof Recorded ? answer.reply : answer;
  const body: unknown = reply instanceof Reply ? reply.body : reply;
  const status = reply instanceof Reply ? reply.status : undefined;
  const headers = reply instanceof Reply ? reply.headers : NO_HEADERS;
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
  const all = headers === NO_HEADERS ? JSON_HEADERS : { ...JSON_HEADERS, ...headers };
  return { status: finalStatus, headers: all, body: renderJson(endpoint, output, body) };
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Parsers made on first use: a compiled one was measured at a fifth of the interpreted one's cost. */
const parsers = new WeakMap<z.core.$ZodType, z.core.$ZodType>();

/** Outputs hold no codecs, so parsing is encoding (held by implement.test.ts). */
function renderJson(endpoint: EndpointDefinition, schema: z.core.$ZodType, body: unknown): string {
  let parser = parsers.get(schema);
  if (parser === undefined) {
    parser = z.compile(schema);
    parsers.set(schema, parser);
  }
  const result = z.safeParse(parser, body);
  if (result.success) return JSON.stringify(result.data);
  const places = result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new Error(`${endpoint.id} answered what the contract does not allow: ${places.join("; ")}`);
}

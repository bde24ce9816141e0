import { ERROR_FACTS, HEADERS, isErrorCode, type EndpointDefinition, type ErrorCode } from "@coffer/contract";
import * as z from "zod/mini";
import { describeIssues } from "./encode-request.ts";
import { ApiError, ContractError } from "./errors.ts";
import { redactText } from "./redaction.ts";
import { parseRetryAfter } from "./retry.ts";

const LONGEST_ERROR_BODY = 64 * 1024;
const errorBody = z.object({ error: z.string() });

export function isSuccess(endpoint: EndpointDefinition, status: number): boolean {
  return status === endpoint.status || (endpoint.otherStatuses ?? []).includes(status);
}

/** The JSON of a success, checked against the contract. Unknown keys stay: a newer server may say more. */
export async function decodeJson(
  endpoint: EndpointDefinition,
  schema: z.core.$ZodType,
  response: Response,
  broken: (error: ContractError) => void,
): Promise<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(await response.text());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ContractError("response", endpoint.id, ["body: not JSON"]);
  }
  const result = z.safeParse(schema, value);
  if (result.success) return keepUnknownKeys(result.data, value);
  broken(new ContractError("response", endpoint.id, describeIssues(result.error.issues, "body")));
  return value;
}

/** Turns an answer that is no success into its error. Reads at most 64 KiB of the body and never shows more than its message. */
export async function decodeError(response: Response, nowEpochMs: number): Promise<ApiError> {
  const text = await readStart(response);
  const code = parseCode(response);
  const known = await sentencesOf(code, response.status);
  return new ApiError(code, parseMessage(text) ?? known.message, {
    status: response.status,
    requestId: requestIdOf(response),
    retryAfterMs: parseRetryAfter(response.headers.get("retry-after"), nowEpochMs),
    nextStep: known.nextStep,
  });
}

/** The catalogue's words, loaded with the first error; where that fails (a page whose files were replaced) the code must do. */
async function sentencesOf(
  code: ErrorCode | "unknown_error",
  status: number,
): Promise<{ readonly message: string; readonly nextStep: string }> {
  const message = `HTTP ${String(status)}`;
  if (code === "unknown_error")
    return {
      message,
      nextStep: "Check that the base URL is the service's own; report the request id if it stays.",
    };
  const catalogue = await import("@coffer/contract/error-texts").catch(() => null);
  const [known, nextStep] = catalogue?.ERROR_TEXTS[code] ?? [message, `Look up what ${code} means.`];
  return { message: known, nextStep };
}

/** The server's id for the request; null when it gave none that looks like one. */
export function requestIdOf(response: Response): string | null {
  const id = response.headers.get(HEADERS.requestId);
  return id !== null && /^[\w.:-]{1,128}$/.test(id) ? redactText(id) : null;
}

/** A code counts only with the status that the catalogue gives it; HEAD answers and proxies may carry none. */
function parseCode(response: Response): ErrorCode | "unknown_error" {
  const code = response.headers.get(HEADERS.errorCode);
  return code !== null && isErrorCode(code) && ERROR_FACTS[code][0] === response.status ? code : "unknown_error";
}

function parseMessage(text: string): string | null {
  try {
    const result = z.safeParse(errorBody, JSON.parse(text));
    return result.success && result.data.error !== "" ? result.data.error : null;
  } catch {
    return null; // Not JSON, so not from the service: a proxy's page is of no use to the caller.
  }
}

async function readStart(response: Response): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (let size = 0; size < LONGEST_ERROR_BODY;) {
      const next = await reader.read();
      if (next.done) return text;
      size += next.value.length;
      text += decoder.decode(next.value, { stream: true });
    }
    await reader.cancel();
  } catch {
    return text; // The status and headers are known; a broken body must not hide them.
  }
  return text;
}

function keepUnknownKeys(parsed: unknown, raw: unknown): unknown {
  if (Array.isArray(parsed) && Array.isArray(raw))
    return parsed.map((item, index) => keepUnknownKeys(item, raw[index]));
  if (!isRecord(parsed) || !isRecord(raw)) return parsed;
  const merged: Record<string, unknown> = { ...raw };
  for (const [key, value] of Object.entries(parsed)) merged[key] = keepUnknownKeys(value, raw[key]);
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

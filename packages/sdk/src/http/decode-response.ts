import { fitsStatus, HEADERS, isErrorCode, type EndpointDefinition, type ErrorCode } from "@coffer/contract";
import * as z from "zod/mini";
import { BudgetError } from "./budget-error.ts";
import { loadErrorSentences } from "./load-error-sentences.ts";
import { wordsOf } from "./encode-request.ts";
import { answeredError, type AnswerFacts, ContractError, type SdkError } from "./errors.ts";
import { redactText } from "./redaction.ts";
import { parseRetryAfter } from "./retry.ts";

/**
 * The most bytes of a success's JSON after decompression. The contract's largest page, 1,000 API keys that each name
 * 1,000 vaults, has under 40 million. The longest page of files with their statements has 4 million.
 */
const LONGEST_BODY = 64 * 1024 * 1024;
const LONGEST_ERROR_BODY = 64 * 1024;
/**
 * The most values. That largest page has 1.1 million. A value may take one byte of JSON and a hundred of memory, and
 * its issues 400.
 */
const MOST_VALUES = 1_500_000;
/** The most issues: ten times the largest page. An item may lack every field, and each is an issue of its own. */
const LONGEST_LIST = 10_000;
const errorBody = z.object({ error: z.string() });

export function isSuccess(endpoint: EndpointDefinition, status: number): boolean {
  return status === endpoint.status || (endpoint.otherStatuses ?? []).includes(status);
}

/** The JSON of a success, of at most 64 MiB, checked against the contract. Unknown keys stay: a newer server may say more. */
export async function decodeJson(
  endpoint: EndpointDefinition,
  schema: z.core.$ZodType,
  response: Response,
  broken: (error: ContractError) => void,
): Promise<unknown> {
  const refusal = (issue: string): ContractError => new ContractError("response", endpoint.id, [`body: ${issue}`]);
  const text = await readText(response, LONGEST_BODY);
  if (text === null) throw refusal(`more than ${String(LONGEST_BODY)} bytes`);
  if (hasTooManyValues(text)) throw refusal(`more than ${String(MOST_VALUES)} values`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refusal("not JSON");
  }
  if (isRecord(value) && Object.values(value).some((list) => Array.isArray(list) && list.length > LONGEST_LIST))
    throw refusal(`a list of more than ${String(LONGEST_LIST)} items`);
  const result = check(schema, value);
  if (result === null) throw refusal("too much of it is wrong");
  if (result.success) return keepUnknownKeys(result.data, value);
  broken(new ContractError("response", endpoint.id, await wordsOf(result.error.issues, "body")));
  return keepUnknownKeys(value, value);
}

/**
 * Counts the characters that begin a value or separate two, before the parser makes objects of them. It counts those
 * in strings too: honest texts have few.
 */
function hasTooManyValues(text: string): boolean {
  let count = 0;
  for (const mark of ",[{")
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
      if ((count += 1) > MOST_VALUES) return true;
  return false;
}

/** null if zod has no room for the issues: it puts all issues of a list on the stack at once. */
function check(schema: z.core.$ZodType, value: unknown): z.core.util.SafeParseResult<unknown> | null {
  try {
    return z.safeParse(schema, value);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Turns an error answer into its error. Reads a body of at most 64 KiB and never shows more than its message. */
export async function decodeError(response: Response, nowEpochMs: number): Promise<SdkError> {
  // Status and headers arrived. A body that is broken or too long must not hide them.
  const text = await readText(response, LONGEST_ERROR_BODY).catch(() => null);
  const code = parseCode(response);
  const sentences = await sentencesOf(code, response.status);
  const message = parseMessage(text ?? "") ?? sentences.message;
  const facts = {
    status: response.status,
    requestId: requestIdOf(response),
    retryAfterMs: parseRetryAfter(response.headers.get("retry-after"), nowEpochMs),
    nextStep: sentences.stepOf(message),
    ...itemFactsOf(response),
  };
  if (code !== "budget_exceeded" && code !== "budget_storage") return answeredError(code, message, facts);
  return new BudgetError(code, message, { ...facts, budget: response.headers.get(HEADERS.budget) }, nowEpochMs);
}

/** The catalogue's words. If they cannot be loaded (a page whose files were replaced), the code must do. */
async function sentencesOf(
  code: ErrorCode | "unknown_error",
  status: number,
): Promise<{ readonly message: string; readonly stepOf: (message: string) => string }> {
  const message = `HTTP ${String(status)}`;
  if (code === "unknown_error")
    return {
      message,
      stepOf: () => "Check that the base URL is the service's own; report the request id if it stays.",
    };
  const catalogue = await loadErrorSentences();
  const [sentence, nextStep] = catalogue?.ERROR_TEXTS[code] ?? [message, `Look up what ${code} means.`];
  // Only the sentence says why a key is refused, and the step depends on that.
  return { message: sentence, stepOf: (text) => catalogue?.stepOfRefusedKey(text) ?? nextStep };
}

/** The server's id for the request; null when it gave none that looks like one. */
export function requestIdOf(response: Response): string | null {
  const id = response.headers.get(HEADERS.requestId);
  return id !== null && /^[\w.:-]{1,128}$/.test(id) ? redactText(id) : null;
}

/** Which file of a commit a refusal is about. */
function itemFactsOf({ headers }: Response): Pick<AnswerFacts, "itemId" | "currentTag"> {
  const itemId = headers.get(HEADERS.itemId);
  if (itemId === null || !/^[0-9a-f-]{36}$/.test(itemId)) return {};
  const tag = headers.get("etag");
  return tag !== null && /^"[\x21\x23-\x7e]{1,128}"$/.test(tag) ? { itemId, currentTag: tag } : { itemId };
}

/** A code counts only with the status that the catalogue gives it; HEAD answers and proxies may carry none. */
function parseCode(response: Response): ErrorCode | "unknown_error" {
  const code = response.headers.get(HEADERS.errorCode);
  return code !== null && isErrorCode(code) && fitsStatus(code, response.status) ? code : "unknown_error";
}

function parseMessage(text: string): string | null {
  try {
    const result = z.safeParse(errorBody, JSON.parse(text));
    return result.success && result.data.error !== "" ? result.data.error : null;
  } catch {
    return null; // Not JSON, so not from the service: a proxy's page does not help the caller.
  }
}

/** The body as text; null when it has more than `most` bytes: it leaves the rest unread. */
async function readText({ body }: Response, most: number): Promise<string | null> {
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > most) break;
    text += decoder.decode(value, { stream: true });
  }
  reader.cancel().catch(() => undefined); // Not awaited: a transport may never report its end.
  return null;
}

function keepUnknownKeys(parsed: unknown, raw: unknown): unknown {
  if (Array.isArray(parsed) && Array.isArray(raw))
    return parsed.map((item, index) => keepUnknownKeys(item, raw[index]));
  if (!isRecord(parsed) || !isRecord(raw)) return parsed;
  const merged: Record<string, unknown> = { ...raw };
  // Only this client says that it has verified something.
  if ("verified" in merged) delete merged["verified"];
  for (const [key, value] of Object.entries(parsed)) merged[key] = keepUnknownKeys(value, raw[key]);
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

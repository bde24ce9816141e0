/** What all key servers have in common on HTTP: the body's limit, the headers, and how errors are answered. */
import { BadBodyError, KeyServerError } from "./key-server-error.ts";

/** 128 KiB of transaction in Base64, and room for the rest. */
const MAX_BODY = 180 * 1024;

/** The version of MystenLabs/seal whose behaviour this is. SealClient wants at least 0.4.1. */
const SERVER_VERSION = "0.6.10";

const HEADERS = {
  "X-KeyServer-Version": SERVER_VERSION,
  "X-KeyServer-GitVersion": "localnet",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Methods": "*",
  "Access-Control-Allow-Headers": "*",
  "Access-Control-Expose-Headers": "*",
};

/** Renders what is refused; everything else that `answer` throws is the localnet's own mistake. */
export async function answerRequest(answer: () => Promise<Response>): Promise<Response> {
  const response = await answer().catch(renderRefusal);
  for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value);
  return response;
}

/** @throws KeyServerError when the client does not say which SDK it is, or an old one. */
export function checkClient(headers: Headers): void {
  const version = headers.get("Client-Sdk-Version");
  if (version === null)
    throw new KeyServerError("MissingRequiredHeader", "Missing required header: Client-Sdk-Version");
  const [major, minor, patch] = parseVersion(version);
  if (headers.get("Client-Sdk-Type") !== "typescript") return;
  const accepted = major > 0 || minor > 4 || (minor === 4 && patch >= 5);
  if (!accepted) throw new KeyServerError("DeprecatedSDKVersion", "Deprecated SDK version");
}

/** @throws BadBodyError above 180 KiB, which are never held in memory. */
export async function readBody(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY) throw new BadBodyError(413, "length limit exceeded");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseVersion(text: string): [number, number, number] {
  const match = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:[-+][\w.+-]{1,64})?$/.exec(text);
  if (match === null) throw new KeyServerError("InvalidSDKVersion", "Invalid SDK version");
  return [Number(match[1]), Number(match[2]), Number(match[3])];
}

function renderRefusal(error: unknown): Response {
  if (error instanceof KeyServerError || error instanceof BadBodyError) return error.toResponse();
  throw error;
}

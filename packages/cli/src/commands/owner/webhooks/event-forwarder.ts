/** Sends events to an address of this machine, signed as the service signs them (Standard Webhooks). */
import { createHmac, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../../../context.ts";
import { usage } from "../../../failure.ts";

const LIMIT_MS = 15_000;

export interface ForwardOutcome {
  readonly event: string;
  readonly messageId: string;
  /** 0: no answer came. */
  readonly httpStatus: number;
  readonly error: string;
}

export function parseReceiver(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw usage(`--forward-to is no address: ${text}`, "pass --forward-to http://127.0.0.1:PORT/PATH");
}

/** The secret of the file, or a new one. */
export async function signingSecret({ world }: Context, file: string | undefined): Promise<string> {
  if (file === undefined) return `whsec_${randomBytes(24).toString("base64")}`;
  return (await readFile(resolve(world.workingDirectory, file), "utf8")).trim();
}

export async function forward(
  { signal, world }: Pick<Context, "signal" | "world">,
  receiver: URL,
  secret: string,
  message: { readonly id: string; readonly event: { readonly type: string } },
): Promise<ForwardOutcome> {
  const body = JSON.stringify(message.event);
  const sentAt = String(Math.floor(world.now() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${message.id}.${sentAt}.${body}`).digest("base64");
  const headers = {
    "content-type": "application/json",
    "user-agent": "coffer-cli/webhooks",
    "webhook-id": message.id,
    "webhook-timestamp": sentAt,
    "webhook-signature": `v1,${signature}`,
  };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  const facts = { event: message.event.type, messageId: message.id };
  try {
    const answer = await fetch(receiver, { method: "POST", headers, body, redirect: "manual", signal: limit });
    await answer.body?.cancel();
    return { ...facts, httpStatus: answer.status, error: answer.ok ? "" : `HTTP ${String(answer.status)}` };
  } catch {
    signal.throwIfAborted();
    return { ...facts, httpStatus: 0, error: "no answer" };
  }
}

export const forwardedLine = ({ event, httpStatus, error }: ForwardOutcome): string =>
  `${event.padEnd(22)} ${error === "" ? `HTTP ${String(httpStatus)}` : error}`;

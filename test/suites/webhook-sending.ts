/** How the suites of the webhook sender open and use one. */
import type { Clock } from "@coffer/server/ports/clock";
import type { WebhookOutcome, WebhookSender } from "@coffer/server/ports/webhook-sender";
import type { Socket } from "node:net";
import type { Receiver } from "./webhook-receivers.ts";

/** How a sender is opened. Times in milliseconds. */
export interface SenderSetup {
  readonly allowHttp?: boolean;
  readonly allowedNetworks?: readonly string[];
  readonly timeout?: number;
  readonly connectTimeout?: number;
  readonly clock?: Clock;
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  /** PEM. */
  readonly trust?: string;
}

export type OpenSender = (setup: SenderSetup) => WebhookSender;

export const BODY = JSON.stringify({ type: "webhook.test", text: "grüße 🗝" });
export const HEADERS = { "content-type": "application/json", "webhook-id": "msg_1", "user-agent": "suite/1" };
/** Long enough for loopback, short enough for a test. */
export const SOON = 150;

export function send(sender: WebhookSender, url: string, signal?: AbortSignal): Promise<WebhookOutcome> {
  return sender.send({ url, headers: HEADERS, body: BODY }, signal);
}

export function sendTo(
  sender: WebhookSender,
  { port }: Pick<Receiver, "port">,
  path = "/hook",
): Promise<WebhookOutcome> {
  return send(sender, `http://127.0.0.1:${port}${path}`);
}

/** Answers every request with these bytes and leaves the connection to the client. */
export function says(text: string): (socket: Socket) => void {
  return (socket) => void socket.once("data", () => socket.write(text, "latin1"));
}

/** TEST ONLY: deliveries as the service sends them, signed by the reference library of Standard Webhooks. */
import { randomUUID } from "node:crypto";
import { eventSchema, type EventKind } from "@coffer/contract";
import { Webhook } from "standardwebhooks";

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** A right payload. */
export function fileEvent(kind: EventKind & `file.${string}` = "file.uploaded", more: object = {}): object {
  const object = { type: "file", id: randomUUID(), vaultId: randomUUID(), folderId: null, versionId: randomUUID() };
  return eventSchema(kind).parse({
    type: kind,
    timestamp: new Date().toISOString(),
    data: {
      accountId: randomUUID(),
      sequence: 1,
      actor: { type: "system", id: null, chainAddress: null },
      object: { ...object, size: 1, encrypted: false, ...more },
    },
  });
}

export interface SendOptions {
  readonly secret?: string;
  readonly messageId?: string;
  /** Takes the place of the headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Sends the payload; a text goes as it is. */
export function deliver(url: string, payload: unknown, options: SendOptions = {}): Promise<Response> {
  const body = typeof payload === "string" ? payload : JSON.stringify(payload);
  const { messageId = `msg_${randomUUID().replaceAll("-", "")}`, secret = SECRET, signal } = options;
  const at = new Date();
  const signed = {
    "content-type": "application/json",
    "webhook-id": messageId,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(messageId, at, body),
  };
  const headers = options.headers ?? signed;
  return fetch(url, { method: "POST", body, headers, ...(signal === undefined ? {} : { signal }) });
}

/** TEST ONLY: who is sent webhooks, and answers with the status that its path ends with. */
import type { WebhookOutcome, WebhookSender } from "../ports/webhook-sender.ts";

export class TestReceiver implements WebhookSender {
  readonly sent: { readonly url: string; readonly id: string }[] = [];

  refusal(): null {
    return null;
  }

  send({ url, headers }: Parameters<WebhookSender["send"]>[0]): Promise<WebhookOutcome> {
    this.sent.push({ url, id: headers["webhook-id"] ?? "" });
    const httpStatus = Number(/\d+$/.exec(url)?.[0] ?? 200);
    const failure = httpStatus < 300 ? null : (`HTTP ${httpStatus}` as const);
    return Promise.resolve({ httpStatus, failure, retryAfter: null, responseBody: "", duration: 1 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

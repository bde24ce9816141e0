/** An account with one endpoint at a sink, and a short way to make events. */
import { signUp, type NewAccount } from "./account.ts";
import { fieldsAt, objectIn, textIn, type Fields } from "./answers.ts";
import { send } from "./http.ts";
import type { Receiver, WebhookSink } from "./webhook-sink.ts";
import { openWebhooks, type Webhooks } from "./webhooks.ts";

export interface Scene {
  readonly account: NewAccount;
  readonly webhooks: Webhooks;
  readonly receiver: Receiver;
  readonly id: string;
  readonly secret: string;
  /** Makes one `folder.created` event; answers the folder's id. */
  readonly act: (name: string) => Promise<string>;
}

/** An account of its own with one endpoint at the sink. */
export async function openScene(
  baseUrl: string,
  sink: WebhookSink,
  events: readonly string[] = ["folder.created"],
): Promise<Scene> {
  const account = await signUp(baseUrl);
  const webhooks = openWebhooks(baseUrl, account.apiKey);
  const receiver = sink.receiver();
  const { id, secret } = await webhooks.create(receiver.url, events);
  const act = async (name: string): Promise<string> => {
    const call = { method: "POST", key: account.apiKey, body: { name } };
    return textIn(objectIn(fieldsAt(await send(baseUrl, "/api/folders", call), 201), "folder"), "id");
  };
  return { account, webhooks, receiver, id, secret, act };
}

/** Of a delivery: it has succeeded or failed for good. */
export const hasEnded = (delivery: Fields): boolean => delivery["completedAt"] !== null;

/** Of a delivery: the outcome of an attempt is written. */
export const wasTried = (delivery: Fields): boolean =>
  Number(delivery["attempts"]) > 0 && delivery["status"] !== "delivering";

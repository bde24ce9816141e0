/** Webhooks by id, or the beginning of one. */
import type { Webhook } from "@coffer/sdk";
import { TaskFailure } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";

export const webhookRef = z
  .string()
  .check(z.regex(/^[0-9a-fA-F]{8}[0-9a-fA-F-]{0,28}$/, "must be the id of a webhook, or 8 or more digits of it"));

/** @throws TaskFailure `not_found`, `ambiguous`. */
export async function findWebhook(call: Call, text: string): Promise<Webhook> {
  const wanted = text.toLowerCase();
  const client = await call.client();
  if (wanted.length === 36) return await client.webhooks.get(wanted, { signal: call.signal });
  const found: Webhook[] = [];
  for await (const webhook of client.webhooks.list({}, { signal: call.signal }))
    if (webhook.id.startsWith(wanted)) found.push(webhook);
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  throw new TaskFailure(first === undefined ? "not_found" : "ambiguous", { nextStep: "webhook_list shows the ids." });
}

/** Longer words at the beginning of a path are no words. */
const LONGEST_WORD = 20;

/** An address without what may be a secret of its receiver: those stand in paths and queries. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "…";
  const { origin, pathname } = new URL(url);
  const word = pathname.split("/")[1] ?? "";
  const shown = `${origin}/${word.length > LONGEST_WORD ? "" : word}`;
  return shown === url ? shown : `${shown}…`;
}

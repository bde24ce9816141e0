/** The sink as a webhook endpoint of an account. */
import type { Client } from "@coffer/sdk";
import type { WebhookSink } from "./sink.ts";

/** By which those of earlier runs are found again. */
const DESCRIPTION = "The page of deliveries of npm start";
/** Milliseconds. */
const PATIENCE = 1_000;

export interface Registration extends AsyncDisposable {
  readonly webhookId: string;
}

/**
 * Has every event of the account delivered to the sink until the registration is disposed of. What a run that was killed has
 * left is removed: nobody listens there any more, or somebody else does.
 */
export async function registerSink(
  client: Client,
  sink: Pick<WebhookSink, "hookUrl" | "trust">,
): Promise<Registration> {
  for await (const { id, url, description } of client.webhooks.list()) {
    if (description === DESCRIPTION && !(await answers(url))) await client.webhooks.delete(id);
  }
  const wanted = { url: sink.hookUrl, events: ["*" as const], description: DESCRIPTION };
  const { webhook, secret } = await client.webhooks.create(wanted);
  sink.trust(secret);
  return {
    webhookId: webhook.id,
    // The next run finds what could not be removed now.
    [Symbol.asyncDispose]: () => client.webhooks.delete(webhook.id).catch(() => undefined),
  };
}

/** Whether another stack on the same data has its sink there. */
async function answers(hookUrl: string): Promise<boolean> {
  try {
    const answer = await fetch(new URL("/deliveries.json", hookUrl), { signal: AbortSignal.timeout(PATIENCE) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

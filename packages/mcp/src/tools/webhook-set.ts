import { api, EVENT_KINDS } from "@coffer/contract";
import { findWebhook, TaskFailure, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Outcome } from "../result.ts";
import { FLAG, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { moment } from "../fact-values.ts";
import { webhookRef } from "./webhook-ref.ts";

type Event = (typeof EVENT_KINDS)[number] | "*";

/** No enumeration in the schema: 27 names would cost each conversation tokens. */
const event = z
  .string()
  .check(z.refine((kind) => isEvent(kind), "must be a kind of event such as file.uploaded, or *"));

function isEvent(kind: string): kind is Event {
  return kind === "*" || EVENT_KINDS.some((each) => each === kind);
}

export const webhookSet = defineTool({
  name: "webhook_set",
  profile: "owner",
  title: "Create or change a webhook",
  description:
    "Creates an endpoint, or changes one: address, events, paused or not, new secret. Secrets go into a file for the user. A new address has to be agreed to by the user first.",
  endpoints: [api.webhooks.create, api.webhooks.update],
  hints: { openWorldHint: true },
  input: {
    webhookId: z.optional(webhookRef),
    url: z.optional(z.string().check(z.minLength(1), z.maxLength(2048))),
    events: z.optional(z.array(event).check(z.minLength(1))),
    active: z.optional(z.boolean()),
    rotateSecret: z._default(z.boolean(), false),
    confirm: z.optional(z.string().check(z.maxLength(200))),
  },
  describe: {
    webhookId: "id (8 digits do); default: a new one",
    url: "https address of the receiver; default: unchanged",
    events: "like file.uploaded, or *; default: as it is, new: *",
    active: "false pauses; default: unchanged",
    rotateSecret: "make a new secret",
    confirm: "token the user agreed to; default: none",
  },
  output: { webhookId: TEXT, file: TEXT, active: FLAG, previousSecretEnds: TEXT, nextStep: TEXT },
  run: async ({ webhookId, confirm, ...vaultArgs }, call) => {
    const before = webhookId === undefined ? null : await findWebhook(call, webhookId);
    const args = { ...vaultArgs, url: vaultArgs.url === before?.url ? undefined : vaultArgs.url };
    if (before === null && args.url === undefined)
      throw new TaskFailure("invalid_arguments", { message: "A new webhook needs a url" });
    if (before === null || args.rotateSecret) call.requireHandOut();
    // An address is where the account's events go from now on.
    if (args.url !== undefined) {
      const state = before?.updatedAt ?? "new";
      await call.confirm({
        preview: `Send the account's events (${(args.events ?? ["*"]).join(", ")}) to ${hostOf(args.url)}`,
        state,
        stateNow: async () => (before === null ? state : (await findWebhook(call, before.id)).updatedAt),
        token: confirm,
        isFinal: true,
      });
    }
    return before === null ? await create(call, args) : await change(call, before.id, args);
  },
});

type WebhookArguments = {
  readonly url?: string | undefined;
  readonly events?: string[] | undefined;
  readonly active?: boolean | undefined;
  readonly rotateSecret: boolean;
};

/** The whole address may hold a token: a person agrees to its host. */
function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    throw new TaskFailure("invalid_arguments", { message: "url must be an absolute https address" });
  }
}

async function create(call: Call, { url = "", events, active }: WebhookArguments): Promise<Outcome> {
  const client = await call.client();
  const { webhook, secret } = await client.webhooks.create(
    { url, events: events?.filter(isEvent) ?? ["*"] },
    { signal: call.signal },
  );
  const file = await call.handOut(`webhook-${webhook.id}.txt`, secret);
  if (file === null) {
    await client.webhooks.delete(webhook.id);
    throw new TaskFailure("local_io", {
      message: "The secret could not be written into a file; the webhook was removed",
    });
  }
  if (active === false) await client.webhooks.update(webhook.id, { active }, { signal: call.signal });
  return {
    summary: "The webhook is ready.",
    facts: {
      webhookId: webhook.id,
      active: active ?? webhook.active,
      file: untrusted(file),
      nextStep: "The receiver checks signatures with the secret in the file. webhook_send tests the endpoint.",
    },
  };
}

async function change(
  call: Call,
  webhookId: string,
  { rotateSecret, events, ...fields }: WebhookArguments,
): Promise<Outcome> {
  const changes = { ...fields, events: events?.filter(isEvent) };
  const client = await call.client();
  const isChanged = Object.values(changes).some((each) => each !== undefined);
  const { active } = isChanged
    ? await client.webhooks.update(webhookId, changes, { signal: call.signal })
    : await client.webhooks.get(webhookId, { signal: call.signal });
  if (!rotateSecret) return { summary: "The webhook is changed.", facts: { webhookId, active } };
  const { secret, previousSecretExpiresAt } = await client.webhooks.rotateSecret(webhookId, { signal: call.signal });
  const file = await call.handOut(`webhook-${webhookId}-${String(Date.parse(previousSecretExpiresAt))}.txt`, secret);
  if (file === null)
    throw new TaskFailure("local_io", { message: "The new secret could not be written; rotate again" });
  return {
    summary: "The webhook has a new secret; the old one signs beside it for a day.",
    facts: { webhookId, active, file: untrusted(file), previousSecretEnds: moment(previousSecretExpiresAt) },
  };
}

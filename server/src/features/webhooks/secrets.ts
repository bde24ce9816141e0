/** Signing secrets at rest and in use: encrypted under the master key, at most two at once (decisions §1, §6). */
import type { WebhookRow } from "../../ports/tables.ts";
import type { AtRest } from "../../secrets/at-rest.ts";

const PURPOSE = "webhook-secret";

export function protectSecret(atRest: AtRest, webhookId: string, secret: string): string {
  return atRest.protect(secret, PURPOSE, webhookId);
}

/** The secrets that sign now, newest first: the previous one too until its end. */
export function liveSecrets(
  atRest: AtRest,
  row: Pick<WebhookRow, "id" | "secret" | "previous_secret" | "previous_secret_ends_at">,
  now: number,
): readonly string[] {
  const { previous_secret: previous, previous_secret_ends_at: endsAt } = row;
  const kept = previous !== null && endsAt !== null && now < endsAt ? [row.secret, previous] : [row.secret];
  return kept.map((secret) => atRest.reveal(secret, PURPOSE, row.id));
}

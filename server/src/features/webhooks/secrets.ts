/** Signing secrets at rest and in use: encrypted under the master key, at most two at once (decisions §1, §6). */
import type { WebhookRow } from "../../ports/tables.ts";
import type { AtRest } from "../../secrets/at-rest.ts";

const PURPOSE = "webhook-secret";

export function protectSecret(atRest: AtRest, webhookId: string, secret: string): string {
  return atRest.protect(secret, PURPOSE, webhookId);
}

/**
 * The secrets that sign now, newest first: the previous one too until its end. Throws when the newest cannot be read; a
 * previous one that cannot is left out, so that rotating mends an endpoint whose secret was lost.
 */
export function liveSecrets(
  atRest: AtRest,
  row: Pick<WebhookRow, "id" | "secret" | "previous_secret" | "previous_secret_ends_at">,
  now: number,
): readonly string[] {
  const { previous_secret: previous, previous_secret_ends_at: endsAt } = row;
  const newest = atRest.reveal(row.secret, PURPOSE, row.id);
  if (previous === null || endsAt === null || now >= endsAt) return [newest];
  try {
    return [newest, atRest.reveal(previous, PURPOSE, row.id)];
  } catch {
    return [newest];
  }
}

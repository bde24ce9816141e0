/** Webhooks by id, or the beginning of one. */
import * as z from "zod/mini";

export const webhookRef = z
  .string()
  .check(z.regex(/^[0-9a-fA-F]{8}[0-9a-fA-F-]{0,28}$/, "must be the id of a webhook, or 8 or more digits of it"));

/** Longer words at the beginning of a path are no words. */
const LONGEST_WORD = 20;

/** An address without its path and query, where receivers put secrets. The first word of the path stays. */
export function visibleUrl(url: string): string {
  if (!URL.canParse(url)) return "…";
  const { origin, pathname } = new URL(url);
  const word = pathname.split("/")[1] ?? "";
  const visible = `${origin}/${word.length > LONGEST_WORD ? "" : word}`;
  return visible === url ? visible : `${visible}…`;
}

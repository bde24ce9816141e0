/** What holds for uploads' claims on storage, without any I/O. */
import type { Settings } from "../../config.ts";

/** A hold lasts this much longer than the longest silence of a sender. Milliseconds. */
export const AFTER_SILENCE_MS = 60_000;

/** How long what an upload in one request holds lasts without another row. Milliseconds. */
export function holdLifetime({ timing }: Pick<Settings, "timing">): number {
  return timing.idleBody + AFTER_SILENCE_MS;
}

/**
 * How long the row of a finished upload is kept. So a late client learns why (410) and does not take it for a wrong
 * address (404). Milliseconds.
 */
export const KEPT_AFTER_EXPIRY_MS = 60 * 60_000;

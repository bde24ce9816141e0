/** What holds for uploads' claims on storage, without any I/O. */

/**
 * How long the row of a finished upload is kept. So a late client learns why (410) and does not take it for a wrong
 * address (404). Milliseconds.
 */
export const KEPT_AFTER_EXPIRY_MS = 60 * 60_000;

/**
 * How the texts of API keys and invite codes begin, and the patterns by which a scanner finds them. key-text.ts has
 * the rest of their form.
 */

export const KEY_PREFIX = "cof";
export const LEGACY_KEY_PREFIX = "coffer";
export const INVITE_PREFIX = "cofi";

/** For secret scanners: matches every current key. */
export const KEY_SCANNING_REGEX = /\bcof_[0-9A-Za-z]{49}\b/;

/** For secret scanners: matches every invite code. */
export const INVITE_SCANNING_REGEX = /\bcofi_[0-9A-Za-z]{49}\b/;

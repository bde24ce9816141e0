/**
 * What changing an allowlist does and does not do, in words. The results of the calls carry them, and docs/threat-model.md says the same,
 * word for word (test/threats/removed-member.test.ts, test/shared-vaults/handing-on.test.ts).
 */

export const ADDED =
  "The address can read everything in the vault, also what was written before it came, and can write, rename and trash.";

/** Of an address for which the vault names no key. */
export const ADDED_TO_READ =
  "The address can read everything in the vault, also what was written before it came, and can trash. It has no signing key in the " +
  "vault: it writes and renames nothing until it calls vaults.setSigningKey.";

/** Of an address whose access ends by itself; the time is in `endsAt`. */
export const ENDS =
  "Its access ends by itself at that time, without a transaction: what is written from then on is closed to the address, and the service " +
  "stops serving it within ten seconds. What was written before stays open to whoever kept the vault keys of that time, wherever the " +
  "stored bytes are obtained, until vaults.rotate has finished and the old bytes are gone. Only before its end can the end be put off.";

export const ENDLESS = "The access of the address has no end: it stays a member until it is removed.";

export const REMOVED =
  "What is written from now on is closed to the address, and the service stops serving it within ten seconds. What was written before " +
  "stays open to whoever kept the vault keys of that time, wherever the stored bytes are obtained, until vaults.rotate has finished " +
  "and the old bytes are gone.";

/** For who leaves: the same, and who lets it in again. */
export const LEFT =
  "What is written from now on is closed to this address, and the service stops serving it within ten seconds. What was written before " +
  "stays open to whoever kept the vault keys of that time, wherever the stored bytes are obtained, until vaults.rotate has finished " +
  "and the old bytes are gone. Only the owner can add the address again.";

export const ACCEPTED =
  "The vault is this address's, and counts for this account: the new owner alone adds and removes members, and those there are stay. What is " +
  "written from now on is closed to the owner before, and the service stops serving it there. What was written before stays open to whoever " +
  "kept the vault keys of that time, wherever the stored bytes are obtained, until vaults.rotate has finished and the old bytes are gone. " +
  "Members whose clients knew the owner before call vaults.trustOwner to go on.";

export const REVOKED = `The agent's API key ends at once. ${REMOVED}`;

export const ROTATED =
  "Everything in the vault is stored under new keys, and nothing that was signed before is accepted any more. Copies that were taken of " +
  "the old bytes stay readable to whoever kept their keys; the service deletes what was replaced after an hour.";

export const NOT_ROTATED =
  "Not everything is stored under new keys: the floor stays where it was, and what was signed before is still accepted.";

export const RESEALED =
  "Every vault key that is not in `failed` is sealed for the key servers that are configured first. Nothing is taken back by it: copies " +
  "of what was sealed before stay open to the key servers of before, for the members whom the chain names to them.";

/**
 * What changing an allowlist does and does not do, in words. Results of the calls carry these texts.
 * docs/threat-model.md has them word for word (test/security/threats/removed-member.test.ts,
 * test/shared-vaults/handing-on.test.ts).
 */

export const ADDED =
  "The address can read everything in the vault, including what was written before it came. It can write, rename and trash.";

/** For an address without a key in the vault. */
export const ADDED_TO_READ =
  "The address can read everything in the vault, including what was written before it came. It can trash. The vault has no signing key for " +
  "it, so it cannot write or rename until it calls vaults.setSigningKey.";

/** About files written before somebody lost access. */
const KEPT =
  "Anyone who kept the vault keys can still open what was written before, wherever they get the stored bytes. To end that, run vaults.rotate. " +
  "The service keeps what it replaces as versions, for members alone, until their days are over.";

/** For an address whose access ends by itself; the time is in `endsAt`. */
export const ENDS =
  "Its access ends by itself at that time, without a transaction. From then on the address cannot open what is written, and the service " +
  `stops serving it within ten seconds. ${KEPT} You can put the end off only before it has come.`;

export const ENDLESS = "The access of the address has no end. It stays a member until you remove it.";

export const REMOVED =
  "The address cannot open what is written from now on, and the service stops serving it within ten seconds. " + KEPT;

/** For a member who leaves: the same, and who can add it again. */
export const LEFT = `${REMOVED} Only the owner can add the address again.`;

export const ACCEPTED =
  "The vault now belongs to this address and counts for this account. Its members stay, and only the new owner adds and removes them. The " +
  "owner before cannot open what is written from now on, and the service stops serving the vault there. " +
  `${KEPT} Members whose clients knew the owner before call vaults.trustOwner to go on.`;

export const REVOKED = `The agent's API key ends at once. ${REMOVED}`;

export const ROTATED =
  "Everything in the vault is stored under new keys, and clients refuse what was signed before. Copies of the old bytes stay readable to " +
  "anyone who kept their keys. The service keeps what was replaced as versions, for members alone, until their days are over or the " +
  "owner deletes them. The bytes leave its disk 24 hours later.";

export const NOT_ROTATED =
  "Not everything is stored under new keys yet. The floor has not moved, so what was signed before still counts.";

export const RESEALED =
  "Every vault key that is not in `failed` is now sealed for the key servers that are configured first. This takes nothing back. The key " +
  "servers of before still open copies of the old sealed keys, for the members whom the chain names.";

export const NOT_RESEALED =
  "The change of key servers is not complete: the vault keys in `failed` open at the key servers of before, or nowhere. Keep those in the " +
  "network configuration until a later call, or another member's, has sealed every key, or rotate the vault. Every other key is sealed " +
  "for the key servers that are configured first. This takes nothing back.";

/** The readers of a vault by this client's pin and the chain. The service's list of members does not count. */
import type { CallOptions, Connection } from "../../options.ts";
import { hexOf } from "../addresses.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { vaultSession } from "../vault-session.ts";

/** The readers of what is written into a vault now. */
export interface VaultReaders {
  /** Chain addresses that open a shared vault, the owner first. None of a public vault, which the keys of its account read. */
  readonly chainAddresses: readonly string[];
  /** The service reads it: all of a public vault, and the names of one with plain names. */
  readonly service: boolean;
}

/** @throws VaultError when the vault cannot be opened, or is another than this client met. */
export async function vaultReaders(
  connection: Connection,
  vaultId: string,
  options?: CallOptions,
): Promise<VaultReaders> {
  const vault = await vaultSession(connection).find(vaultId, options);
  if (vault === null) return { chainAddresses: [], service: true };
  const { members, owner, plainNames, time } = await inVaultTerms(() => vault.view());
  const active = members.filter(({ endsAt, until }) => until === null && endsAt > time);
  return { chainAddresses: [owner, ...active].map(({ address }) => hexOf(address)), service: plainNames };
}

/** The readers of a vault by this client's pin and the chain. The service's list of members does not count. */
import type { VaultView } from "@coffer/crypto";
import type { CallOptions, Connection } from "../../connection/options.ts";
import { hexOf } from "../addresses.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { vaultRegistry } from "../client-vaults.ts";
import { renderEnd } from "./membership-end.ts";

/** The readers of what is written into a vault now. */
export interface VaultReaders {
  /** Chain addresses that open a shared vault, the owner first. None of a public vault, which the keys of its account read. */
  readonly chainAddresses: readonly string[];
  /** The service reads it: all of a public vault, and the names of one with plain names. */
  readonly service: boolean;
  /** The generation of a shared vault: taking a right away raises it. null: a public vault has none. */
  readonly generation: number | null;
  /** Those whose access to a shared vault is over, as far as the chain still names them. */
  readonly former: readonly FormerReader[];
}

/** An address whose access was taken away, or has ended by itself. It may be a reader again by now. */
export interface FormerReader {
  /** Chain address: `0x` and 64 lower-case hex digits. */
  readonly chainAddress: string;
  /** The last generation in which it was a reader; null: the present one, since its access ended by itself. */
  readonly until: number | null;
  /** When its access would have ended by itself, or has: RFC 3339 in UTC; null: it had no end. */
  readonly endsAt: string | null;
}

/** @throws VaultError when the vault cannot be opened, or is another than this client met. */
export async function vaultReaders(
  connection: Connection,
  vaultId: string,
  options?: CallOptions,
): Promise<VaultReaders> {
  const vault = await vaultRegistry(connection).find(vaultId, options);
  if (vault === null) return { chainAddresses: [], service: true, generation: null, former: [] };
  const view = await inVaultTerms(() => vault.view());
  const { members, owner, plainNames, time, generation } = view;
  const active = members.filter(({ endsAt, until }) => until === null && endsAt > time);
  return {
    chainAddresses: [owner, ...active].map(({ address }) => hexOf(address)),
    service: plainNames,
    generation: Number(generation),
    former: formerOf(view),
  };
}

function formerOf({ members, former, time }: VaultView): FormerReader[] {
  const ended = members.filter(({ endsAt, until }) => until !== null || endsAt <= time);
  return [...ended, ...former].map(({ address, until, endsAt }) => ({
    chainAddress: hexOf(address),
    until: until === null ? null : Number(until),
    endsAt: renderEnd(endsAt),
  }));
}

/** A member as its two layers show it: the service's record, and the allowlist on the chain. */
import type { VaultMember } from "@coffer/contract";
import type { ChainListedMember, ChainVault } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import type { VaultMemberRow } from "../../ports/tables.ts";
import { toTimestamp } from "../timestamps.ts";
import { findNamed, hasEnded, type SeenVault } from "../reach/access.ts";

export interface MemberView {
  readonly vault: SeenVault;
  /** The address that the vault's account has linked: it sees the vault without a record. */
  readonly accountAddress: string | null;
  /** null: the chain does not answer. */
  readonly chain: ChainVault | null;
  readonly clock: Clock;
}

/** The owner, then who is recorded in the order of time, then who is only on the allowlist, in its order. */
export function mergeMembers(view: MemberView, rows: readonly VaultMemberRow[]): VaultMember[] {
  const recorded = new Map(rows.map((row) => [row.chain_address, row]));
  const owner = ownerOf(view);
  const named = view.chain?.members.map(({ address }) => address) ?? [];
  const addresses = new Set([...(owner === null ? [] : [owner]), ...recorded.keys(), ...named]);
  return [...addresses].map((chainAddress) => toMember(view, chainAddress, recorded.get(chainAddress) ?? null));
}

/** `row` null: the service has no live record of the address. */
export function toMember(view: MemberView, chainAddress: string, row: VaultMemberRow | null): VaultMember {
  const { chain, vault, accountAddress } = view;
  const named = chain === null ? null : findNamed(chain, chainAddress);
  const isShown = row !== null || chainAddress === accountAddress;
  const endsAt = named === null ? (row?.ends_at ?? null) : named.endsAt;
  return {
    chainAddress,
    role: chainAddress === ownerOf(view) ? "owner" : "member",
    // Labels are the owner's notes.
    label: vault.standing === "owner" ? (row?.label ?? "") : "",
    layers: {
      service: isShown ? (isOver(view, endsAt) ? "ended" : "active") : "none",
      chain: chain === null ? "unknown" : chainStateOf(view, chain, named),
    },
    since: named?.since ?? null,
    endsAt: endsAt === null ? null : toTimestamp(endsAt),
    addedAt: row === null ? (isShown ? toTimestamp(vault.created_at) : null) : toTimestamp(row.added_at),
  };
}

function isOver({ clock }: MemberView, endsAt: number | null): boolean {
  return endsAt !== null && endsAt <= clock.now();
}

function chainStateOf(
  view: MemberView,
  chain: ChainVault,
  named: ChainListedMember | null,
): "active" | "ended" | "none" {
  if (named === null) return "none";
  return hasEnded(view, chain, named) ? "ended" : "active";
}

/** While the chain does not answer: who it was when it was last read. */
function ownerOf({ chain, vault }: MemberView): string | null {
  return chain?.owner.address ?? vault.owner_address;
}

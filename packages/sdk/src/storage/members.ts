/** Members of shared vaults. The code of shared vaults is loaded with the first of these calls. */
import type { VaultMember } from "@coffer/contract";
import { paged, type PagePromise } from "../http/pages.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import type { Until } from "../shared-vaults/members/membership-end.ts";
import type {
  AddedMember,
  AddMemberOptions,
  AgentOfInvite,
  EndedMember,
  RemovedMember,
} from "../shared-vaults/members/members.ts";

export interface MemberResource {
  /** Lists members as the service and the chain see them, the owner first, all on one page. */
  list(vaultId: string, options?: CallOptions): PagePromise<"members", VaultMember>;
  /**
   * Adds an address, on the chain and then at the service: everything ever written in the vault opens to it. Safe to
   * repeat. `who` is the address that the agent gave you on a channel other than the service. Or it is `{ invite }`
   * with the text of the invite that the agent redeemed. The invite's secret then proves address and signing key, so
   * the service cannot put in its own. With `until`, or an invite with `accessUntil`, the access ends by itself at
   * that time.
   * @throws VaultError `address_invalid`, `end_invalid` or `invite_unproven` before anything is signed, `not_owner`,
   * `no_gas`, …
   */
  add(vaultId: string, who: string | AgentOfInvite, options?: AddMemberOptions): Promise<AddedMember>;
  /**
   * Sets when a member's access ends by itself: a whole quarter of an hour, as a date or in RFC 3339; null: never. If
   * the access has ended already, add the member again. Safe to repeat.
   * @throws VaultError `end_invalid` before anything is signed, with the two nearest ends; `membership_ended`,
   * `not_a_member`, `not_owner`, …
   */
  setUntil(vaultId: string, chainAddress: string, until: Until, options?: CallOptions): Promise<EndedMember>;
  /**
   * Removes an address, on the chain and then at the service: it cannot open what is written afterwards. It can still
   * open what it could read before, wherever it gets the bytes, until the vault has been rotated. Safe to repeat.
   */
  remove(vaultId: string, chainAddress: string, options?: CallOptions): Promise<RemovedMember>;
}

export function memberResource(connection: Connection): MemberResource {
  const shared = async () => (await sharedCode(connection)).vaultCalls(connection);
  return {
    list: (...args) =>
      paged("members", {}, async () => ({ members: await (await shared()).list(...args), nextCursor: null })),
    add: async (...args) => (await shared()).add(...args),
    setUntil: async (...args) => (await shared()).setUntil(...args),
    remove: async (...args) => (await shared()).remove(...args),
  };
}

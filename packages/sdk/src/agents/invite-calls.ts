/** The calls behind {@link InviteResource} that sign nothing. */
import { invitesGroup } from "@coffer/contract";
import type { Calling } from "../http/call.ts";
import type { Query } from "../connection/call-fields.ts";
import type { CallOptions } from "../connection/options.ts";

type Invites = typeof invitesGroup;

export function inviteCalls(call: Calling) {
  const { list, revoke } = invitesGroup;
  return {
    list: (query: Query<Invites["list"]>, options?: CallOptions) => call(list, { query }, options),
    revoke: (inviteId: string, options?: CallOptions) => call(revoke, { params: { inviteId } }, options),
  };
}

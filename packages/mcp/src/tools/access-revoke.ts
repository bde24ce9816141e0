import { api } from "@coffer/contract";
import { inToolWords, type AccessHolder, findHolder, parseMoment, revokeHolder, rewindHolder } from "@coffer/tasks";
import * as z from "zod/mini";
import { COUNT, OBJECT, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { LOOKS_BACK } from "./times.ts";

export const accessRevoke = defineTool({
  name: "access_revoke",
  profile: "owner",
  title: "End access",
  description:
    "Removes a member, key or invite: a key with all memberships of its address, an address in all shared vaults. With rewindSince it also undoes what that actor did since then. The user has to agree first. Safe to repeat.",
  endpoints: [api.apiKeys.revoke, api.invites.revoke, api.members.remove],
  input: {
    who: z.string().check(z.minLength(8), z.maxLength(66)),
    rewindSince: z.optional(z.string().check(z.maxLength(64))),
    confirm: z.optional(z.string().check(z.maxLength(200))),
  },
  describe: {
    who: "id of a key or invite (8 digits do), or chain address",
    rewindSince: `${LOOKS_BACK}; default: undo nothing`,
    confirm: "token the user agreed to; default: none",
  },
  output: { ended: TEXT, memberships: COUNT, effect: TEXT, undone: OBJECT, left: COUNT },
  run: async ({ who, rewindSince, confirm }, call) => {
    const holder = await findHolder(call, who);
    const since = rewindSince === undefined ? null : parseMoment("rewindSince", rewindSince, "UTC");
    const plan = since === null ? null : await rewindHolder(call, holder, { since, dryRun: true });
    const state = stateOf(holder);
    await call.confirm({
      preview: `End the access of ${described(holder)}${plan === null ? "" : `, and undo: ${countText(plan.counts)}; ${String(plan.left.length)} left alone`}`,
      state,
      stateNow: async () => stateOf(await findHolder(call, idOf(holder))),
      token: confirm,
      isFinal: true,
    });
    const done = await revokeHolder(call, holder);
    const undone = since === null ? null : await rewindHolder(call, holder, { since, dryRun: false });
    return {
      summary: "The access has ended.",
      facts: {
        ended: done.what,
        memberships: done.memberships,
        effect: done.effect === null ? null : inToolWords(done.effect),
        ...(undone === null ? {} : { undone: { ...undone.counts }, left: undone.left.length }),
      },
    };
  },
});

function countText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([act, count]) => `${act} ${String(count)}`)
    .join(", ");
}

function idOf(holder: AccessHolder): string {
  if (holder.kind === "address") return holder.chainAddress;
  return holder.kind === "key" ? holder.key.id : holder.invite.id;
}

/** What the preview says of a holder. */
function stateOf(holder: AccessHolder): string {
  return holder.kind === "address" ? [holder.chainAddress, ...holder.vaultIds.toSorted()].join(" ") : idOf(holder);
}

/** Names were chosen by others: ids alone are shown in a preview. */
function described(holder: AccessHolder): string {
  if (holder.kind === "address")
    return `the address ${holder.chainAddress} in ${String(holder.vaultIds.length)} vaults`;
  const { id } = holder.kind === "key" ? holder.key : holder.invite;
  return `${holder.kind} ${id}${holder.kind === "key" && holder.key.chainAddress !== null ? ` and its address ${holder.key.chainAddress}` : ""}`;
}

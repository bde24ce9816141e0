/** Invites: an owner makes a code, an agent makes a key of it (specification §2.5, §5.8; decisions §4). */
import { type api, type CreatedInvite, renderInviteCode } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { type GroupHandlers, type Principal, Reply } from "../../handler.ts";
import type { InviteRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actAs, actOnFullDisk } from "../account/act.ts";
import { notFound } from "../acting.ts";
import { toTimestamp } from "../timestamps.ts";
import { requireVaults } from "../api-keys/creation.ts";
import { isWithinVaults } from "../api-keys/rules.ts";
import { makeBudgets } from "../budgets/making.ts";
import { renderBudgets } from "../budgets/rules.ts";
import { readBudgetUse, type UseDeps } from "../budgets/use.ts";
import { parsePage, toPage } from "../paging.ts";
import { redeemInvite } from "./redeeming.ts";
import { chooseTerms, hashCode, type InviteTerms, parseTerms, shownTerms, toInvite } from "./rules.ts";
import { countLiveInvites, findInvite, insertInvite, listInvites, revokeInvite } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings" | "signatures"> & UseDeps;

export const invitesHandlers = (deps: Needs): GroupHandlers<typeof api.invites> => ({
  async create({ body }, context) {
    const { principal } = context;
    return actAs(deps, principal, async (act) => {
      const now = deps.clock.now();
      const budgets = await makeBudgets(act, deps, body.budgets, principal.budgets);
      const terms = chooseTerms(body, principal, { now, budgets });
      const limit = { vaultIds: terms.vaultIds, asked: body.vaultIds !== undefined };
      const vaultIds = await requireVaults(act, principal.accountId, limit);
      return context.record(
        act,
        await addInvite(deps, act, principal, { name: body.name, now }, { ...terms, vaultIds }),
      );
    });
  },

  async list({ query }, { principal }) {
    const request = parsePage("invites", query);
    const now = deps.clock.now();
    const { rows, nextCursor } = toPage(
      await listInvites(deps.database, { accountId: principal.accountId }, request),
      request,
    );
    const seen = rows.filter((row) => reachesNoFurther(row, principal));
    const uses = await readBudgetUse(
      deps.database,
      deps,
      seen.map((row) => parseTerms(row).budgets),
    );
    return { invites: seen.map((row, index) => toInvite(row, uses[index] ?? null, now)), nextCursor };
  },

  /**
   * A used invite is a key by now: revoking the invite changes nothing, revoking the key does. An expired one is marked,
   * so that no step of the clock back brings it to life.
   */
  async revoke({ params }, { principal }) {
    const { accountId } = principal;
    // A code that leaks must be revocable on a full disk too.
    await actOnFullDisk(deps, principal, async (act) => {
      const row = await act.first(findInvite(act, { accountId, id: params.inviteId }));
      if (row === null || !reachesNoFurther(row, principal)) throw notFound("Invite");
      const now = deps.clock.now();
      const revoked = await act.first(revokeInvite(act, { accountId, id: row.id, now }));
      if (revoked !== null) await recordInvite(act, "invite.revoked", principal, row.id);
    });
  },

  redeem: ({ body }, context) => redeemInvite(deps, body, context),
});

/** A caller limited to vaults sees, and ends, no invite that reaches further: it gets `not_found`. */
function reachesNoFurther(row: InviteRow, principal: Principal): boolean {
  return isWithinVaults({ ...row, expires_at: row.key_expires_at }, principal);
}

async function addInvite(
  deps: Needs,
  act: AccountAct,
  principal: Principal,
  /** `now`: the time from which its end was computed. */
  { name, now }: { readonly name: string; readonly now: number },
  terms: InviteTerms,
): Promise<Reply<CreatedInvite>> {
  const { accountId } = principal;
  const maximum = deps.settings.limits.invites;
  const count = await act.first(countLiveInvites(act, { accountId, now }));
  if ((count?.live ?? 0) >= maximum) {
    throw new ServiceError("limit_reached", `An account holds at most ${maximum} live invites`);
  }
  const code = renderInviteCode(deps.random.bytes(32));
  const row = toRow({ id: deps.random.uuid(), accountId, name, hash: hashCode(code), now }, terms);
  await insertInvite(act, row);
  await recordInvite(act, "invite.created", principal, row.id);
  const body = {
    id: row.id,
    name,
    code,
    ...shownTerms(row),
    accessUntil: row.access_until === null ? null : toTimestamp(row.access_until),
    expiresAt: toTimestamp(row.expires_at),
    createdAt: toTimestamp(row.created_at),
  };
  return new Reply(body, { headers: { Location: `/api/auth/invites/${row.id}` } });
}

function toRow(
  made: { id: string; accountId: string; name: string; hash: string; now: number },
  { scopes, vaultIds, budgets, expiresAt, keyExpiresAt, accessUntil }: InviteTerms,
): InviteRow {
  return {
    id: made.id,
    account_id: made.accountId,
    name: made.name,
    hash: made.hash,
    scopes_json: scopes === null ? null : JSON.stringify(scopes),
    vault_ids_json: vaultIds === null ? null : JSON.stringify(vaultIds),
    budgets_json: renderBudgets(budgets),
    key_expires_at: keyExpiresAt,
    access_until: accessUntil,
    expires_at: expiresAt,
    used_at: null,
    revoked_at: null,
    key_id: null,
    chain_address: null,
    address_proof: null,
    signing_key: null,
    created_at: made.now,
  };
}

async function recordInvite(
  act: AccountAct,
  action: "invite.created" | "invite.revoked",
  actor: Principal,
  id: string,
): Promise<void> {
  await act.record({ action, actor, target: { kind: "invite", id }, object: { type: "invite", id } });
}

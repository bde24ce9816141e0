import {
  AGENT_SCOPES,
  INVITE_HOURS,
  renderInviteCode,
  renderRedeemText,
  type api,
  type Invite,
} from "@coffer/contract";
import { placeOf } from "../../chain/signer.ts";
import { digestOf, toHex } from "../../digest.ts";
import { Failure, type GroupHandlers, type Input } from "../handlers.ts";
import { MAX_INVITES, readAccount } from "./accounts.ts";
import { record } from "./audit.ts";
import { budgetUseOf, chooseBudgets } from "./budgets.ts";
import type { InviteRow } from "./identity-state.ts";
import { isWithin, lifeOf, mintKey, refuseForeignVaults, refuseTooMany, refuseWider } from "./keys.ts";
import { checkSignature, refuseLinkedElsewhere, requireHeld, requireRecent, type Proof } from "./proofs.ts";
import { notFound, pageOf, timestamp, type Caller, type State, type Visitor } from "./state.ts";

const HOUR_MS = 3_600_000;

export function inviteHandlers(state: State) {
  return { ...ownerHandlers(state), ...redeemHandlers(state) } satisfies GroupHandlers<typeof api.invites, never>;
}

function ownerHandlers(state: State) {
  return {
    create: ({ body }, caller) => {
      const { accountId } = caller;
      const live = ownInvites(state, caller).filter((row) => statusOf(state, row.value) === "created");
      if (live.length >= MAX_INVITES) throw new Failure("limit_reached");
      if (body.scopes?.some((scope) => !AGENT_SCOPES.includes(scope)) === true) throw new Failure("scope_owner_only");
      refuseForeignVaults(state, accountId, body.vaultIds);
      const { accessUntil = null } = body;
      const keyExpiresAt = accessUntil ?? lifeOf(caller);
      const budgets = chooseBudgets(body.budgets, caller.key.budgets ?? []);
      const limits = { scopes: body.scopes ?? null, vaultIds: body.vaultIds ?? null };
      refuseWider(caller, { ...limits, budgets, expiresAt: keyExpiresAt });
      const rights = { ...limits, budgets: budgets[0]?.limits ?? null };
      const code = renderInviteCode(crypto.getRandomValues(new Uint8Array(32)));
      const expiresAt = endOf(state, body);
      const createdAt = timestamp(state);
      const made = { id: crypto.randomUUID(), name: body.name, ...rights, accessUntil, expiresAt, createdAt };
      const unused = { status: "created", usedAt: null, revokedAt: null, keyId: null, chainAddress: null } as const;
      const value = { ...made, ...unused, addressProof: null, signingKey: null, budgetUse: null };
      state.invites.set(made.id, { accountId, sequence: state.next(), value, code, keyExpiresAt, budgets });
      record(state, caller, accountId, "invite.created", { type: "invite", id: made.id });
      return { ...made, code };
    },
    list: ({ query }, caller) => {
      const rows = ownInvites(state, caller).map((row) => {
        const shown = { status: statusOf(state, row.value), budgetUse: budgetUseOf(state, row.budgets) };
        return { ...row, value: { ...row.value, ...shown } };
      });
      const { items, nextCursor } = pageOf(rows, query);
      return { invites: items, nextCursor };
    },
    revoke: ({ params }, caller) => {
      const row = ownInvites(state, caller).find(({ value }) => value.id === params.inviteId);
      if (row === undefined) throw notFound("Invite");
      if (row.value.usedAt !== null || row.value.revokedAt !== null) return;
      row.value = { ...row.value, revokedAt: timestamp(state) };
      record(state, caller, row.accountId, "invite.revoked", { type: "invite", id: row.value.id });
    },
  } satisfies Partial<GroupHandlers<typeof api.invites, Caller>>;
}

function redeemHandlers(state: State) {
  return {
    redeem: async ({ body }, visitor) => {
      const proof = await proofOf(state, visitor, body);
      // From here on nothing waits: if two redeem at once, one is second.
      const row = [...state.invites.values()].find(({ code }) => code === body.code);
      if (row === undefined) throw notFound("Invite");
      const { accountId, value } = row;
      const { chainAddress } = body;
      if (statusOf(state, value) !== "created") throw new Failure("invite_ended");
      if (readAccount(state, accountId).chainAddress === chainAddress) throw new Failure("address_conflict");
      refuseLinkedElsewhere(state, accountId, chainAddress);
      if (body.signedAt !== undefined) requireRecent(state, body.signedAt);
      requireHeld(proof);
      refuseTooMany(state, accountId);
      const { name, scopes, vaultIds } = value;
      const given = { scopes, vaultIds, budgets: row.budgets, expiresAt: row.keyExpiresAt };
      const key = mintKey(state, accountId, { name, ...given, chainAddress });
      key.value = { ...key.value, accessLevel: "agent" };
      const used = {
        keyId: key.value.id,
        chainAddress,
        addressProof: body.addressProof ?? null,
        signingKey: body.signingKey ?? null,
      };
      row.value = { ...value, ...used, usedAt: timestamp(state) };
      recordRedeem(state, visitor, row, chainAddress);
      const { text, value: made } = key;
      const rights = { accountId, scopes, vaultIds, budgets: value.budgets, expiresAt: made.expiresAt };
      return { key: text, keyId: made.id, ...rights, chainAddress, accessLevel: "agent" };
    },
  } satisfies Partial<GroupHandlers<typeof api.invites, Visitor>>;
}

/** When the invite ends: with its access, at the latest. */
function endOf(state: State, { expiresInHours, accessUntil }: Input<typeof api.invites.create>["body"]): string {
  const asked = timestamp(state, (expiresInHours ?? INVITE_HOURS.standard) * HOUR_MS);
  if (accessUntil === undefined) return asked;
  if (accessUntil <= timestamp(state) || (expiresInHours !== undefined && accessUntil < asked))
    throw new Failure("validation_failed", "body.accessUntil: must be in the future, and not before the invite ends");
  return asked < accessUntil ? asked : accessUntil;
}

/** null: there is none. */
async function proofOf(
  state: State,
  { origin }: Visitor,
  { code, chainAddress, signature, signedAt }: Input<typeof api.invites.redeem>["body"],
): Promise<Proof | null> {
  if (signature === undefined || signedAt === undefined) return null;
  const codeHash = toHex(await digestOf(new TextEncoder().encode(code)));
  const text = renderRedeemText({ ...placeOf(origin), chainAddress, codeHash, signedAt });
  return checkSignature(state, chainAddress, text, signature);
}

function recordRedeem(state: State, visitor: Visitor, { accountId, value }: InviteRow, chainAddress: string): void {
  const actor = { type: "invite", id: value.id, accessLevel: null, chainAddress };
  record(state, visitor, accountId, "invite.redeemed", { type: "invite", id: value.id }, { actor });
  record(state, visitor, accountId, "api_key.created", { type: "api_key", id: value.keyId ?? "" }, { actor });
}

function ownInvites(state: State, { accountId, key }: Caller): InviteRow[] {
  return [...state.invites.values()].filter(
    (row) => row.accountId === accountId && isWithin(row.value.vaultIds, key.value.vaultIds),
  );
}

function statusOf(state: State, { usedAt, revokedAt, expiresAt }: Invite): "created" | "used" | "revoked" | "expired" {
  if (usedAt !== null) return "used";
  if (revokedAt !== null) return "revoked";
  return expiresAt > timestamp(state) ? "created" : "expired";
}

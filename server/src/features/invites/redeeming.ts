/** From code to key: for the first signer, once (specification §5.8; decisions §4). */
import { type api, type HandlerInput, type RedeemedInvite, renderRedeemText } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../service-error.ts";
import { Reply, type RequestContext } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { InviteRow } from "../../ports/tables.ts";
import { type AccountAct, actOn } from "../account/act.ts";
import { findAccountByAddress, lockAddress } from "../account/store.ts";
import { notFound } from "../acting.ts";
import { addKey } from "../api-keys/creation.ts";
import type { Rights } from "../api-keys/rules.ts";
import { findVaultIds } from "../api-keys/store.ts";
import { requireFresh, requireProof, requireServiceOrigin } from "../chain-proofs/rules.ts";
import { hashCode, parseTerms, requireCode, statusOf } from "./rules.ts";
import { endExpiredInvite, findInviteByHash, consumeInvite } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings" | "signatures">;
type Claim = HandlerInput<typeof api.invites.redeem, never>["body"];
type Context = Pick<RequestContext<null>, "serviceOrigin" | "origin">;

/**
 * Makes the key of an invite for the address that signed. It checks twice whether the invite is live. The first check
 * comes before the signature, so that a guess costs no verification. The second is the statement that uses it up,
 * which exactly one caller passes. A failure after that rolls it back: only a key uses an invite up.
 */
export async function redeemInvite(deps: Needs, claim: Claim, context: Context): Promise<Reply<RedeemedInvite>> {
  requireCode(claim.code);
  const hash = hashCode(claim.code);
  const invite = await deps.database.first(findInviteByHash(deps.database, { hash }));
  if (invite === null) throw notFound("Invite");
  await requireLive(deps, invite);
  const chainPublicKey = await requireHolder(deps, claim, hash, context.serviceOrigin);
  return actOn(deps, invite.account_id, async (act) => {
    await requireStranger(act, claim.chainAddress);
    return issueKey(deps, act, { ...claim, hash, chainPublicKey }, context);
  });
}

async function requireLive({ database, clock }: Needs, invite: InviteRow): Promise<void> {
  const now = clock.now();
  const status = statusOf(invite, now);
  if (status === "created") return;
  if (status === "expired" && invite.revoked_at === null) {
    await database.run(endExpiredInvite(database, { hash: invite.hash, now }));
  }
  throw new ServiceError("invite_ended");
}

/** The Ed25519 key that signed; null for other kinds of signers, and where development waives the signature. */
async function requireHolder(
  { clock, settings, signatures }: Needs,
  { chainAddress, signature, signedAt }: Claim,
  codeHash: string,
  serviceOrigin: string | null,
): Promise<string | null> {
  if (signature === undefined && settings.allowUnsignedRedeem) return null;
  if (signature === undefined || signedAt === undefined) {
    throw new ServiceError(
      "signature_invalid",
      "The chain address's signature of the redeem text, and signedAt, are needed",
    );
  }
  requireFresh(signedAt, clock.now());
  const origin = requireServiceOrigin(serviceOrigin);
  const text = renderRedeemText({ origin, network: settings.network, chainAddress, codeHash, signedAt });
  return requireProof({ signatures }, { chainAddress, text, signature });
}

/** With an address of the owner's the key would be an owner's; with another owner's, one address would be two identities. */
async function requireStranger(act: AccountAct, chainAddress: string): Promise<void> {
  await lockAddress(act, chainAddress);
  const linked = await act.first(findAccountByAddress(act, { chainAddress }));
  if (linked === null) return;
  const whose = linked.id === act.account.id ? "the owner of this invite" : "another account";
  throw new ServiceError("address_conflict", `The chain address belongs to ${whose}: an agent needs one of its own`);
}

async function issueKey(
  deps: Needs,
  act: AccountAct,
  claim: Claim & { readonly hash: string; readonly chainPublicKey: string | null },
  { origin }: Context,
): Promise<Reply<RedeemedInvite>> {
  const { hash, chainAddress, chainPublicKey, addressProof = null, signingKey = null } = claim;
  const now = deps.clock.now();
  const keyId = deps.random.uuid();
  const taken = { hash, keyId, chainAddress, addressProof, signingKey, now };
  const invite = await act.first(consumeInvite(act, taken));
  if (invite === null) throw new ServiceError("invite_ended");
  const { id: inviteId, account_id: accountId, name } = invite;
  const maker = { actor: { kind: "invite", inviteId, chainAddress }, origin } as const;
  const rights = await rightsOf(act, invite);
  const key = await addKey(deps, act, maker, {
    id: keyId,
    name,
    rights,
    chainAddress,
    chainPublicKey,
  });
  await act.record({
    ...maker,
    action: "invite.redeemed",
    target: { kind: "invite", id: inviteId },
    object: { type: "invite", id: inviteId, keyId, chainAddress },
  });
  const { scopes, vaultIds, expiresAt, budgets } = key.body;
  const made = { key: key.body.key, keyId, accountId, scopes, vaultIds, expiresAt, budgets };
  const body = { ...made, chainAddress, accessLevel: "agent" as const };
  return new Reply(body, { headers: key.headers });
}

/**
 * The invite's promise, less the vaults that are gone. If all its vaults are gone there is nothing to give: a key
 * without a list would reach every vault.
 */
async function rightsOf(transaction: Queries, invite: InviteRow): Promise<Rights> {
  const { scopes, vaultIds, budgets } = parseTerms(invite);
  const expiresAt = invite.key_expires_at;
  if (vaultIds === null) return { scopes, vaultIds, expiresAt, budgets };
  const left = new Set(await findVaultIds(transaction, invite.account_id, vaultIds));
  if (left.size === 0) throw new ServiceError("invite_ended", "The vaults of the invite have been deleted");
  return { scopes, vaultIds: vaultIds.filter((id) => left.has(id)), expiresAt, budgets };
}

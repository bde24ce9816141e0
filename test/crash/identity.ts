/** What clients do about credentials between kills: redeem invites, revoke what came of them, and rotate refresh tokens. */
import { randomBytes } from "node:crypto";
import { api, type CreatedInvite, type RedeemedInvite, type SessionTokens } from "@coffer/contract";
import { parseJson, receive } from "../conformance/judge.ts";
import { renderRequest } from "../conformance/wire.ts";
import type { Ledger } from "./ledger.ts";
import { attempt, persist, type ClientContext, type Person } from "./persist.ts";

/**
 * The answer to either request may be lost. An invite without its code is of no use to anybody; a code that was redeemed
 * without an answer has made its key all the same, and only one.
 */
export async function redeemInvite(context: ClientContext, name: string): Promise<void> {
  const { draw, ledger } = context;
  const keyed = { "idempotency-key": `"${name}"` };
  const invited = await persist(context, api.invites.create, { body: { name } }, keyed, "already_created");
  if (invited.status !== 201) return;
  const { code } = parseJson(invited.body) as CreatedInvite;
  const chainAddress = `0x${randomBytes(32).toString("hex")}`;
  const answer = await persist(context, api.invites.redeem, { body: { code, chainAddress } }, {}, "invite_ended");
  const redeemed = answer.status === 201 ? (parseJson(answer.body) as RedeemedInvite) : null;
  const entry = { chainAddress, key: redeemed?.key ?? null, revoked: false };
  ledger.redeemed.push(entry);
  if (redeemed === null || draw.chance(0.5)) return;
  await persist(context, api.apiKeys.revoke, { params: { keyId: redeemed.keyId } });
  entry.revoked = true;
}

/** An acknowledged token is good for one refresh, whatever was killed in between; anything else is a finding of `attempt`. */
export async function rotate(context: ClientContext, person: Person): Promise<void> {
  const { refreshToken, email, password } = person;
  // Whatever comes of it, the token is not offered again: it may have been used without an answer.
  person.refreshToken = null;
  const answer =
    refreshToken === null
      ? await persist(context, api.auth.login, { body: { email, password } })
      : await attempt(context, api.auth.refresh, { body: { refreshToken } });
  if (answer === null) return;
  person.refreshToken = (parseJson(answer.body) as SessionTokens).refreshToken;
  context.ledger.counts.rotated += 1;
}

export interface ListedKey {
  readonly name: string;
  readonly chainAddress: string | null;
  readonly revokedAt: string | null;
}

/** Each redeemed code has one key; the acknowledged ones live, except those whose revocation was acknowledged. */
export async function verifyRedeemed(baseUrl: string, keys: readonly ListedKey[], ledger: Ledger): Promise<void> {
  for (const { chainAddress, key, revoked } of ledger.redeemed) {
    const bound = keys.filter((one) => one.chainAddress === chainAddress);
    if (bound.length !== 1)
      ledger.findings.push(`${String(bound.length)} keys for one redeemed invite: ${chainAddress}`);
    if (key === null) continue;
    const { status } = await receive(await fetch(renderRequest(baseUrl, api.account.get, {}, { key })));
    const expected = revoked ? 401 : 200;
    if (status !== expected) {
      ledger.findings.push(`a ${revoked ? "revoked" : "live"} key of an invite answers ${String(status)}`);
    }
  }
}

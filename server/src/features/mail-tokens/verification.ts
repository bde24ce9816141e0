import type { Deps } from "../../deps.ts";
import type { RequestOrigin } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { findAccount } from "../account/store.ts";
import { recordChange } from "../changes/store.ts";
import { requireLiveToken } from "./live-token.ts";
import { hashMailToken } from "./rules.ts";
import { markVerified, useMailToken } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random">;

/**
 * Marks the address verified that the token was mailed to, if it is still the account's. A second mail's token is taken
 * as well, once, and changes nothing: who opens the older of two mails is not told of an error.
 * @throws ServiceError `token_invalid`.
 */
export async function verifyEmail(deps: Needs, token: string, origin: RequestOrigin): Promise<void> {
  const hash = hashMailToken(token);
  await requireLiveToken(deps, hash, "verify");
  await deps.database.transaction(async (transaction) => {
    const now = deps.clock.now();
    const used = await transaction.first(useMailToken(transaction, { hash, purpose: "verify", now }));
    if (used === null) throw new ServiceError("token_invalid");
    const id = used.account_id;
    const account = await transaction.first(findAccount(transaction, { id }));
    if (account?.email !== used.email) throw new ServiceError("token_invalid");
    if ((await transaction.run(markVerified(transaction, { id, email: used.email, now }))) === 0) return;
    await recordChange(transaction, {
      ...{ accountId: id, action: "account.email_verified", actor: null, origin },
      ...{ target: { kind: "account", id }, object: { type: "account", id }, occurredAt: now, id: deps.random.uuid() },
    });
  });
}

import type { Deps } from "../../deps.ts";
import type { RequestOrigin } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { actOn } from "../account/act.ts";
import { requireLiveToken } from "./live-token.ts";
import { hashMailToken } from "./rules.ts";
import { useMailToken } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random">;

/**
 * Marks the address of the token's mail as verified, if it is still the account's. A second mail's token counts as
 * well, once, and changes nothing: a person who opens the older of two mails sees no error.
 * @throws ServiceError `token_invalid`.
 */
export async function verifyEmail(deps: Needs, token: string, origin: RequestOrigin): Promise<void> {
  const hash = hashMailToken(token);
  const { account_id: id } = await requireLiveToken(deps, hash, "verify");
  await actOn(deps, id, async (act) => {
    const now = deps.clock.now();
    const used = await act.first(useMailToken(act, { hash, purpose: "verify", now }));
    if (used?.email !== act.account.email) throw new ServiceError("token_invalid");
    if (act.account.email_verified === 1) return;
    act.change({ email_verified: 1, updated_at: now });
    await act.record({
      action: "account.email_verified",
      actor: null,
      origin,
      target: { kind: "account", id },
      object: { type: "account", id },
    });
  });
}

import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { isKnownUser, openAccount } from "../account/opening.ts";
import { findAccountByEmail } from "../account/store.ts";
import { addKey } from "../api-keys/creation.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings">;

const WARNING =
  "Store this key now: it is shown once. Accounts made this way have no password, and are for development only.";

/** Outside development the route answers 404 before it comes here (http/guards.ts). */
export const developmentHandlers = (deps: Needs): GroupHandlers<typeof api.development> => ({
  async signup({ body }) {
    try {
      return await deps.database.transaction((transaction) => signUp(deps, transaction, body));
    } catch (error) {
      // Another process took the address between the look and the insert.
      if (isKnownUser(error)) throw new ServiceError("email_exists", undefined, { cause: error });
      throw error;
    }
  },
});

/** Account, default vault, key and their changes: all in one transaction, so that half an account never exists. */
async function signUp(
  deps: Needs,
  transaction: Queries,
  { email, name }: { email: string; name?: string | undefined },
) {
  if ((await transaction.first(findAccountByEmail(transaction, { email }))) !== null)
    throw new ServiceError("email_exists");
  const wanted = { email, emailVerified: false, name: name ?? null, plan: "pro" } as const;
  const rights = { scopes: null, vaultIds: null, expiresAt: null, budgets: [] };
  return openAccount(deps, transaction, wanted, async (act) => {
    const unbound = { name: "dev-signup", rights, chainAddress: null, chainPublicKey: null };
    const key = await addKey(deps, act, { actor: null }, unbound);
    return { id: act.account.id, email, apiKey: key.body.key, warning: WARNING };
  });
}

import type { SessionTokens, SignedIn } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { AccountRow } from "../../ports/tables.ts";
import { renderAccount } from "../account/handlers.ts";

/** The answer of every way to sign in: who it is, always as the owner, and the session's tokens. */
export function renderSignedIn(
  deps: Pick<Deps, "settings">,
  account: AccountRow,
  { accessToken, refreshToken, expiresIn, refreshExpiresIn }: SessionTokens,
): SignedIn {
  const user = renderAccount(account, { accessLevel: "owner" }, deps);
  return { user, accessToken, refreshToken, expiresIn, refreshExpiresIn };
}

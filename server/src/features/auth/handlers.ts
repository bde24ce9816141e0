import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers } from "../../handler.ts";
import type { Limits } from "../../limits/limits.ts";
import { hashAccessCode, maySignUp } from "../access-codes/store.ts";
import { mailTokenHandlers } from "./mailed.ts";
import { logOut } from "../sessions/ending.ts";
import { refreshSession } from "../sessions/refreshing.ts";
import { logIn } from "./log-in.ts";
import { changePassword } from "./password-change.ts";
import { signUp } from "./sign-up.ts";

type Needs = Deps & { readonly limits: Limits };

export const authHandlers = (deps: Needs): GroupHandlers<typeof api.auth> => ({
  signup: ({ body }, { origin }) => signUp(deps, body, origin),
  login: ({ body }, { origin }) => logIn(deps, body, origin),
  refresh: ({ body }, { origin }) => refreshSession(deps, body.refreshToken, origin),
  logout: ({ body }, { origin }) => logOut(deps, body.refreshToken, origin),
  changePassword: ({ body }, { principal }) => changePassword(deps, body, principal),
  async checkAccessCode({ body }) {
    return { valid: await maySignUp(deps, deps.database, hashAccessCode(body.code)) };
  },
  ...mailTokenHandlers(deps),
});

import { type api, email } from "@coffer/contract";
import * as z from "zod/mini";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers } from "../../handler.ts";
import type { Limits } from "../../limits/limits.ts";
import { requestMail } from "../mail-tokens/requests.ts";
import { resetPassword } from "./reset.ts";
import type { MailPurpose } from "../mail-tokens/rules.ts";
import { verifyEmail } from "../mail-tokens/verification.ts";

type Needs = Pick<Deps, "database" | "clock" | "random"> & { readonly limits: Limits };

type MailTokenHandlers = Pick<
  GroupHandlers<typeof api.auth>,
  "forgotPassword" | "resetPassword" | "verifyEmail" | "resendVerification"
>;

/** Part of the contract's group `auth`: what is asked for by mail and answered with a mailed token. */
export const mailTokenHandlers = (deps: Needs): MailTokenHandlers => ({
  async forgotPassword({ body }) {
    await askQuietly(deps, "reset", addressIn(body.email));
    return { message: "If an account has this address, a mail with a reset link is on its way." };
  },

  async resendVerification({ body }) {
    await askQuietly(deps, "verify", body.email);
    return { message: "If this address waits for its verification, a mail with a link is on its way." };
  },

  async resetPassword({ body }, { origin }) {
    await resetPassword(deps, body, origin);
    return { message: "The new password is set, and every session has ended." };
  },

  async verifyEmail({ body }, { origin }) {
    await verifyEmail(deps, body.token, origin);
    return { message: "The e-mail address is verified." };
  },
});

/** The common key of all texts that are no address. No account has it. */
const NO_ADDRESS = "";

/** Text that is no address counts as an address without an account: the same work, and nothing of it is kept. */
function addressIn(text: string): string {
  const parsed = z.safeParse(email, text);
  return parsed.success ? parsed.data : NO_ADDRESS;
}

/**
 * One row at most, whatever the address. Neither the answer nor its time shows whether there is an account
 * (specification §4.2; OWASP forgot password cheat sheet). The limit of mails to one address does not show either
 * (decisions §2).
 */
async function askQuietly(deps: Needs, purpose: MailPurpose, to: string): Promise<void> {
  if (!(await deps.limits.tryTake("mailAddress", `${purpose} ${to}`))) return;
  await requestMail(deps, deps.database, purpose, to);
}

import type { MailConfig } from "../../config.ts";
import type { Mailer } from "../../ports/mailer.ts";

/** Opens the mailer that the configuration names. */
export async function openMailer(_config: MailConfig): Promise<Mailer> {
  return { send: () => Promise.resolve(), [Symbol.asyncDispose]: () => Promise.resolve() };
}

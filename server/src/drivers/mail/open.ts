import type { MailConfig } from "../../config.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Mailer } from "../../ports/mailer.ts";
import type { Random } from "../../ports/random.ts";
import { openOutbox } from "./outbox.ts";
import { openSmtp } from "./smtp.ts";

/** Opens the mailer that the configuration names. Rejects when its sender or address cannot be read. */
export async function openMailer(
  config: MailConfig,
  deps: { readonly clock: Clock; readonly random: Random },
): Promise<Mailer> {
  const { from } = config;
  return config.kind === "smtp"
    ? openSmtp({ url: config.url, from, ...deps })
    : openOutbox({ directory: config.directory, from, ...deps });
}

/**
 * The words of the mails. They hold nothing from the account, not even its name. A person who signs up with somebody
 * else's address must not be able to write to them (OWASP email validation and verification cheat sheet).
 */
import type { Mail } from "../../ports/mailer.ts";
import { MAIL_TOKEN_LIFE, type MailPurpose } from "./rules.ts";

const HOUR = 3_600_000;

/**
 * `appUrl`: of the web application, without a trailing slash. The token is the address's fragment: browsers send that to nobody, so it is in no
 * log of a proxy.
 */
export function renderTokenMail(purpose: MailPurpose, appUrl: string, token: string): Omit<Mail, "to"> {
  const { path, subject, asked, wanted, ignored } = WORDS[purpose];
  const hours = MAIL_TOKEN_LIFE[purpose] / HOUR;
  const life = hours === 1 ? "one hour" : `${hours} hours`;
  const text = `Hello,

${asked}

Open this link to ${wanted}:

${appUrl}/${path}#token=${token}

Or give this token to the command line:

${token}

Either works once, and for ${life} from now. Show it to nobody.

${ignored}
`;
  return { subject, text };
}

const WORDS = {
  verify: {
    path: "verify-email",
    subject: "Confirm your e-mail address",
    asked: "somebody, hopefully you, has an account at Coffer with this e-mail address.",
    wanted: "confirm that the address is yours",
    ignored: "If you did not ask for this, ignore this mail: the address stays unconfirmed.",
  },
  reset: {
    path: "reset-password",
    subject: "Set a new password",
    asked: "somebody, hopefully you, asked for a new password for the Coffer account with this e-mail address.",
    wanted: "set one; you will have to sign in again everywhere",
    ignored: "If you did not ask for this, ignore this mail: your password stays as it is.",
  },
} as const;

/** Answers who asks for a new password and has none. */
export function renderProviderMail(): Omit<Mail, "to"> {
  const text = `Hello,

somebody, hopefully you, asked for a new password for the Coffer account with this e-mail address.

The account has no password: sign in with your identity provider, as you did before.

If you did not ask for this, ignore this mail: nothing has changed.
`;
  return { subject: "Your account has no password", text };
}

/**
 * Names no endpoint: an address may hold a password of the receiver's, and several may have been turned off. At most one a
 * day is sent (features/webhooks/cursor-store.ts).
 */
export function renderWebhookMail(): Omit<Mail, "to"> {
  const text = `Hello,

a webhook endpoint of your Coffer account was turned off: it answered 410 Gone, or nothing was delivered to it for five days.

No event is lost. What happens is still queued for the endpoint, for 30 days, and goes out when you turn it on again: set
"active" to true. The list of your webhooks says which one it is, and its deliveries say what went wrong.
`;
  return { subject: "A webhook endpoint was turned off", text };
}

/** The mailer port: passes one mail to its carrier. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text; may hold a token. A driver keeps it out of every log and error. */
  readonly text: string;
}

/**
 * Failure contract. `send` resolves once the mail is safe with the next hop (an SMTP server said 250, or a file was
 * synced). It rejects with {@link MailError} otherwise. A repeat sends again: there is no exactly-once in mail.
 */
export interface Mailer extends AsyncDisposable {
  /** False: mails stay on this machine, and nobody gets them who does not look there. */
  readonly delivers: boolean;
  send(mail: Mail): Promise<void>;
}

/** The mail was not taken. `permanent`: trying the same again is pointless (RFC 5321 §4.2.1, 5yz). */
export class MailError extends Error {
  override readonly name = "MailError";
  readonly permanent: boolean;
  constructor(message: string, more: { permanent: boolean; cause?: unknown }) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.permanent = more.permanent;
  }
}

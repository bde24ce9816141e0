/** Hands mails to an SMTP server (RFC 5321, RFC 6409) over a few connections that stay open for a while. */
import { createTransport } from "nodemailer";
import { readSmtpUrl, SMTP_URL_EXPECTED } from "../../config/smtp-url.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Mail, MailError, type Mailer } from "../../ports/mailer.ts";
import type { Random } from "../../ports/random.ts";
import { readSender, renderMessage, type Sender } from "./message.ts";

/** Milliseconds. */
export interface SmtpTimeouts {
  /** For the connection, and for its name to be found. */
  readonly connect: number;
  readonly greeting: number;
  /** Milliseconds of silence. */
  readonly idle: number;
  /** For one mail altogether: a server that trickles must not hold a mail for ever. */
  readonly whole: number;
}

export interface SmtpOptions {
  readonly url: string;
  readonly from: string;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  readonly timeouts?: SmtpTimeouts;
  /** Certificates in PEM to trust instead of the system's, in tests. */
  readonly trust?: string;
}

const TIMEOUTS: SmtpTimeouts = { connect: 10_000, greeting: 10_000, idle: 60_000, whole: 120_000 };
const CONNECTIONS = 4;
/** Closed by us first: a server may close an idle connection at the moment a mail goes out on it. */
const KEEP_IDLE = 30_000;

/** Opens no connection yet: the service starts even if a server is down. */
export function openSmtp(options: SmtpOptions): Mailer {
  return new Smtp(options, readSender(options.from));
}

class Smtp implements Mailer {
  readonly delivers = true;
  readonly #options: SmtpOptions;
  readonly #sender: Sender;
  readonly #timeouts: SmtpTimeouts;
  readonly #transport: ReturnType<typeof connect>;
  readonly #closed = new AbortController();

  constructor(options: SmtpOptions, sender: Sender) {
    this.#options = options;
    this.#sender = sender;
    this.#timeouts = options.timeouts ?? TIMEOUTS;
    this.#transport = connect(options, this.#timeouts);
  }

  async send(mail: Mail): Promise<void> {
    const { clock, random } = this.#options;
    const made = { sender: this.#sender, at: clock.now(), id: random.uuid() };
    const { envelope, bytes } = await renderMessage(mail, made);
    if (this.#closed.signal.aborted) throw new MailError("The mailer is closed", { permanent: false });
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(this.#timeouts.whole)]);
    try {
      await this.#transport.sendMail({ envelope, raw: bytes, signal });
    } catch (error) {
      throw toMailError(error);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    this.#transport.close({ force: true });
    return Promise.resolve();
  }
}

function connect({ url, trust }: SmtpOptions, timeouts: SmtpTimeouts) {
  const read = readSmtpUrl(url);
  if (read === null) throw new Error(`The SMTP server's address cannot be read: expected ${SMTP_URL_EXPECTED}`);
  const { auth, ...server } = read;
  return createTransport({
    ...server,
    ...(auth === null ? {} : { auth }),
    pool: true,
    maxConnections: CONNECTIONS,
    // The caller repeats: a mail may have arrived although its connection broke.
    maxRequeues: 0,
    idleTimeout: KEEP_IDLE,
    connectionTimeout: timeouts.connect,
    dnsTimeout: timeouts.connect,
    greetingTimeout: timeouts.greeting,
    socketTimeout: timeouts.idle,
    tls: { minVersion: "TLSv1.2", ...(trust === undefined ? {} : { ca: trust }) },
    logger: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** What nodemailer says of a failure. */
interface Failure {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly response?: unknown;
}

/** A refusal of these commands is about this mail; of others it is about the connection or our account at the server. */
const ABOUT_THE_MAIL = new Set(["MAIL FROM", "RCPT TO", "DATA"]);
/** RFC 4954 §6, RFC 3207 §4 and RFC 5321 §4.3.2: authentication, TLS or a new connection is wanted; the mail is not refused. */
const ABOUT_THE_CONNECTION = new Set(["503", "530", "534", "535", "538"]);

/**
 * Without `cause`, and without the server's words: they repeat addresses, and may repeat what was said to it. The rest
 * says enough: nodemailer's code, the command, the reply code and the enhanced status code (RFC 3463).
 */
function toMailError(error: unknown): MailError {
  const { code, command, response } = (error instanceof Error ? error : {}) as Failure;
  const reply = /^(?<basic>[45]\d\d)(?:[ -](?<enhanced>[45]\.\d{1,3}\.\d{1,3}))?\b/.exec(text(response))?.groups;
  const verb = /^[A-Z]{4,8}(?: FROM| TO)?/.exec(text(command))?.[0] ?? "";
  const basic = reply?.["basic"] ?? "";
  const aboutTheMail = ABOUT_THE_MAIL.has(verb) && !ABOUT_THE_CONNECTION.has(basic);
  const facts = [basic, reply?.["enhanced"] ?? "", text(code), verb].filter((fact) => fact !== "").join(", ");
  return new MailError(`The mail server did not take the mail (${facts})`, {
    permanent: aboutTheMail && basic.startsWith("5"),
  });
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

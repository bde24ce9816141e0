/** Sends the mails that were asked for (features/mail-tokens): here an address meets its account, and a token is minted. */
import { setTimeout as pause } from "node:timers/promises";
import { chooseMail, MAIL_TOKEN_LIFE, type MailPurpose, mintMailToken } from "../features/mail-tokens/rules.ts";
import {
  claimRequest,
  deleteRequest,
  findRecipient,
  hasDueRequest,
  insertMailToken,
  postponeRequest,
  type Recipient,
} from "../features/mail-tokens/store.ts";
import { renderProviderMail, renderTokenMail, renderWebhookMail } from "../features/mail-tokens/texts.ts";
import type { Queries } from "../ports/database.ts";
import { type Mail, MailError } from "../ports/mailer.ts";
import type { MailRequestRow } from "../ports/tables.ts";
import type { Job } from "./schedule.ts";
import type { JobDeps } from "./job-deps.ts";

type Mailing = Pick<JobDeps, "database" | "clock" | "random" | "mailer" | "settings" | "log">;

const SECOND = 1000;
const HOUR = 3600 * SECOND;
/**
 * Between two polls. The mailer polls, and no request calls it. Otherwise the work for a registered address would come
 * right behind the request that named it, and show in the time of the next.
 */
const PAUSE = 250;
/** After a failed poll: a database that is full or away is not asked, nor complained about, four times a second. */
const REST = 15 * SECOND;
/** Mails on their way at the same time. */
const AT_ONCE = 4;
/** Longer than any driver takes for one mail. A mail waits so long if its server died while it sent it. */
const LEASE = 300 * SECOND;
const FIRST_WAIT = 5 * SECOND;
const LONGEST_WAIT = HOUR;
const GIVE_UP_AFTER = 24 * HOUR;
/** Doubling waits come to about 30 in a day: more happens only where sending a mail kills the server each time. */
const MAX_ATTEMPTS = 50;
/** For what is under way when the server stops. */
const STOP_WAIT = 2 * SECOND;

/** See {@link sendRequestedMails}. */
export function mailJob(deps: Mailing): Job {
  let backOffUntil = -Infinity;
  return {
    name: "send mail",
    pause: PAUSE,
    async run(signal) {
      if (deps.clock.elapsed() < backOffUntil) return {};
      try {
        await sendRequestedMails(deps, signal);
      } catch (error) {
        backOffUntil = deps.clock.elapsed() + REST;
        throw error;
      }
      return {};
    },
  };
}

/**
 * Sends the due mails. A request is claimed for a while, so that two processes never send one at the same time. It is
 * deleted once its mail is with the next hop. A crash in between sends a second mail, with a token of its own. Both
 * tokens work until one is used or their time is over, because either mail may arrive first. Another reason is that a
 * request for another mail must not spoil somebody's link.
 */
export async function sendRequestedMails(deps: Mailing, signal: AbortSignal): Promise<void> {
  if (!(await hasDueRequest(deps.database, dueAt(deps.clock.now())))) return;
  const senders = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => sendUntilNone(deps, signal)));
  for (const sender of senders) if (sender.status === "rejected") throw sender.reason;
}

async function sendUntilNone(deps: Mailing, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const claimed = await deps.database.transaction((transaction) => claim(deps, transaction));
    if (claimed === null) return;
    if (claimed.mail !== null) await send(deps, claimed.request, claimed.mail, signal);
  }
}

interface Claimed {
  readonly request: MailRequestRow;
  /** null: there was nothing to send, and the request is gone. */
  readonly mail: Mail | null;
}

async function claim(deps: Mailing, transaction: Queries): Promise<Claimed | null> {
  const now = deps.clock.now();
  const request = await claimRequest(transaction, dueAt(now), now + LEASE);
  if (request === null) return null;
  const recipient = await findRecipient(transaction, request.email);
  const mail = recipient === null ? null : await mint(deps, transaction, request, recipient);
  if (mail === null) await deleteRequest(transaction, request.id);
  return { request, mail };
}

/** The mail with its fresh token, whose hash is written before it leaves: so no token is ever mailed that does not work. */
async function mint(
  { clock, random, settings }: Mailing,
  transaction: Queries,
  { purpose: asked }: MailRequestRow,
  recipient: Recipient,
): Promise<Mail | null> {
  const to = recipient.email;
  if (asked === "webhook-disabled") return { to, ...renderWebhookMail() };
  const purpose = chooseMail(asked as MailPurpose, recipient);
  if (purpose === null) return null;
  if (purpose === "provider") return { to, ...renderProviderMail() };
  const token = mintMailToken(random);
  await insertMailToken(transaction, {
    hash: token.hash,
    account_id: recipient.id,
    purpose,
    email: to,
    expires_at: clock.now() + MAIL_TOKEN_LIFE[purpose],
  });
  return { to, ...renderTokenMail(purpose, settings.appUrl, token.text) };
}

async function send(deps: Mailing, request: MailRequestRow, mail: Mail, signal: AbortSignal): Promise<void> {
  const { database, log, mailer } = deps;
  // Neither addresses nor tokens are logged, here and below; a MailError names none (ports/mailer.ts).
  const facts = { job: "send mail", purpose: request.purpose, attempt: request.attempts };
  try {
    if (!(await hasFinished(mailer.send(mail), signal))) return;
  } catch (error) {
    await afterFailure(deps, request, error);
    return;
  }
  await deleteRequest(database, request.id);
  log.info(facts, "mail sent");
}

async function afterFailure(deps: Mailing, request: MailRequestRow, error: unknown): Promise<void> {
  const { clock, database, log } = deps;
  const facts = { job: "send mail", purpose: request.purpose, attempt: request.attempts };
  if (!(error instanceof MailError)) log.error({ ...facts, err: error }, "a mailer failed");
  const reason = error instanceof MailError ? error.message : "unexpected";
  const next = clock.now() + waitAfter(request.attempts);
  const permanent = error instanceof MailError && error.permanent;
  if (permanent || next >= request.created_at + GIVE_UP_AFTER || request.attempts >= MAX_ATTEMPTS) {
    await deleteRequest(database, request.id);
    log.error({ ...facts, reason }, permanent ? "mail refused, given up" : "mail not sent, given up");
    return;
  }
  await postponeRequest(database, request, next);
  log.info({ ...facts, reason }, "mail not sent, later again");
}

function waitAfter(attempts: number): number {
  return Math.min(FIRST_WAIT * 2 ** (attempts - 1), LONGEST_WAIT);
}

/** `beyond` recognises a request from before the clock was set back: nothing waits for longer than this. */
function dueAt(now: number): { now: number; beyond: number } {
  return { now, beyond: now + 2 * LONGEST_WAIT };
}

/**
 * False when the server stops and the mail is still under way after a moment. Nobody can say then whether it arrived,
 * and it is sent again when its lease is over.
 */
async function hasFinished(sending: Promise<void>, signal: AbortSignal): Promise<boolean> {
  const settled = new AbortController();
  const stopped = async (): Promise<boolean> => {
    await aborted(AbortSignal.any([signal, settled.signal]));
    if (!settled.signal.aborted) await pause(STOP_WAIT, undefined, { signal: settled.signal }).catch(() => undefined);
    return false;
  };
  try {
    return await Promise.race([sending.then(() => true), stopped()]);
  } finally {
    settled.abort();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (signal.aborted) resolve(undefined);
  else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  return promise;
}

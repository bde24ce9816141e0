/** TEST ONLY: runs the mail job of a test app, and reads the tokens that it mailed. */
import { sendRequestedMails } from "../../jobs/mail.ts";
import type { JobLog } from "../../job-log.ts";
import type { Deps } from "../../deps.ts";
import type { Mail } from "../../ports/mailer.ts";
import type { TestApp } from "../../app.test-kit.ts";

const SILENT: JobLog = { info: () => undefined, error: () => undefined };

/** Sends what is due. */
export function runMailJob(deps: Deps): Promise<void> {
  return sendRequestedMails({ ...deps, log: SILENT }, new AbortController().signal);
}

/** The token in a mail's link; fails when there is none. */
export function tokenIn(mail: Mail | undefined): string {
  const token = /#token=([\w-]{43})\n/.exec(mail?.text ?? "")?.[1];
  if (token === undefined) throw new Error("the mail holds no link with a token");
  return token;
}

/** Asks for a mail and runs the job: the token of the one mail that this brought. */
export async function mailToken(service: TestApp, purpose: "verify" | "reset", email: string): Promise<string> {
  await runMailJob(service.deps);
  const before = service.mails.length;
  const path = purpose === "reset" ? "forgot-password" : "resend-verification";
  const answer = await service.ask("POST", `/api/auth/${path}`, { json: { email } });
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  await runMailJob(service.deps);
  const [mail, ...others] = service.mails.slice(before);
  if (others.length > 0) throw new Error("more than one mail was sent");
  return tokenIn(mail);
}

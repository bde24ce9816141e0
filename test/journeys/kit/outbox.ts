/** Reads the mails of a server without SMTP, as its operator would: files in the data directory's outbox. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { recordMail } from "../../kit/secret-recorder.ts";
import { setTimeout as pause } from "node:timers/promises";

/** A mail that arrived for somebody. `text` is its body. */
export interface OutboxMail {
  readonly file: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** The longest that a mail may take, in milliseconds: many times what it takes on an idle machine. */
const ARRIVAL_LIMIT = 60_000;
const LOOK_AGAIN = 50;
/** 256 bits in base64url. */
const LINK = /\/(verify-email|reset-password)#token=([\w-]{43})\b/;

/** The mails so far, oldest first; `to`: only those for this address. `dataDirectory` is SERVICE_DATA_DIR. */
export async function readOutbox(dataDirectory: string, to?: string): Promise<OutboxMail[]> {
  const directory = join(dataDirectory, "outbox");
  const names = (await readdir(directory)).filter((name) => name.endsWith(".eml")).toSorted();
  const mails = await Promise.all(names.map(async (name) => readMail(join(directory, name))));
  return mails.filter((mail) => to === undefined || mail.to === to);
}

/** The token of the newest mail of this purpose to this address; waits for the mail to arrive. */
export async function readMailedToken(dataDirectory: string, to: string, purpose: "verify" | "reset"): Promise<string> {
  const page = purpose === "verify" ? "verify-email" : "reset-password";
  const deadline = AbortSignal.timeout(ARRIVAL_LIMIT);
  while (!deadline.aborted) {
    const links = (await readOutbox(dataDirectory, to)).map(({ text }) => LINK.exec(text));
    const tokens = links.flatMap((link) => (link?.[1] === page ? [link[2] ?? ""] : []));
    const newest = tokens.at(-1);
    if (newest !== undefined) return newest;
    await pause(LOOK_AGAIN);
  }
  throw new Error(`no ${purpose} mail arrived in ${ARRIVAL_LIMIT} ms`);
}

async function readMail(file: string): Promise<OutboxMail> {
  const raw = await readFile(file, "utf8");
  recordMail(raw);
  const end = raw.indexOf("\r\n\r\n");
  const head = raw.slice(0, end).replaceAll(/\r\n(?=[ \t])/g, "");
  const header = (name: string): string => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
  return { file, to: header("To"), subject: header("Subject"), text: raw.slice(end + 4).replaceAll("\r\n", "\n") };
}

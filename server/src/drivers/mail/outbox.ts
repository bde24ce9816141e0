/**
 * Mails as files, one each: for development, and for a server whose operator has not set up SMTP. Any mail program
 * opens them. They hold valid tokens, so only the server's own user may read them.
 */
import { chmod } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../ports/clock.ts";
import { type Mail, MailError, type Mailer } from "../../ports/mailer.ts";
import type { Random } from "../../ports/random.ts";
import { diskFileSystem, errorCode, type FileSystem } from "../blobs/disk/file-system.ts";
import { type Message, readSender, renderMessage, type Sender } from "./message.ts";

export interface OutboxOptions {
  readonly directory: string;
  readonly from: string;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
  /** Replaces the disk in tests. */
  readonly files?: FileSystem;
}

const DIRECTORY_MODE = 0o700;
/** A mail that is being written; no mail program takes it for one. */
const PARTIAL = /^\.[\w.-]+\.part$/;
/** Milliseconds. */
const ABANDONED_AFTER = 3_600_000;

/** Opens the outbox, and makes its directory where there is none. */
export async function openOutbox(options: OutboxOptions): Promise<Mailer> {
  const sender = readSender(options.from);
  const files = options.files ?? diskFileSystem;
  await files.makeDirectory(options.directory);
  await files.flushDirectory(dirname(options.directory));
  if (files === diskFileSystem) await chmod(options.directory, DIRECTORY_MODE);
  await removeAbandoned(files, options);
  return new Outbox(options, sender, files);
}

/** What a crash left half written: nobody reads it, and it may hold a token. Another process writes for a moment only. */
async function removeAbandoned(files: FileSystem, { directory, clock }: OutboxOptions): Promise<void> {
  for (const name of await files.list(directory)) {
    if (!PARTIAL.test(name)) continue;
    const path = join(directory, name);
    const facts = await files.facts(path);
    if (facts !== null && facts.modifiedAt < clock.now() - ABANDONED_AFTER) await files.remove(path);
  }
}

class Outbox implements Mailer {
  readonly delivers = false;
  readonly #options: OutboxOptions;
  readonly #sender: Sender;
  readonly #files: FileSystem;
  /** Keeps the order of mails of one millisecond. */
  #count = 0;
  #closed = false;

  constructor(options: OutboxOptions, sender: Sender, files: FileSystem) {
    this.#options = options;
    this.#sender = sender;
    this.#files = files;
  }

  async send(mail: Mail): Promise<void> {
    if (this.#closed) throw new MailError("The outbox is closed", { permanent: false });
    const at = this.#options.clock.now();
    const id = this.#options.random.uuid();
    this.#count += 1;
    const count = String(this.#count % 1_000_000).padStart(6, "0");
    // Names sort in the order of sending; the id keeps processes apart that share the directory.
    const name = `${new Date(at).toISOString().replaceAll(":", "-")}-${count}-${id}`;
    const message = await renderMessage(mail, { sender: this.#sender, at, id });
    try {
      await this.#write(name, message);
    } catch (error) {
      const reason = errorCode(error) ?? "unknown";
      throw new MailError(`The mail could not be written to the outbox (${reason})`, { permanent: false });
    }
  }

  /** Whole or not at all under its name: content first, then the name, both flushed. */
  async #write(name: string, { bytes }: Message): Promise<void> {
    const { directory } = this.#options;
    const partial = join(directory, `.${name}.part`);
    const file = await this.#files.create(partial);
    try {
      try {
        await file.write(bytes, 0);
        await file.flush();
      } finally {
        await file.close();
      }
      await this.#files.link(partial, join(directory, `${name}.eml`));
    } finally {
      await this.#files.remove(partial);
    }
    await this.#files.flushDirectory(directory);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }
}

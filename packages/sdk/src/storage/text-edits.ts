/** Edits of a stored text: each reads the newest version, and is stored on the condition that it still is the newest. */
import type { Client } from "../client.ts";
import { systemClock } from "../http/clock.ts";
import { SdkError } from "../http/errors.ts";
import { pause } from "../http/time-limit.ts";
import type { Download } from "../transfer/stored-download.ts";
import type { UploadResult } from "../transfer/upload-codec.ts";

/** An edited file is held in memory. Bytes, before and after the edit. */
const MOST_EDITED_BYTES = 16 * 2 ** 20;

export interface EditOptions {
  /** The vault that the file is in, as `files.replace` takes it. Default: the one that the service names. */
  readonly vaultId?: string | undefined;
  /** The `tag` of the version that is to be edited. Default: the newest, and a newer one where somebody else was faster. */
  readonly ifMatch?: string | undefined;
  /** Ends the edit when it aborts. Default: only the time limits of its calls end it. */
  readonly signal?: AbortSignal | undefined;
}

export interface TextReplacement {
  /** What is looked for, letter by letter. Not empty. */
  readonly find: string;
  /** What stands in its place afterwards. */
  readonly replacement: string;
  /** How often `find` must occur; else nothing is stored. Default: 1. */
  readonly count?: number | undefined;
}

/**
 * Stores the file with the text at its end. Where somebody else stores a version meanwhile, it is read and appended to again, so
 * that of several writers each text is there once.
 * @throws SdkError `edit_refused` beyond 16 MiB; `precondition_failed` when `ifMatch` names another version; what `files.download` and
 * `files.replace` throw.
 *
 * @example
 * ```ts
 * await appendText(client, fileId, "one more line\n");
 * ```
 */
export async function appendText(
  client: Client,
  fileId: string,
  text: string,
  options: EditOptions = {},
): Promise<UploadResult> {
  const added = new TextEncoder().encode(text);
  return await edit(client, fileId, options, (content) => {
    const whole = new Uint8Array(content.length + added.length);
    whole.set(content);
    whole.set(added, content.length);
    return whole;
  });
}

/**
 * Replaces each occurrence of a text in the file. Where somebody else stores a version meanwhile, it is read and edited again.
 * @throws SdkError `edit_refused` when the text does not occur `count` times in the newest version, when the file is not UTF-8, and beyond
 * 16 MiB: nothing is stored then. `precondition_failed` when `ifMatch` names another version; what `files.download` and `files.replace`
 * throw.
 *
 * @example
 * ```ts
 * await replaceText(client, fileId, { find: "draft", replacement: "final" });
 * ```
 */
export async function replaceText(
  client: Client,
  fileId: string,
  { find, replacement, count = 1 }: TextReplacement,
  options: EditOptions = {},
): Promise<UploadResult> {
  if (find === "") throw editRefused("The text to replace is empty", "Name the text to replace.");
  return await edit(client, fileId, options, (content) => {
    const parts = textOf(content).split(find);
    if (parts.length - 1 !== count)
      throw editRefused(
        `The text to replace occurs ${String(parts.length - 1)} times, not ${String(count)}`,
        "Read the file again, and name a longer text or the right count.",
      );
    return new TextEncoder().encode(parts.join(replacement));
  });
}

async function edit(
  client: Client,
  fileId: string,
  { vaultId, ifMatch, signal }: EditOptions,
  change: (content: Uint8Array) => Uint8Array,
): Promise<UploadResult> {
  for (let attempt = 1; ; attempt += 1) {
    const download = await client.files.download(fileId, { vaultId, signal });
    const body = await edited(download, change);
    try {
      return await client.files.replace(
        fileId,
        {
          body,
          contentType: download.contentType,
          ...(vaultId === undefined ? {} : { vaultId }),
          ifMatch: ifMatch ?? tagOf(download),
        },
        { signal },
      );
    } catch (error) {
      // After an answer that was lost, the newer version may be this edit.
      if (ifMatch !== undefined || !wasFaster(error)) throw error;
      await pause(systemClock, Math.random() * Math.min(MOST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), signal);
    }
  }
}

/** Somebody is faster each time, but not for ever: each round stores a version of one of the writers. Milliseconds. */
const FIRST_PAUSE_MS = 25;
const MOST_PAUSE_MS = 2_000;

function wasFaster(error: unknown): boolean {
  return error instanceof SdkError && error.code === "precondition_failed" && !error.perhapsDone;
}

async function edited(download: Download, change: (content: Uint8Array) => Uint8Array): Promise<Uint8Array> {
  if (download.size > MOST_EDITED_BYTES) {
    await download.stream.cancel();
    throw tooLarge();
  }
  const content = change(await download.bytes());
  if (content.length > MOST_EDITED_BYTES) throw tooLarge();
  return content;
}

/** A version without a tag cannot be a condition. */
function tagOf({ tag }: Download): string {
  if (tag !== null) return tag;
  throw editRefused(
    "The service gave the content no tag, so an edit could undo another one",
    "Replace the whole file.",
  );
}

function textOf(content: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw editRefused("The file is no text in UTF-8", "Replace the whole file.");
  }
}

function tooLarge(): SdkError {
  return editRefused("An edit takes files of up to 16 MiB", "Replace the whole file.");
}

function editRefused(message: string, nextStep: string): SdkError {
  return new SdkError(message, { code: "edit_refused", retryable: false, nextStep });
}

/** The decisions of an upload: is there room, what is it called, what if the name is taken. */
import { newNameProblem } from "@coffer/contract";
import { createHash } from "node:crypto";
import type { Account, File, UploadOptions, UploadResult } from "@coffer/sdk";
import type { Task } from "./task.ts";
import { TaskFailure, toFailure } from "./failure.ts";
import type { SourceFile } from "./paths/local-files.ts";
import { digestLocal, digestStored, type Digest } from "./digests.ts";
import { ensureFolder } from "./folders.ts";
import { segmentsOf } from "./item-lookup.ts";

export interface UploadRequest {
  readonly vaultId: string;
  readonly folderId?: string | undefined;
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  /** `skip`: an existing file stays as it is. */
  readonly ifExists: "error" | "version" | "rename" | "skip";
  /** Tag of the existing file, or id of the version that it must have; with `ifExists: "version"`. */
  readonly expectedVersion?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** The folder of a vault that an upload goes into. */
export interface UploadFolder {
  /** Id or path; null: the top of the vault. */
  readonly folder: string | null;
  /** Names of folders from there on down. */
  readonly below?: readonly string[];
}

export interface UploadOutcome {
  readonly file: File;
  readonly bytes: number;
  /** SHA-256 of the content. null: a file of a shared vault was left as it is, and its content was not read. */
  readonly sha256: string | null;
  readonly act: "created" | "replaced" | "unchanged" | "skipped";
}

/**
 * Uploads an open local file. Refuses before any byte is sent when it surely cannot fit.
 * Throws TaskFailure `file_too_large`, `storage_quota`, `name_exists`, `invalid_arguments`, `integrity_failed`.
 */
export async function uploadSource(task: Task, source: SourceFile, wish: UploadRequest): Promise<UploadOutcome> {
  return await storeContent(task, localContent(source), wish);
}

/** Stores a text under a name, by the same decisions. A missing folder of a path is made. */
export async function storeText(
  task: Task,
  bytes: Uint8Array,
  { folder, below, name, ...wish }: Omit<UploadRequest, "folderId" | "name"> & UploadFolder & { readonly name: string },
): Promise<UploadOutcome> {
  nameIn({ name }, name);
  const folderId = await ensureFolder(task, wish.vaultId, folder, below);
  const place = folderId === null ? {} : { folderId };
  return await storeContent(task, textContent(bytes, name), { ...wish, ...place, name });
}

/** Stores what a stream brings, by the same decisions, in bounded memory. It can be sent once. */
export async function storeStream(
  task: Task,
  pieces: AsyncIterable<Uint8Array>,
  { folder, below, ...wish }: Omit<UploadRequest, "folderId"> & UploadFolder & { readonly name: string },
): Promise<UploadOutcome> {
  nameIn(wish, wish.name);
  const folderId = await ensureFolder(task, wish.vaultId, folder, below);
  const place = folderId === null ? {} : { folderId };
  return await storeContent(task, streamContent(pieces, wish.name), { ...wish, ...place });
}

/** A name that is a path, as models write it: its folders lie below the one that is named. People have a flag for the folder. */
export function withPath<Wish extends UploadFolder & Pick<UploadRequest, "name">>(wish: Wish): Wish & UploadFolder {
  const names = segmentsOf(wish.name ?? "");
  const name = names.pop();
  if (name === undefined || names.length === 0) return wish;
  return { ...wish, name, below: names };
}

/** What is stored, wherever its bytes lie. */
interface Content {
  readonly name: string;
  /** Bytes. null: known at the end. */
  readonly size: number | null;
  digest(task: Task): Promise<Digest>;
  send(task: Task, place: UploadTarget, options: SendOptions): Promise<UploadResult>;
}

type UploadTarget =
  | { readonly vaultId: string; readonly name: string; readonly folderId?: string }
  | { readonly fileId: string; readonly vaultId: string; readonly ifMatch?: string };

interface SendOptions {
  readonly contentType?: string;
  readonly idempotencyKey?: string;
}

function localContent(source: SourceFile): Content {
  return {
    name: source.name,
    size: source.size,
    digest: (task) => digestLocal(task, source),
    send: async (task, place, how) => {
      const { uploadFile } = await import("@coffer/sdk/node");
      return await uploadFile(await task.clientFor(place.vaultId), source.path, {
        ...place,
        ...how,
        handle: await source.reopen(),
        ...progressOptions(task, source.size),
      });
    },
  };
}

function textContent(bytes: Uint8Array, name: string): Content {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    name,
    size: bytes.length,
    digest: () => Promise.resolve({ bytes: bytes.length, sha256 }),
    send: async (task, place, { contentType, ...how }) =>
      await sendBody(
        task,
        place,
        { body: bytes, contentType: contentType ?? (await contentTypeOfText(name)) },
        { ...how, ...progressOptions(task, bytes.length) },
      ),
  };
}

function streamContent(pieces: AsyncIterable<Uint8Array>, name: string): Content {
  let isSent = false;
  return {
    name,
    size: null,
    digest: () => Promise.reject(new TypeError("a stream has no digest before its end")),
    send: async (task, place, { contentType, ...how }) => {
      if (isSent)
        throw new TaskFailure("name_exists", { message: "Somebody else stored a file of that name meanwhile" });
      isSent = true;
      return await sendBody(
        task,
        place,
        { body: pieces, contentType: contentType ?? (await guessType(name, undefined)) },
        { ...how, ...progressOptions(task, 0) },
      );
    },
  };
}

async function sendBody(
  task: Task,
  place: UploadTarget,
  content: { readonly body: Uint8Array | AsyncIterable<Uint8Array>; readonly contentType: string | undefined },
  options: UploadOptions,
): Promise<UploadResult> {
  const { files } = await task.client();
  if (!("fileId" in place)) return await files.upload({ ...place, ...content }, options);
  const { fileId, ...input } = place;
  return await files.replace(fileId, { ...input, ...content }, options);
}

function progressOptions(task: Task, size: number) {
  return {
    signal: task.signal,
    onProgress: ({ bytes, total }: { readonly bytes: number; readonly total: number | null }) => {
      task.progress(bytes, total ?? size);
    },
  };
}

/** A text that was written in a conversation is text, unless its name says what kind. */
export async function contentTypeOfText(name: string): Promise<string> {
  return await guessType(name, "text/plain");
}

async function guessType<Other extends string | undefined>(name: string, other: Other): Promise<string | Other> {
  const { guessContentType } = await import("@coffer/sdk/node");
  return guessContentType(name) ?? other;
}

async function storeContent(task: Task, source: Content, requested: UploadRequest): Promise<UploadOutcome> {
  // Whoever names the version that a file must have wants it replaced.
  const isReplacing = requested.expectedVersion !== undefined && requested.ifExists === "error";
  const wish: UploadRequest = isReplacing ? { ...requested, ifExists: "version" } : requested;
  const name = nameIn(wish, source.name);
  if (source.size !== null) await judgeRoom(task, source.size, wish);
  if (wish.ifExists === "version") return await uploadVersion(task, source, wish, name);
  if (wish.ifExists === "rename") return await uploadRenamed(task, source, wish, name);
  // A repeat under its key finds its own file. Only the service can distinguish it from a stranger's, so this asks
  // nothing before.
  const existing = wish.idempotencyKey === undefined ? await findByName(task, wish, name) : null;
  if (existing !== null && wish.ifExists === "skip")
    return {
      file: existing,
      bytes: existing.size,
      sha256: existing.encrypted ? null : existing.sha256,
      act: "skipped",
    };
  if (existing !== null) {
    // A repeated call sends the rest only.
    const same = await sameContent(task, source, existing);
    if (same !== null) return same;
    throw nameTaken(existing);
  }
  const earlier = await findEarlier(task, source, wish, name);
  if (earlier !== null) return earlier;
  return await send(task, source, { wish, name, key: wish.idempotencyKey, replaces: null });
}

/**
 * The name that the file gets: the one that was wished for, or its own. It is asked for before a folder is made for the file.
 * @throws TaskFailure `invalid_arguments` for a name that the service does not take.
 */
export function nameIn({ name }: Pick<UploadRequest, "name">, own: string): string {
  if (name === undefined) return storedName(own);
  const problem = newNameProblem(name);
  if (problem === null) return name;
  throw new TaskFailure("invalid_arguments", {
    message: `The name ${problem}`,
    nextStep: "Pass the last part of a path as name, and what is before it as folder.",
  });
}

/** @throws TaskFailure `invalid_arguments` for a name that the service does not take. */
export function storedName(name: string): string {
  const problem = newNameProblem(name);
  if (problem === null) return name.normalize("NFC");
  throw new TaskFailure("invalid_arguments", { message: `The file's own name ${problem}`, nextStep: "Pass name." });
}

/**
 * The limits that a client can check. A version frees the bytes of the one it replaces, and a repeat under its key
 * stores nothing. Only the service can decide whether those fit, and it says so before it takes a byte. The same holds
 * for another account's vault, whose room counts.
 */
async function judgeRoom(task: Task, size: number, wish: UploadRequest): Promise<void> {
  const client = await task.client();
  const { account } = await client.account.get({ signal: task.signal });
  const refusal = refusalFor(size, account, wish);
  if (refusal === null) return;
  const { role } = await client.vaults.get(wish.vaultId, { signal: task.signal });
  if (role !== "member") throw refusal;
}

function refusalFor(size: number, { limits, usage }: Account, wish: UploadRequest): TaskFailure | null {
  const { fileBytes, storageBytes } = limits;
  if (size > fileBytes) {
    return new TaskFailure("file_too_large", {
      message: `The file has ${String(size)} bytes, the plan allows ${String(fileBytes)} a file; nothing was sent`,
      nextStep: "Use a smaller file, or tell the user that it needs another plan.",
    });
  }
  const free = storageBytes - usage.bytes;
  if (wish.ifExists === "version" || wish.idempotencyKey !== undefined || size <= free) return null;
  return new TaskFailure("storage_quota", {
    message: `The file has ${String(size)} bytes, ${String(Math.max(free, 0))} are free; nothing was sent`,
  });
}

/** The file of that name in the folder, or at the top of the vault. */
export async function findByName(
  task: Task,
  wish: Pick<UploadRequest, "vaultId" | "folderId">,
  name: string,
): Promise<File | null> {
  const client = await task.client();
  const query = { vaultId: wish.vaultId, folderId: wish.folderId ?? "root", name, limit: 1 };
  try {
    const page = await client.files.list(query, { signal: task.signal });
    return page.files[0] ?? null;
  } catch (thrown) {
    // The service takes no name for a shared vault: it must not see any.
    const unknown = toFailure(thrown, task.signal).code === "validation_failed" && (await task.chainAddress()) === null;
    if (!unknown) throw thrown;
    const { type } = await client.vaults.get(wish.vaultId, { signal: task.signal });
    throw type === "shared" ? new TaskFailure("shared_vault", { cause: thrown }) : thrown;
  }
}

/**
 * The file that an earlier call with the same key has stored in a shared vault. There each call encrypts again, so
 * only a client that decrypts can see that the bytes are the same. It accepts only a file of the same name and the
 * same content.
 */
async function findEarlier(
  task: Task,
  source: Content,
  wish: UploadRequest,
  name: string,
): Promise<UploadOutcome | null> {
  if (wish.idempotencyKey === undefined || (await task.chainAddress()) === null) return null;
  const file = await findByName(task, wish, name);
  return file?.encrypted === true ? await sameContent(task, source, file) : null;
}

function nameTaken(file: File): TaskFailure {
  return new TaskFailure("name_exists", {
    nextStep: `Pass another name, ifExists: rename, or ifExists: version to replace the content of file ${file.id}.`,
  });
}

/** A file of that name may come or go between the look and the upload; a second look settles it. */
async function uploadVersion(task: Task, source: Content, wish: UploadRequest, name: string): Promise<UploadOutcome> {
  for (let attempt = 0; ; attempt += 1) {
    const earlier = await findEarlier(task, source, wish, name);
    if (earlier !== null) return earlier;
    const existing = await findByName(task, wish, name);
    requireExpected(existing, wish.expectedVersion);
    const same = existing === null ? null : await sameContent(task, source, existing);
    if (same !== null) return same;
    try {
      return await send(task, source, {
        wish,
        name,
        key: existing === null ? wish.idempotencyKey : undefined,
        replaces: existing,
      });
    } catch (thrown) {
      const failure = toFailure(thrown, task.signal);
      const moved = failure.code === "name_exists" || failure.code === "not_found" || failure.code === "trashed";
      if (!moved || attempt > 0) throw failure;
    }
  }
}

/** Somebody changed the file since the caller looked at it. The upload itself then follows this state and no other. */
export function requireExpected(existing: File | null, expected: string | undefined): void {
  if (expected === undefined) return;
  const trimmed = expected.trim();
  const isTag = /^"(signed-[\w-]{43}|\d+\.[0-9a-f-]{36})"$/.test(trimmed);
  if (!isTag && !/^[0-9a-f]{8}[0-9a-f-]{0,28}$/i.test(trimmed))
    throw new TaskFailure("invalid_arguments", {
      message: "expectedVersion is a file's tag, or the id of a version or 8 digits of it",
    });
  if (existing === null) throw new TaskFailure("not_found", { message: "There is no file of that name to replace" });
  if (!(isTag ? existing.tag === trimmed : existing.versionId.startsWith(trimmed.toLowerCase())))
    throw new TaskFailure("precondition_failed", {
      message: "The file has changed since that version; nothing was sent",
      nextStep: "Look with file_get what changed, then decide anew.",
    });
}

/**
 * The file, if it has this content already. The digest of a public vault shows it; in a shared one only who decrypts the
 * stored bytes can compare.
 */
async function sameContent(task: Task, source: Content, file: File): Promise<UploadOutcome | null> {
  if (file.size !== source.size || (file.encrypted && (await task.chainAddress()) === null)) return null;
  const { bytes, sha256 } = await source.digest(task);
  const stored = file.encrypted ? await digestStored(task, file.id, file.size) : { ...file, damaged: false };
  return sha256 === stored.sha256 && !stored.damaged ? { file, bytes, sha256, act: "unchanged" } : null;
}

const MOST_NUMBERS = 100;

/** Each number has its own key, derived from the given one: a repeat goes the same way and finds the same file. */
async function uploadRenamed(task: Task, source: Content, wish: UploadRequest, name: string): Promise<UploadOutcome> {
  for (let number = 0; number <= MOST_NUMBERS; number += 1) {
    const numbered = number === 0 ? name : numberedName(name, number);
    const key = wish.idempotencyKey === undefined ? undefined : `${wish.idempotencyKey}#${String(number)}`;
    if (key === undefined && (await findByName(task, wish, numbered)) !== null) continue;
    const earlier = await findEarlier(task, source, wish, numbered);
    if (earlier !== null) return earlier;
    try {
      return await send(task, source, { wish, name: numbered, key, replaces: null });
    } catch (thrown) {
      const failure = toFailure(thrown, task.signal);
      if (failure.code !== "name_exists") throw failure;
    }
  }
  throw new TaskFailure("name_exists", { message: `The name and ${String(MOST_NUMBERS)} numbered ones are taken` });
}

const MAX_STEM_BYTES = 180;

/** `report.pdf` → `report (2).pdf`; a long stem is cut so that the name stays valid. */
export function numberedName(name: string, number: number): string {
  const dot = name.lastIndexOf(".");
  const cut = dot > 0 && name.length - dot <= 20 ? dot : name.length;
  let stem = name.slice(0, cut);
  while (Buffer.byteLength(stem) > MAX_STEM_BYTES) stem = Array.from(stem).slice(0, -1).join("");
  return `${stem.trimEnd()} (${String(number)})${name.slice(cut)}`;
}

/** What is replaced is the content that was looked at, not somebody's later one. */
function tagOf({ tag }: File): { ifMatch?: string } {
  return tag === undefined ? {} : { ifMatch: tag };
}

interface SendRequest {
  readonly wish: UploadRequest;
  readonly name: string;
  readonly key: string | undefined;
  readonly replaces: File | null;
}

async function send(task: Task, source: Content, { wish, name, key, replaces }: SendRequest): Promise<UploadOutcome> {
  const place =
    replaces === null
      ? { vaultId: wish.vaultId, name, ...(wish.folderId === undefined ? {} : { folderId: wish.folderId }) }
      : { fileId: replaces.id, vaultId: wish.vaultId, ...tagOf(replaces) };
  const done = await source.send(task, place, {
    ...(wish.mimeType === undefined ? {} : { contentType: wish.mimeType }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  });
  // In a shared vault the service's digest is of the encrypted bytes; the SDK has compared that one.
  const digestFits = done.file.encrypted || done.sha256 === done.file.sha256;
  if (done.bytes !== done.file.size || !digestFits) throw new TaskFailure("integrity_failed");
  return { file: done.file, bytes: done.bytes, sha256: done.sha256, act: replaces === null ? "created" : "replaced" };
}

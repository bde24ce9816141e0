/**
 * The local trash: what a sync takes out of a directory of this machine is kept there for 30 days. It lies beside the
 * directory, on the same disk. Where that cannot be, as for a mount point, it lies at the directory's own top, and is no
 * part of the tree.
 *
 * ```
 * .coffer-trash/                            mode 0700
 *   2026-11-29T06-05-00.000Z-1a2b3c4d/      what one call took
 *     contents.json                         where it lay; it is on the disk before the first file moves
 *     5f0c…                                 a file, by a name of its own
 * ```
 *
 * Every directory is held open while something moves (`held-directory.ts`), so no link is followed, in the tree or here.
 */
import { isError } from "@coffer/contract";
import { randomUUID } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { chmod, link, lstat, mkdir, readdir, readFile, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import * as z from "zod/mini";
import { configurationError, SdkError } from "../../http/errors.ts";
import { lacksLinks, placeFile } from "../files/download-file.ts";
import { fileErrorCode, isDiskFull, replaceFile, syncDirectory } from "../store/durable-file.ts";
import { markOf } from "../files/file-mark.ts";
import { holdDirectory, type HeldDirectory } from "./held-directory.ts";
import type { LocalFile } from "./local-tree.ts";
import { isLocalTrash, LOCAL_TRASH } from "./trash-name.ts";

const CONTENTS = "contents.json";
const RETENTION_MS = 30 * 24 * 60 * 60_000;
const RUN = /^(\d{4}-\d{2}-\d{2}T\d{2})-(\d{2})-(\d{2}\.\d{3}Z)-[0-9a-f]{8}$/;

/** The disk may come from elsewhere, with contents that others wrote: no path may lead out of the tree or into a trash. */
const treePath = z.string().check(
  z.refine((path) => path.split("/").every((name) => !["", ".", ".."].includes(name) && !isLocalTrash(name))),
  z.refine((path) => !path.includes("\0") && (process.platform !== "win32" || !/[\\:]/.test(path))),
);
const trashedFile = z.object({
  name: z.string().check(z.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
  path: treePath,
  size: z.number(),
  /** Nanoseconds as decimal text. */
  modified: z.string().check(z.regex(/^-?\d{1,30}$/)),
});
const contents = z.object({
  coffer: z.literal("trash 1"),
  /** The directory that lost them, from the one that the trash lies in. "" is that one itself. */
  root: z.string(),
  files: z.array(trashedFile),
  /** Empty directories, parents first. */
  folders: z.array(treePath),
});

export type TrashedFile = z.infer<typeof trashedFile>;

/** What one call took. */
export interface TrashedRun extends z.infer<typeof contents> {
  readonly place: string;
  /** When the call began, in milliseconds since 1970. */
  readonly at: number;
}

/** What a call is about to take. */
export interface Losses {
  readonly files: readonly LocalFile[];
  /** Places of directories, in any order. */
  readonly folders: readonly string[];
}

/** Takes files out of a tree, for one call. */
export class TrashRun implements AsyncDisposable {
  readonly #held: HeldDirectory;
  readonly #place: string;
  readonly #names: ReadonlyMap<string, string>;
  #isEmpty: boolean;

  private constructor(held: HeldDirectory, place: string, names: ReadonlyMap<string, string>, isEmpty: boolean) {
    this.#held = held;
    this.#place = place;
    this.#names = names;
    this.#isEmpty = isEmpty;
  }

  /**
   * `root` is a real path. What will be taken is written down first: a crash then loses nothing.
   * @throws SdkError `configuration` if there can be no trash: then nothing may be taken.
   */
  static async open(root: string, losses: Losses, now: number): Promise<TrashRun> {
    let cause: unknown;
    for (const above of placesOf(root))
      try {
        if (!(await makeTrash(above, root))) continue;
        await using trash = await openTrash(above, root);
        if (trash !== null) return await TrashRun.#create(trash, above, root, losses, now);
      } catch (error) {
        if (fileErrorCode(error) === null || isDiskFull(error)) throw error;
        cause = error;
      }
    throw configurationError(
      `There can be no trash for ${root}, beside it or in it, so nothing is removed`,
      isError(cause) ? cause : undefined,
    );
  }

  static async #create(
    trash: HeldDirectory,
    above: string,
    root: string,
    { files, folders }: Losses,
    now: number,
  ): Promise<TrashRun> {
    const run = `${new Date(now).toISOString().replaceAll(":", "-")}-${randomUUID().slice(0, 8)}`;
    await mkdir(join(trash.fdPath, run), 0o700);
    const place = join(above, LOCAL_TRASH, run);
    const held = await holdDirectory(place);
    const names = new Map(files.map((file) => [file.place, randomUUID()]));
    const pathOf = (at: string): string => relative(root, at).split(sep).join("/");
    const written: z.infer<typeof contents> = {
      coffer: "trash 1",
      root: relative(above, root),
      folders: folders.map(pathOf).sort(),
      files: files.map(({ mark: { modified, size }, place: at }) => {
        return { name: names.get(at) ?? "", path: pathOf(at), size, modified };
      }),
    };
    try {
      await replaceFile(join(held.fdPath, CONTENTS), JSON.stringify(written));
      for (const directory of [trash.fdPath, above]) await syncDirectory(directory);
    } catch (error) {
      await held[Symbol.asyncDispose]();
      throw error;
    }
    return new TrashRun(held, place, names, folders.length === 0);
  }

  /**
   * Moves a file of the tree into the trash. With `stays` it also stays where it is, for another one to replace it in a
   * moment, where the file system has hard links.
   * @throws SdkError `source_changed` if somebody changed it meanwhile.
   */
  async moveIn(from: HeldDirectory, file: LocalFile, stays = false): Promise<void> {
    const origin = join(from.fdPath, basename(file.place));
    const trashPath = join(this.#held.fdPath, this.#names.get(file.place) ?? "");
    try {
      from.verify();
      this.#held.verify();
      if (!stays) await rename(origin, trashPath);
      else
        await link(origin, trashPath).catch(async (error: unknown) => {
          if (!lacksLinks(error)) throw error;
          await rename(origin, trashPath);
        });
      this.#isEmpty = false;
      const stats = await lstat(trashPath, { bigint: true });
      if (isUntouched(file, stats)) return;
      // It goes back, unless something has come into its place. Then it stays here, and a restore finds it.
      await placeFile(trashPath, origin, false).then(
        () => rm(trashPath, { force: true }),
        () => undefined,
      );
      throw changedSince(file.place);
    } catch (error) {
      throw this.#held.withRealPath(from.withRealPath(error));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await syncDirectory(this.#held.fdPath);
      if (this.#isEmpty) await deleteRun(this.#held, this.#place);
    } finally {
      await this.#held[Symbol.asyncDispose]();
    }
  }
}

/** What changed here since it was compared is nobody's to take away. */
export function changedSince(place: string): SdkError {
  return new SdkError(`${place} changed since it was compared`, {
    code: "source_changed",
    retryable: false,
    nextStep: "Call again: it compares the two anew.",
  });
}

function isUntouched({ mark }: LocalFile, stats: BigIntStats): boolean {
  const { inode, modified, size } = markOf(stats);
  return stats.isFile() && inode === mark.inode && size === mark.size && modified === mark.modified;
}

/** What calls took before a moment, of all trees whose trash this is, newest first. `root` is a real path. */
export async function trashedRuns(root: string, before = Infinity): Promise<TrashedRun[]> {
  const runs: TrashedRun[] = [];
  for (const above of placesOf(root)) {
    await using trash = await openTrash(above, root).catch(() => null);
    if (trash === null) continue;
    for (const name of await readdir(trash.fdPath)) {
      const place = join(above, LOCAL_TRASH, name);
      const at = Date.parse(name.replace(RUN, "$1:$2:$3"));
      const written = RUN.test(name) && at < before ? await readContents(place) : null;
      if (written !== null) runs.push({ ...written, place, at });
    }
  }
  return runs.sort((a, b) => b.at - a.at);
}

/** Whether a call took it from this tree. */
export function isOfTree({ place, root: taken }: TrashedRun, root: string): boolean {
  return join(dirname(dirname(place)), taken) === root;
}

/** null: there are none that can be read. */
async function readContents(place: string): Promise<z.infer<typeof contents> | null> {
  try {
    await using held = await holdDirectory(place);
    const flag = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const result = z.safeParse(
      contents,
      JSON.parse(await readFile(join(held.fdPath, CONTENTS), { encoding: "utf8", flag })),
    );
    return result.success ? result.data : null;
  } catch {
    return null;
  }
}

/** The files of a call that still are in the trash. */
export async function trashedIn(held: HeldDirectory, { files }: TrashedRun): Promise<TrashedFile[]> {
  const there: TrashedFile[] = [];
  for (const file of files) if ((await statsOf(join(held.fdPath, file.name)))?.isFile() === true) there.push(file);
  return there;
}

/** Forgets a call that has no files here any more. What somebody else put beside them keeps its directory. */
export async function deleteRun(held: HeldDirectory, place: string): Promise<void> {
  await rm(join(held.fdPath, CONTENTS), { force: true });
  // Not `join`, which would cut `..` off: what is above the directory itself, whatever its name leads to by now.
  await rmdir(`${held.fdPath}/../${basename(place)}`).catch(() => undefined);
}

/**
 * Removes for good what calls put into the trash of this tree more than 30 days ago. A file that is not as it came
 * stays. What cannot be removed now can be the next time.
 */
export async function clearTrash(root: string, now: number): Promise<void> {
  for (const run of await trashedRuns(root, now - RETENTION_MS))
    try {
      await using held = await holdDirectory(run.place);
      for (const file of run.files) {
        const stats = await statsOf(join(held.fdPath, file.name));
        if (stats !== null && isAsItCame(file, stats)) await unlink(join(held.fdPath, file.name));
      }
      if ((await trashedIn(held, run)).length === 0) await deleteRun(held, run.place);
    } catch (error) {
      if (fileErrorCode(error) === null) throw error;
    }
}

/** Some file systems count two seconds, and give a file another inode when they are mounted again. */
const COARSE_NS = 2_000_000_000n;

function isAsItCame({ modified, size }: TrashedFile, stats: BigIntStats): boolean {
  const apart = stats.mtimeNs - BigInt(modified);
  return stats.isFile() && Number(stats.size) === size && apart < COARSE_NS && apart > -COARSE_NS;
}

async function statsOf(place: string): Promise<BigIntStats | null> {
  try {
    return await lstat(place, { bigint: true });
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Directories that the trash of a tree can be in, the better one first. */
function placesOf(root: string): readonly string[] {
  return [...new Set([dirname(root), root])];
}

/** False: it would not be on the same disk. */
async function makeTrash(above: string, root: string): Promise<boolean> {
  await using parent = await holdDirectory(above);
  if (!(await isOneDisk(root, parent))) return false;
  await mkdir(join(parent.fdPath, LOCAL_TRASH), 0o700).catch((error: unknown) => {
    if (fileErrorCode(error) !== "EEXIST") throw error;
  });
  return true;
}

/**
 * null: it is neither this user's nor of the one whose tree it is. In a directory like `/tmp` anybody may have made it.
 * @throws Node's error, such as ENOENT, or ENOTDIR for a link.
 */
async function openTrash(above: string, root: string): Promise<HeldDirectory | null> {
  const trash = await holdDirectory(join(above, LOCAL_TRASH));
  const { mode, uid } = await stat(trash.fdPath);
  if (uid !== process.getuid?.() && uid !== (await lstat(root)).uid) {
    await trash[Symbol.asyncDispose]();
    return null;
  }
  // Some file systems have no modes.
  if ((mode & 0o077) !== 0) await chmod(trash.fdPath, 0o700).catch(() => undefined);
  return trash;
}

/**
 * Whether a file of the tree can be renamed into the directory. The kernel compares the mounts before it looks for a name
 * (rename(2), EXDEV). So this also sees a bind mount of the same device, and moves nothing.
 */
async function isOneDisk(root: string, directory: HeldDirectory): Promise<boolean> {
  await using tree = await holdDirectory(root);
  if ((await stat(tree.fdPath)).dev !== (await stat(directory.fdPath)).dev) return false;
  const name = randomUUID();
  try {
    await rename(join(tree.fdPath, name), join(directory.fdPath, name));
    return true;
  } catch (error) {
    return fileErrorCode(error) === "ENOENT";
  }
}

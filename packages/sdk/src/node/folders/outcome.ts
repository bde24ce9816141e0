/** What becomes of each file and folder of a call, collected for its result. */
import { isError } from "@coffer/contract";
import { AbortError, SdkError } from "../../http/errors.ts";
import { fileErrorCode, isDiskFull } from "../store/durable-file.ts";
import type { FileReceipt, FolderFailure, FolderReceipt, SkippedItem } from "./options.ts";

export class Outcome {
  readonly files: FileReceipt[] = [];
  readonly folders: FolderReceipt[] = [];
  readonly skipped: SkippedItem[] = [];
  readonly failed: FolderFailure[] = [];
  /** Paths that failed or are skipped: nothing is decided about them or below them. */
  readonly #blocked = new Set<string>();
  /** Paths at which, or below which, something may lie here that was not found by its name. */
  readonly #doubted = new Set<string>();

  skip(path: string, reason: SkippedItem["reason"]): void {
    this.skipped.push({ path, reason });
    this.#blocked.add(path);
  }

  /** Neither side has it, as far as the call goes. */
  recordFiltered(path: string): void {
    this.skipped.push({ path, reason: "filter" });
  }

  /**
   * What is missing at the path, or below it, is not taken for deleted in this call: it was there a moment ago, or may be there under a
   * name that cannot be read.
   */
  doubt(path: string): void {
    this.#doubted.add(path);
  }

  /** Whether what is missing here may be taken for deleted. */
  mayBeGone(path: string): boolean {
    return !this.isBlocked(path) && !isAtOrBelow(path, this.#doubted);
  }

  refuse(path: string, code: string, message: string, nextStep: string): void {
    this.failed.push({ path, code, message, nextStep });
    this.#blocked.add(path);
  }

  /** @throws the error if it is not about this item alone: then the others would fail of it, too. */
  fail(path: string, error: unknown): void {
    if (endsAll(error)) throw error;
    const { code, message, nextStep } = describe(error);
    this.refuse(path, code, message, nextStep);
  }

  /** Whether the path, or a folder above it, failed or is skipped. */
  isBlocked(path: string): boolean {
    return isAtOrBelow(path, this.#blocked);
  }
}

function isAtOrBelow(path: string, places: ReadonlySet<string>): boolean {
  if (places.size === 0) return false;
  for (let at = path; at !== ""; at = parentOf(at)) if (places.has(at)) return true;
  return places.has("");
}

/** "" for what is at the top. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function pathIn(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

/** Lost connections and credentials, limits of requests, and lost memberships meet every file. */
const ENDING: ReadonlySet<string> = new Set([
  ...["aborted", "connection_failed", "timeout", "rate_limited", "credential_missing", "session_ended", "unavailable"],
  ...[
    "configuration",
    "locked",
    "keychain_unusable",
    "shared_vault",
    "not_a_member",
    "membership_ended",
    "chain_unavailable",
    "clock_skew",
  ],
  ...["key_servers_unavailable", "key_servers_behind", "signing_key_missing", "missing_scope", "vault_changed"],
]);

/** A full disk has no room for the next file either. */
function endsAll(error: unknown): boolean {
  if (isDiskFull(error)) return true;
  return error instanceof SdkError && (error.status === 401 || error.status === 429 || ENDING.has(error.code));
}

/** Errors of this SDK and of Node's files become a line of the result; any other is a bug, and shows itself. */
function describe(error: unknown): Pick<FolderFailure, "code" | "message" | "nextStep"> {
  if (error instanceof SdkError) return error;
  const code = fileErrorCode(error);
  if (code === null) throw error;
  const message = isError(error) ? error.message : code;
  return { code, message, nextStep: "Make the file readable or the place writable here, then call again." };
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new AbortError(signal.reason);
}

import type { Client } from "@coffer/sdk";

/** How far one file of a transfer is. */
export interface FileProgress {
  /** As the caller can name it: text of others. */
  readonly path: string;
  readonly bytes: number;
  readonly size: number;
  /** Files that are done, of those that have to be moved. */
  readonly files: number;
  readonly totalFiles: number;
}

/** What a task is done with, for a tool as for a command. */
export interface Task {
  /** Aborts when whoever asked cancels, or when the process stops. */
  readonly signal: AbortSignal;
  /** Reports how far a transfer is, in bytes, with the file that moved. Does nothing when nobody asked. */
  progress(done: number, total: number, file?: FileProgress): void;
  /** The signed-in client. Throws TaskFailure `signed_out` without credentials. */
  client(): Promise<Client>;
  /**
   * The client for functions of the SDK that take one. `into`: the vault that they write into. null: they only read. Where a model
   * chose what is written, a person may have to agree first.
   */
  clientFor(into: string | null): Promise<Client>;
  /** This process's own address on the chain; null where it has no chain key. */
  chainAddress(): Promise<string | null>;
}

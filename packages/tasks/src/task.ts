import type { Client } from "@coffer/sdk";

/** What a task is done with, for a tool as for a command. */
export interface Task {
  /** Aborts when whoever asked cancels, or when the process stops. */
  readonly signal: AbortSignal;
  /** Reports how far a transfer is, in bytes. Does nothing when nobody asked. */
  progress(done: number, total: number): void;
  /** The signed-in client. Throws TaskFailure `signed_out` without credentials. */
  client(): Promise<Client>;
  /** This process's own address on the chain; null where it has no chain key. */
  chainAddress(): Promise<string | null>;
}

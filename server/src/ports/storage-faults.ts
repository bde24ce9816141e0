/**
 * What a driver of storage notices once and for all, whichever request met it first. The request gets its own error. This is for who watches
 * the storage: the log, readiness, metrics, and the end of the process.
 */
export type StorageFault =
  /** A flush has failed: nothing is written any more until another process begins. */
  | { readonly kind: "stopped"; readonly cause: unknown }
  /** The files that the driver holds open are no longer where they were: nothing is written until they are back. */
  | { readonly kind: "gone"; readonly cause: unknown }
  /** A medium took no more: what needs no room goes on. */
  | { readonly kind: "full"; readonly cause: unknown }
  /** Something was refused that may pass, or may stay: only a probe can tell. */
  | { readonly kind: "suspect" }
  | Damage;

/** A part of a file cannot be read, or is not what was written. What does not meet it goes on. */
export interface Damage {
  readonly kind: "damaged";
  /** The database's file, or its name at its server. */
  readonly file: string;
  /** The statement that met it, without its values. */
  readonly query: string;
  readonly cause: unknown;
  /** Looks the whole file through, in bounded time: what is wrong first, in the engine's words; `ok` alone: nothing. null: that is for its server. */
  readonly examine: (() => Promise<readonly string[]>) | null;
}

export type OnStorageFault = (fault: StorageFault) => void;

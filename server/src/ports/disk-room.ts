/** How much room there is on a disk of this machine. Bytes. */
export interface DiskRoom {
  /** What this user may still write. */
  readonly freeBytes: number;
  /** What is used, and what this user may still write: what `df` reckons its percentage from. */
  readonly sizeBytes: number;
  /** What is to stay free. */
  readonly reserveBytes: number;
}

/** What is kept over a crash: unfinished uploads and creations of vaults. */

/** Keeps an upload session over a crash. Every method resolves when it is durable. */
export interface Checkpoint {
  /** Session to go on with; null: begin one. */
  readonly uploadId: string | null;
  readonly idempotencyKey: string;
  /** Before any byte is sent. */
  created(uploadId: string): Promise<void>;
  /** The session is gone on the server: forget it and name the next creation anew. */
  restarted(): Promise<string>;
  /** The session can be taken up later after this failure, so it must not be ended. */
  survives(error: unknown): boolean;
}

/** Every method resolves when it is durable. */
export interface UploadJournal extends Checkpoint {
  /** What an earlier attempt with an unchanged source has kept; null: nothing that can be gone on with. */
  readonly kept: { readonly plan: unknown; readonly parts: readonly unknown[] } | null;
  /** Before the first byte of a version is sent. Forgets the parts of another one. */
  keep(plan: object): Promise<void>;
  /** Before the first byte of the part is sent. */
  keepPart(part: object): Promise<void>;
  /** The version is given up: forgets all of it, names the next creation anew, and answers the session to end; null: there is none. */
  discard(): Promise<string | null>;
}

/** What tells that a source is still the same: texts by name. Of a file on disk, or of a version that never changes. */
export type SourceIdentity = Readonly<Record<string, string>>;

/** The journal of one upload, for as long as this process is at it. */
export interface KeptUpload extends UploadJournal {
  /** A session for an earlier state of the source: of no use, to be ended on the server. */
  readonly outdated: string | null;
  /** The upload is over, for good or for bad. */
  remove(): Promise<void>;
  /** Lets another process take it up. */
  close(): Promise<void>;
}

/** Where unfinished uploads are kept that belong to a longer work, as a rotation; texts name them and hold no secret. */
export interface UploadJournals {
  /**
   * The journal of the upload that `purpose` names within `work`, taken up where it stands when its source is the same. null: another process
   * is at it, or nothing can be kept here; then the upload goes without.
   */
  open(work: string, purpose: string, source: SourceIdentity): Promise<KeptUpload | null>;
  /** The work is done: forgets what is left of it, but nothing that another process is at. */
  clear(work: string): Promise<void>;
}

/** Where an unfinished creation is kept, so that a crash between chain and service costs no second vault object. */
export interface CreationJournal {
  /** What is kept of an unfinished creation; null: there is none. `creation` names service, address and vault. */
  load(creation: string): Promise<string | null>;
  /**
   * Keeps `kept` where `before` is still what is kept, and resolves once that is durable: a transaction is sent only then. null: there is
   * none. False: another process has kept something else meanwhile, and nothing was changed.
   */
  replace(creation: string, before: string | null, kept: string | null): Promise<boolean>;
}

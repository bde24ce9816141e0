/** Records that survive a crash: unfinished uploads and creations of vaults. */

/** Keeps an upload session over a crash. Every method resolves when it is durable. */
export interface Checkpoint {
  /** The session to go on with; null: begin one. */
  readonly uploadId: string | null;
  readonly idempotencyKey: string;
  /** Called before any byte is sent. */
  created(uploadId: string): Promise<void>;
  /** The session is gone on the server: forget it, and use a new key for the next creation. */
  restarted(): Promise<string>;
  /** The session can go on later after this failure, so do not end it. */
  survives(error: unknown): boolean;
}

/** Every method resolves when it is durable. */
export interface UploadJournal extends Checkpoint {
  /** What an earlier attempt with an unchanged source has kept; null: nothing to go on with. */
  readonly kept: { readonly plan: unknown; readonly parts: readonly unknown[] } | null;
  /** Called before the first byte of a version is sent. Forgets the parts of another one. */
  save(plan: object): Promise<void>;
  /** Called before the first byte of the part is sent. */
  savePart(part: object): Promise<void>;
  /**
   * The version is given up. Forgets all of it and uses a new key for the next creation. Answers the session to end;
   * null: there is none.
   */
  discard(): Promise<string | null>;
}

/** What shows that a source is still the same: texts by name. They describe a file on disk, or a version that never changes. */
export type SourceIdentity = Readonly<Record<string, string>>;

/** The journal of one upload, while this process works on it. */
export interface KeptUpload extends UploadJournal {
  /** A session for an earlier state of the source: useless now, so end it on the server. */
  readonly outdated: string | null;
  /** The upload is over, finished or given up. */
  remove(): Promise<void>;
  /** Lets another process go on with it. */
  close(): Promise<void>;
}

/** Where unfinished uploads of a longer work are kept, such as a rotation. Texts name them and hold no secret. */
export interface UploadJournals {
  /**
   * The journal of the upload that `purpose` names within `work`. It goes on from where it is if its source is the
   * same. null: another process works on it, or nothing can be kept here. The upload then goes without a journal.
   */
  open(work: string, purpose: string, source: SourceIdentity): Promise<KeptUpload | null>;
  /** The work is done: forgets the rest of it, except what another process works on. */
  clear(work: string): Promise<void>;
}

/** Where an unfinished creation is kept, so that a crash between chain and service costs no second vault object. */
export interface CreationJournal {
  /** The record of an unfinished creation; null: there is none. `creation` names service, address and vault. */
  load(creation: string): Promise<string | null>;
  /**
   * Keeps `kept` if `before` is still the record, and resolves once that is durable: a transaction is sent only then.
   * null: there is none. False: another process has kept something else meanwhile, and nothing was changed.
   */
  replace(creation: string, before: string | null, kept: string | null): Promise<boolean>;
}

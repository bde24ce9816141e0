/** A shared vault for the modules beside this file: what was read on the chain, and the open keys. */
import type {
  Author,
  CryptoPlatform,
  FindVaultKey,
  SeenStatement,
  VaultKey,
  VaultKeyRecord,
  VaultView,
} from "@coffer/crypto";
import type { ReadOptions } from "@coffer/chain";
import type { VaultPin } from "./trust/pins.ts";

/** The key for new files, with the record that the service has. */
export interface WritingKey {
  readonly record: VaultKeyRecord;
  readonly key: VaultKey;
}

/**
 * What a vault key is wanted for (encryption design §9.1). `new`: content that the caller brings whole. `again`: what
 * was stored before, which waits until more than one sight of one node says that the key's maker is a member.
 * `rotation`: everything, under a key that this client has made and no other.
 */
export type WritingUse = "new" | "again" | "rotation";

export interface OpenVault {
  /** The service's id of the vault. */
  readonly id: string;
  readonly pin: VaultPin;
  /** 32 bytes: the chain object's id. */
  readonly objectId: Uint8Array;
  readonly platform: CryptoPlatform;
  /**
   * The signer here, by the given view or the one in memory. Rejects with `signing_key_missing` unless the vault names the signer's key for its address,
   * `not_a_member`.
   */
  author(view?: VaultView): Promise<Author>;
  /** Read on the chain, at most 5 s ago, never below what was seen. `hintedGeneration`: the service's claim. */
  view(options?: ReadOptions): Promise<VaultView>;
  /**
   * The key for new files, verified against the view. It is of the current place, or of a later one that was seen and
   * whose time has come. Publishes a record if there is none, adopts the one that won a race, and replaces one that
   * does not open. For a rotation it replaces every other member's.
   */
  writingKey(view: VaultView, use: WritingUse): Promise<WritingKey>;
  /** A signature is bound by everything that any process was shown of the vault. Rejects with `rolled_back`, `generation_moved`. */
  requireNewest(view: VaultView): Promise<void>;
  /** The record of the last {@link writingKey} is not the current one any more: the next call asks again. */
  forgetWritingKey(): void;
  /**
   * Opens the closed keys of all records with one request per key server; memory holds them from then on. An error of
   * one record shows when its key is asked for.
   */
  openKeys(records: readonly VaultKeyRecord[]): Promise<void>;
  /** For the reading functions of `@coffer/crypto`: from memory, or opened now. */
  readonly findKey: FindVaultKey;
  /** The record of that id that the service lists, remembered. Not verified yet. `generation`: where to look; null: everywhere. */
  record(keyId: Uint8Array, generation: bigint | null): Promise<VaultKeyRecord>;
  /** What this client has seen of files and entries, so that it accepts nothing older later (rolled_back). */
  readonly seen: {
    version(fileId: string): SeenStatement | null;
    entry(id: string): SeenStatement | null;
    recordVersion(fileId: string, seen: SeenStatement): void;
    recordEntry(id: string, seen: SeenStatement): void;
    /** Before a caller is shown what was noted: another process must not accept anything older. Never rejects. */
    flush(): Promise<void>;
    /** Forgets one file or folder, or with null the whole vault; durable when it resolves. */
    forget(id: string | null): Promise<void>;
  };
}

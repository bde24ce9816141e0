/** A shared vault as the rooms beside this file use it: what was read on the chain, and the keys that are open. */
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
import type { VaultPin } from "./memory/pins.ts";

/** The key that new files are encrypted under, with the record that stands at the service. */
export interface WritingKey {
  readonly record: VaultKeyRecord;
  readonly key: VaultKey;
}

export interface OpenVault {
  /** The service's id of the vault. */
  readonly id: string;
  readonly pin: VaultPin;
  /** 32 bytes: the chain object's id. */
  readonly objectId: Uint8Array;
  readonly platform: CryptoPlatform;
  /** Who signs here. Rejects with `signing_key_missing` unless the vault names the signer's key for its address, `not_a_member`. */
  author(): Promise<Author>;
  /** Read on the chain, at most 5 s ago, never below what was seen. `hintedGeneration`: what the service claims. */
  view(options?: ReadOptions): Promise<VaultView>;
  /**
   * The key for new files: of the current place, or of a later one that was seen and whose time has come, verified against the view. Publishes a record when none stands, adopts the one that
   * won a race, and replaces one that does not open.
   */
  writingKey(view: VaultView): Promise<WritingKey>;
  /** What is signed is bound by all that any process was shown of the vault. Rejects with `rolled_back`, `generation_moved`. */
  requireNewest(view: VaultView): Promise<void>;
  /** The record that stood when {@link writingKey} answered is not the current one any more: it is asked for again. */
  forgetWritingKey(): void;
  /**
   * Opens the keys of all records that are not open yet with one request per key server; they are in memory from then on. What is wrong with
   * one record shows when its key is asked for.
   */
  openKeys(records: readonly VaultKeyRecord[]): Promise<void>;
  /** For the reading functions of `@coffer/crypto`: from memory, or opened now. */
  readonly findKey: FindVaultKey;
  /** The record of that id that the service lists, remembered. Not verified yet. `generation`: where to look; null: everywhere. */
  record(keyId: Uint8Array, generation: bigint | null): Promise<VaultKeyRecord>;
  /** What this client has seen of files and entries, so that nothing older is taken later (rolled_back). */
  readonly seen: {
    version(fileId: string): SeenStatement | null;
    entry(id: string): SeenStatement | null;
    noteVersion(fileId: string, seen: SeenStatement): void;
    noteEntry(id: string, seen: SeenStatement): void;
    /** Of one file or folder, or with null of the whole vault; durable when it resolves. */
    forget(id: string | null): Promise<void>;
  };
}

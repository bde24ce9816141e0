/** A shared vault as the modules of this directory use it: what was read on the chain, and the keys that are open. */
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
import type { VaultPin } from "./pins.ts";

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
  /** Who signs here. Rejects with `signing_key_missing` when the signer has no key that signs statements in this vault. */
  author(): Promise<Author>;
  /** Read on the chain, at most 5 s ago, never below what was seen. `hintedGeneration`: what the service claims. */
  view(options?: ReadOptions): Promise<VaultView>;
  /**
   * The key for new files: of the current generation, verified against the view. Publishes a record when none stands, adopts the one that
   * won a race, and replaces one that does not open.
   */
  writingKey(view: VaultView): Promise<WritingKey>;
  /** Opens the keys of all records that are not open yet with one request per key server; they are in memory from then on. */
  openKeys(records: readonly VaultKeyRecord[]): Promise<void>;
  /** For the reading functions of `@coffer/crypto`: from memory, or opened now. */
  readonly findKey: FindVaultKey;
  /** The records that the service lists, by key id in hex; fetched once per generation and remembered. */
  record(keyId: Uint8Array): Promise<VaultKeyRecord>;
  /** What this client has seen of files and entries, so that nothing older is taken later (rolled_back). */
  readonly seen: {
    version(fileId: string): SeenStatement | null;
    entry(id: string): SeenStatement | null;
    noteVersion(fileId: string, seen: SeenStatement): void;
    noteEntry(id: string, seen: SeenStatement): void;
  };
}

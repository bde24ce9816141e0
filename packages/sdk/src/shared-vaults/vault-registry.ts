/** What the modules beside this file share of one client: the chain, the key servers, the pins. */
import type { Vault } from "@coffer/contract";
import type { Chain, SealKeyWrap } from "@coffer/chain";
import type { CryptoPlatform } from "@coffer/crypto";
import type { Signer } from "../signers/signer.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import type { Homes } from "./trust/item-homes.ts";
import type { OpenVault } from "./open-vault.ts";
import type { PinStore, VaultPin } from "./trust/pins.ts";
import type { SeenMemory } from "./trust/seen-memory.ts";

/** null: a public vault. */
export interface PinnedVault {
  readonly pin: VaultPin;
  readonly vault: OpenVault | null;
}

export interface VaultRegistry {
  readonly connection: Connection;
  readonly signer: Signer;
  readonly chain: Chain;
  readonly platform: CryptoPlatform;
  readonly pins: PinStore;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Read again each time: it is replaced when rights were taken away. */
  wrap(): SealKeyWrap;
  /** What was seen of the vault with this chain object: one memory per client. */
  seen(chainObjectId: string): Promise<SeenMemory>;
  /** Forgets session keys and open vaults, and keeps everything seen; the next use begins afresh. Calls under way keep their keys. */
  forget(): void;
  /** The same, and overwrites all keys: calls under way that need one fail with `keys_forgotten`. */
  forgetKeys(): void;
  /** The client's pin of this vault; set now at the first meeting. */
  pin(vaultId: string, options?: CallOptions): Promise<VaultPin>;
  /**
   * Pins a vault that is read for the first time, or was just made.
   * @throws VaultError `vault_changed` if it is pinned to something else.
   */
  pinFirst(vault: Pick<Vault, "id" | "type" | "chainObjectId">, ownerAddress: string | null): Promise<VaultPin>;
  /** The places of files and folders in this machine's memory. */
  readonly homes: Homes;
  /** null: a public vault. */
  find(vaultId: string, options?: CallOptions): Promise<OpenVault | null>;
  /** Like `find`, with its pin. */
  open(vaultId: string, options?: CallOptions): Promise<PinnedVault>;
  /**
   * Like `find` for a pinned vault. Opens another one as the service shows it first, without pinning it. For vaults
   * that answers name.
   */
  findUnpinned(vaultId: string, options?: CallOptions): Promise<OpenVault | null>;
}

/** What the rooms beside this file share of one client: the chain, the key servers, the pins. */
import type { Vault } from "@coffer/contract";
import type { Chain, SealKeyWrap } from "@coffer/chain";
import type { CryptoPlatform } from "@coffer/crypto";
import type { Signer } from "../chain/signer.ts";
import type { Connection, CallOptions } from "../options.ts";
import type { Homes } from "./memory/homes.ts";
import type { OpenVault } from "./open-vault.ts";
import type { PinStore, VaultPin } from "./memory/pins.ts";
import type { SeenMemory } from "./memory/seen.ts";

/** null: a public vault. */
export interface PinnedVault {
  readonly pin: VaultPin;
  readonly vault: OpenVault | null;
}

export interface VaultSession {
  readonly connection: Connection;
  readonly signer: Signer;
  readonly chain: Chain;
  readonly platform: CryptoPlatform;
  readonly pins: PinStore;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Asked anew each time: it is replaced when rights were taken away. */
  wrap(): SealKeyWrap;
  /** What was seen of the vault that is this chain object: one memory for as long as the client lives. */
  seen(chainObjectId: string): Promise<SeenMemory>;
  /** Forgets session keys and open vaults, and nothing that was seen; the next use begins afresh. */
  forget(): void;
  /** What the client holds this vault to; pinned now when it is met for the first time. */
  pin(vaultId: string, options?: CallOptions): Promise<VaultPin>;
  /** Pins a vault that is read for the first time, or was just made. @throws VaultError `vault_changed` where it is pinned to something else. */
  adopt(vault: Pick<Vault, "id" | "type" | "chainObjectId">, ownerAddress: string | null): Promise<VaultPin>;
  /** Where files and folders lie, as this machine knows it. */
  readonly homes: Homes;
  /** null: a public vault. */
  find(vaultId: string, options?: CallOptions): Promise<OpenVault | null>;
  /** As `find`, with the pin that it is held to. */
  open(vaultId: string, options?: CallOptions): Promise<PinnedVault>;
  /** As `find` for a vault that is pinned; another is opened as the service shows it first, and not pinned. For what answers name. */
  look(vaultId: string, options?: CallOptions): Promise<OpenVault | null>;
}

import type { ServiceIdentity, Signer } from "../signers/signer.ts";
import type { ContractError } from "../http/errors.ts";
import type { NetworkConfiguration, SealKeyWrap, SealKeyWrapOptions } from "@coffer/chain";
import type { CryptoPlatform } from "@coffer/crypto";
import type { Clock } from "../http/clock.ts";
import type { RetryBudget, RetryPolicy } from "../http/retry.ts";
import type { Secret } from "../http/secret.ts";
import type { PinStore } from "../shared-vaults/trust/pins.ts";
import type { NameStore } from "../search/name-store.ts";
import type { SeenStore } from "../shared-vaults/trust/seen-memory.ts";
import type { Middleware, Transport } from "../http/transports.ts";
import type { CreationJournal, UploadJournals } from "../transfer/journals.ts";

/** The content of the Authorization header, and how to get another when the service refuses it. */
export interface Bearer {
  /** null: the service's development rule decides who calls. */
  readonly secret: Secret | null;
  /** With that rule: the account to act as; null for the first one. */
  readonly userId: string | null;
  readonly renew: (() => Promise<void>) | null;
}

/** Limits in milliseconds. Bytes have no wall limit, only a stall limit. */
export interface TimeLimits {
  /** One attempt of a JSON call, or until the headers of a byte answer. Default: 30,000. */
  readonly attemptMs: number;
  /** All attempts of a JSON call, waits included. Default: 120,000. */
  readonly totalMs: number;
  /** Longest time in which no byte of a transfer moves. Default: 60,000. */
  readonly stallMs: number;
}

/** The client's identity on the chain, and which chain that is. The service provides none of it. */
export interface SharedVaultOptions {
  /** Its address must be on a vault's allowlist; the key never leaves this machine. */
  readonly signer: Signer;
  /** Chain node, package and key servers: see `@coffer/chain`. May hold API keys of key servers. */
  readonly network: NetworkConfiguration;
  /**
   * SHA-256 of the network's file as its operator gives it: 64 lower-case hex digits. Invites for shared vaults tell it, so that their readers
   * can take the file from the service. Default: none, and invites tell none.
   */
  readonly networkDigest?: string | undefined;
  /** The pins of vaults between runs. Default: in memory. */
  readonly pins?: PinStore | undefined;
  /** The statements seen, so that a later run accepts no older one. Default: in memory. */
  readonly seen?: SeenStore | undefined;
  /** The indexes of names between runs, for `client.search`. Default: in memory, built again by each client. */
  readonly names?: NameStore | undefined;
  /** Unfinished creations of vaults. Default: none, so a crash between chain and service leaves an unused vault object. */
  readonly creations?: CreationJournal | undefined;
  /** Unfinished uploads of a rotation. Default: none, so a large file begins again after its rotation was cut off. */
  readonly uploads?: UploadJournals | undefined;
  /** Carries requests to the chain and the key servers; Default: the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
  /** This machine's time in milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** Opens and seals vault keys; made when first needed. Default: `sealVaultKeyWrap` of `@coffer/chain`, which computes in this thread. */
  readonly keyWrap?: ((parts: KeyWrapParts) => SealKeyWrap) | undefined;
  /** Makes files as fast as the runtime can: `nodePlatform` of `@coffer/crypto/node`. Default: WebCrypto. */
  readonly platform?: CryptoPlatform | undefined;
}

/** The result of `sharedVaults` of `@coffer/sdk/shared`; spread it to change one of its fields. */
export interface SharedVaults extends SharedVaultOptions {
  /** Loads the code of shared vaults. Only `sharedVaults` makes it. */
  readonly code: () => Promise<unknown>;
}

/** The parts of a key wrap. */
export type KeyWrapParts = Pick<SealKeyWrapOptions, "network" | "signer" | "vaultObjects">;

/** Where and how calls go: options with their defaults, made once per client. */
export interface Connection {
  readonly baseUrl: string;
  readonly credential: () => Promise<Bearer | null>;
  /** The session that this client was opened with, to sign out of; null for a key, and for credentials from a function. */
  readonly session: { end(): Promise<Secret> } | null;
  /** The service that signatures must name. */
  readonly service: ServiceIdentity;
  readonly transport: Transport;
  readonly middleware: readonly Middleware[];
  readonly retry: RetryPolicy;
  readonly budget: RetryBudget;
  readonly timeouts: TimeLimits;
  readonly contractBroken: (error: ContractError) => void;
  readonly identification: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** null: this client neither reads nor writes shared vaults. */
  readonly sharedVaults: SharedVaults | null;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call when it aborts. Default: only the time limits do. */
  readonly signal?: AbortSignal | undefined;
  /** Names a mutation so that a repeat is not a second one. 1 to 255 characters. Default: random, once per call. */
  readonly idempotencyKey?: string | undefined;
  /** Milliseconds for one attempt. Default: that of the client, see {@link TimeLimits}. */
  readonly attemptMs?: number | undefined;
  /** Milliseconds for all attempts. Default: that of the client. */
  readonly totalMs?: number | undefined;
  /** Repeats after the first attempt; 0 for none. Default: `retry.limit` of the client, which is 4. */
  readonly retries?: number | undefined;
  /** Bytes of the request body handed to the transport in this attempt; 0 when an attempt begins. Default: no function. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/** For a proof that names the account. */
export interface AccountOptions extends CallOptions {
  /** UUID of the account. Default: the client asks the service for it. */
  readonly accountId?: string | undefined;
}

/** For an act on a file or folder that its id names. */
export interface PlaceOptions extends CallOptions {
  /**
   * The vault that the item is in. Clients with `sharedVaults` change nothing if the service shows the item in another
   * one (`vault_changed`). They also need it to name an item that this machine has not seen (`vault_required`). Default:
   * the vault that the service names.
   */
  readonly vaultId?: string;
}

/** For an act on what the caller has seen of a file or folder. */
export interface ConditionOptions extends CallOptions {
  /**
   * The `tag` that the file or folder must still have; else `precondition_failed`. In a shared vault a change that is
   * signed follows no other state, whatever the service does. `*`: whatever is newest. Default: what this call itself has
   * read of a shared vault's item, and in a public vault whatever is newest.
   */
  readonly ifMatch?: string | undefined;
}

/** For a change of a file or folder. */
export interface UpdateOptions extends PlaceOptions, ConditionOptions {}

/** A file or folder of many, with the `tag` that it must still have. */
export interface ConditionedItem {
  /** UUID of the file or folder. */
  readonly id: string;
  /** Its `tag`; see {@link ConditionOptions.ifMatch}. Default: as there. */
  readonly ifMatch?: string | undefined;
}

/** For a deletion of a file. */
export interface FileDeletion extends ConditionOptions {
  /** Deletes for good; the bytes leave the server's disk 24 hours later. Default: false, to the trash for 30 days. */
  readonly permanent?: boolean | undefined;
}

/** For a deletion of a vault. */
export interface VaultDeletion extends CallOptions {
  /** Also deletes a vault that is not empty. Default: false. */
  readonly force?: boolean | undefined;
  /** Deletes for good; the bytes leave the server's disk 24 hours later. Default: false, to the trash for 30 days. */
  readonly permanent?: boolean | undefined;
}

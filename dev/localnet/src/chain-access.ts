/**
 * What the local chain offers to what runs beside it: the key servers, and the tests' faults. Inside the package only;
 * programs use the network interface like on any other Sui network.
 */

/** The owner of an object, in the kinds of owners that the local chain has. */
export type ObjectOwner =
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "object"; readonly parent: string }
  | { readonly kind: "shared"; readonly initialVersion: bigint }
  | { readonly kind: "immutable" };

/** A Move object (not a package) in one version. */
export interface ChainObject {
  /** `0x` and 64 hex digits. */
  readonly id: string;
  readonly version: bigint;
  /** Base58, over the object's whole BCS form. */
  readonly digest: string;
  readonly owner: ObjectOwner;
  /** The full struct tag, addresses with 64 digits. */
  readonly type: string;
  /** BCS of the Move value; begins with the object's id. */
  readonly contents: Uint8Array;
  /** Digest of the transaction that wrote this version, Base58. */
  readonly previousTransaction: string;
}

/** An object as it is put on the chain by hand. The contents begin with the object's 32-byte id. */
export interface PutObject {
  readonly id: string;
  readonly type: string;
  readonly owner: ObjectOwner;
  readonly contents: Uint8Array;
}

/** A published package. */
export interface ChainPackage {
  readonly id: string;
  /** The package's first version; equal to `id` here, where packages are immutable. */
  readonly originalId: string;
  readonly version: bigint;
  readonly modules: ReadonlyMap<string, Uint8Array>;
}

/** How a simulated call ended. */
export type Simulation =
  | { readonly outcome: "succeeded" }
  /** Move code aborted: the call is refused by the package. `module` and `function` name where, as in `vault`, `seal_approve`. */
  | {
      readonly outcome: "aborted";
      readonly code: bigint;
      readonly module: string;
      readonly function: string;
      readonly message: string;
    }
  | { readonly outcome: "out_of_gas"; readonly message: string }
  /** An input object is not there, or not yet, in this view. */
  | { readonly outcome: "object_missing"; readonly objectId: string; readonly message: string }
  /** Anything else: types, visibility, unknown function or package. */
  | { readonly outcome: "invalid"; readonly message: string };

/** Reading the chain as one node sees it. A live view follows the chain; a frozen one (a snapshot) never changes. */
export interface ChainView {
  /** Base58 digest of the genesis checkpoint. */
  readonly chainId: string;
  /** Time of the newest checkpoint in this view, in milliseconds since 1970; a frozen view's does not move. */
  checkpointTime(): number;
  /** Null when there is no such object, or it is a package. */
  readObject(id: string): ChainObject | null;
  /** Null when there is no such package. */
  readPackage(id: string): ChainPackage | null;
  /**
   * Runs a programmable transaction (its BCS, i.e. a TransactionKind without its first byte) as `sender` against the newest
   * version of every object in this view; what it writes is thrown away. Versions named in the bytes are ignored, as Seal's
   * key servers do. `budget` is in MIST. Never throws for what the bytes hold.
   */
  simulateAs(sender: string, programmableTransaction: Uint8Array, budget: bigint): Simulation;
}

export interface ChainAccess extends ChainView {
  /** The chain's clock: milliseconds since 1970. */
  now(): number;
  /** The id under which the Coffer package was published at genesis (original and latest are the same). */
  readonly packageId: string;
  /**
   * Puts an object on the chain by hand, or a new version of it. Writing what is already there changes nothing, so it can be
   * called at each start. Durable before the promise resolves.
   */
  putObject(object: PutObject): Promise<ChainObject>;
  /** A frozen view of the chain as it is now: what a node that lags behind goes on seeing. */
  snapshot(): ChainView;
  /**
   * Whether `signature` (a serialised Sui signature, Base64) over the personal message is by `address`. It supports
   * every scheme of the SDK, and zkLogin with the development prover's attestation. False for anything malformed.
   */
  verifyPersonalMessage(message: Uint8Array, signature: string, address: string): Promise<boolean>;
}

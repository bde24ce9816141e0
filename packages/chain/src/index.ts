/**
 * `@coffer/chain`: Coffer's vaults on the Sui chain. Runs where there is `fetch`; nothing of Node.
 * @packageDocumentation
 */
export { type Chain, type ChainOptions, openChain } from "./chain.ts";
export { CHAIN_ERRORS, ChainError, type ChainErrorCode } from "./errors.ts";
export {
  isSealedForWriting,
  type KeyServerStatus,
  sealVaultKeyWrap,
  type SealKeyWrap,
  type SealKeyWrapOptions,
  type VaultLocation,
  type VaultObjects,
} from "./key-wrap/index.ts";
export {
  type KeyServer,
  type KeyServerSet,
  type NetworkConfiguration,
  networkConfiguration,
  parseNetworkConfiguration,
} from "./network.ts";
export { KNOWN_NETWORKS, type KnownNetwork, type UnpinnedKeyServerSet } from "./network-catalog.ts";
export { type Published, publishPackage, type PublishTarget } from "./publish.ts";
export { fromSuiSigner, type TransactionSigner } from "./signer.ts";
export { findMember, locateVault, toVaultView, type VaultObject } from "./vault-object.ts";
export { LAG_MS } from "./vault-at-node.ts";
export { MEMORY_MS, MOST_AHEAD_MS, type ReadOptions } from "./vault-reader.ts";
export { warningsAbout } from "./vault-room.ts";
export { type ActWarning, type ExecutionOptions, type SignedTransaction } from "./execution.ts";
export { encodeCreation, resumeCreation, type NewVaultFacts } from "./vault-creation.ts";
export {
  acceptOwnership,
  addMember,
  createVault,
  findCreatedVault,
  leave,
  offerOwnership,
  raiseFloor,
  removeMember,
  renew,
  setSigningKey,
  setUntil,
  sweep,
} from "./vault-transactions.ts";
export { mayStillRun, type OwnerActOptions, type VaultAct } from "./vault-act.ts";

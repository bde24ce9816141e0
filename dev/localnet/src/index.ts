/**
 * `@coffer/localnet`: DEVELOPMENT AND TEST ONLY. A local chain and Seal key servers for the unmodified `@mysten/sui` and
 * `@mysten/seal` clients, over loopback and in process.
 * @packageDocumentation
 */
export type { ChainAccess, ChainObject, ChainView, ObjectOwner, PutObject, Simulation } from "./chain-access.ts";
export { ChainInUseError } from "./chain/store.ts";
export type { FaucetGift } from "./faucet.ts";
export type { KeyServerFaults, KeyServerOptions, KeyServerRequests, KeyServerSet } from "./key-servers/index.ts";
export {
  type LateNode,
  type LocalNetworkConfiguration,
  type Localnet,
  type LocalnetOptions,
  type NodeFaults,
  openLocalnet,
} from "./localnet.ts";

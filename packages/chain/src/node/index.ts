/**
 * `@coffer/chain/node`: what needs Node. The key wrap in a worker, for processes that have others to answer meanwhile.
 * @packageDocumentation
 */
export { sealVaultKeyWrapInWorker, type WorkerKeyWrapOptions } from "./worker-key-wrap.ts";

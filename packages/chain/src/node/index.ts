/**
 * `@coffer/chain/node`: the parts that need Node. The key wrap in a worker, for processes that answer others
 * meanwhile.
 * @packageDocumentation
 */
export { sealVaultKeyWrapInWorker, type WorkerKeyWrapOptions } from "./worker-key-wrap.ts";

/**
 * `@coffer/chain/package`: the compiled Move package and the names in it. No dependency, no I/O.
 * @packageDocumentation
 */
export { ABORT_CODES, type AbortName, abortName, FUNCTIONS, type FunctionName, MODULE } from "./names.ts";
export { MODULES, PACKAGE_DIGEST } from "./modules.ts";

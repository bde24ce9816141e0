/**
 * `@coffer/mcp/http`: the shell that serves many keys over Streamable HTTP, for programs that embed it.
 * @packageDocumentation
 */
export { serveHttp, type HttpShell, type HttpShellOptions } from "./http.ts";
export {
  createKeys,
  KEY_LIMITS,
  type FoundKey,
  type KeyHolder,
  type KeyLimits,
  type Keys,
  type KeysOptions,
} from "./key-holders.ts";
export type { HttpLaunch } from "./launch.ts";

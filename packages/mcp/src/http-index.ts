/**
 * `@coffer/mcp/http`: the shell that serves many keys over Streamable HTTP, for programs that embed it.
 * @packageDocumentation
 */
export { serveHttp, type HttpShell, type HttpShellOptions } from "./http.ts";
export {
  KeyHolders,
  KEY_LIMITS,
  type KeyLookup,
  type KeyHolder,
  type KeyLimits,
  type KeyHoldersOptions,
} from "./key-holders.ts";
export type { HttpLaunch } from "./launch.ts";

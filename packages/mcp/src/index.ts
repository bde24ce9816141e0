/**
 * `@coffer/mcp`: the tool server for models. The process is `dist/main.js`; programs that embed it use {@link createServer}
 * with a service link and folders of `@coffer/tasks`.
 * @packageDocumentation
 */
export type { Launch, Profile } from "./launch.ts";
export { TOOLS } from "./registry.ts";
export { createServer, SERVER_NAME, SERVER_VERSION, type ServerParts } from "./server.ts";
export type { Annotations, Tool } from "./tool.ts";
export { chooseTools, listTools, type ListedTool } from "./tool-list.ts";
export { CredentialState } from "./credential-state.ts";
export {
  FileCallRecord,
  NO_CALL_RECORD,
  verifyCallRecord,
  type CallFacts,
  type CallRecord,
  type CallRecordReport,
} from "./call-record.ts";

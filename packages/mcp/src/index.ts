/**
 * `@coffer/mcp`: the tool server for models. The process is `dist/main.js`; programs that embed it use {@link createServer}
 * with a session and folders of `@coffer/tasks`.
 * @packageDocumentation
 */
export type { Launch, Profile } from "./launch.ts";
export { TOOLS } from "./registry.ts";
export { createServer, SERVER_NAME, SERVER_VERSION, type ServerParts } from "./server.ts";
export type { Annotations, Tool } from "./tool.ts";
export { chooseTools, listTools, type ToolEntry } from "./tool-list.ts";
export { createMemory, type Memory } from "./credential-state.ts";
export {
  createRecord,
  NO_RECORD,
  verifyRecord,
  type CallFacts,
  type CallRecord,
  type RecordReport,
} from "./call-record.ts";

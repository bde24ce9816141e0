/**
 * `@coffer/mcp`: the tool server for models. The process is `dist/main.js`; programs that embed it use {@link createServer}.
 * @packageDocumentation
 */
export type { SetupReport } from "./call.ts";
export { ToolFailure, type FailureCode } from "./failure.ts";
export type { Launch, Profile } from "./launch.ts";
export { resolveFolders, type AllowedFolders } from "./paths/allowed-folders.ts";
export { createRedaction, type Redaction } from "./redaction.ts";
export { chooseTools, TOOLS } from "./registry.ts";
export { createServer, SERVER_NAME, SERVER_VERSION, type ServerParts } from "./server.ts";
export { createSession, sessionOver, type KnownAccess, type Session, type SessionOptions } from "./session.ts";
export type { Annotations, Tool } from "./tool.ts";

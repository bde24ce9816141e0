/**
 * `@coffer/mcp`: the tool server for models. The process is `dist/main.js`; programs that embed it use {@link createServer}.
 * @packageDocumentation
 */
export { ToolFailure, type FailureCode } from "./failure.ts";
export type { Launch, Profile } from "./flags.ts";
export { resolveFolders, type AllowedFolders } from "./paths/allowed-folders.ts";
export { createRedaction, type Redaction } from "./redaction.ts";
export { chooseTools, TOOLS, type KnownAccess } from "./registry.ts";
export { createServer, SERVER_NAME, SERVER_VERSION, type ServerParts } from "./server.ts";
export { createSession, sessionOver, type Session, type SessionOptions, type SetupReport } from "./session.ts";
export type { Annotations, Tool } from "./tool.ts";

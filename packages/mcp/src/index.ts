/**
 * `@coffer/mcp`: the tool server for models. The process is `dist/main.js`; programs that embed it use {@link createServer}
 * with a session and folders of `@coffer/tasks`.
 * @packageDocumentation
 */
export { createConfirmations, type Confirmations } from "./confirmations.ts";
export type { Launch, Profile } from "./launch.ts";
export { chooseTools, TOOLS } from "./registry.ts";
export { createServer, SERVER_NAME, SERVER_VERSION, type ServerParts } from "./server.ts";
export type { Annotations, Tool } from "./tool.ts";
export { createTransfers, type Transfers } from "./transfers.ts";

/**
 * `@coffer/devstack`: DEVELOPMENT AND TEST ONLY. The whole stack in one process, for `npm start`, tests and examples.
 * @packageDocumentation
 */
export { launcherCommand, type LauncherCommand } from "./launcher.ts";
export { startStack, type Stack, type StackOptions } from "./stack.ts";
export { openToolClient, type ToolAnswer, type ToolClient, type ToolClientOptions } from "./tool-client.ts";

/**
 * `@coffer/devstack`: DEVELOPMENT AND TEST ONLY. The whole stack in one process, for `npm start`, tests and examples.
 * @packageDocumentation
 */
export { launcherCommand, type LauncherCommand } from "./launcher.ts";
export { startStack, type Stack, type StackOptions } from "./stack.ts";
export {
  numberFact,
  openToolClient,
  textFact,
  type ToolAnswer,
  type ToolClient,
  type ToolClientOptions,
} from "./tool-client.ts";
export { startWebhookSink, type WebhookSink } from "./webhook-sink/sink.ts";
export type { Answer } from "./webhook-sink/answers.ts";
export type { SunkDelivery } from "./webhook-sink/deliveries.ts";

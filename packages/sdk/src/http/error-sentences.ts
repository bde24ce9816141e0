/** Every sentence that an error of the service, of the input or of the connection can need: loaded by `load-error-sentences.ts`. */
export { describeIssues, ERROR_TEXTS, stepOfRefusedKey } from "@coffer/contract";
export { connectionWords, pageWords, proxyStep } from "./connection-words.ts";

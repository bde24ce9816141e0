/** What `npm start` says of a failure: a sentence and what to do about it; a stack trace only for what nobody foresaw. */
import { SdkError } from "@coffer/sdk";
import { LocalNetworkError } from "./local-network.ts";
import { shown } from "./report.ts";
import { DataDirectoryError } from "./stack.ts";
import { StartError } from "./start-error.ts";

/** Chain, key servers and service are in one directory. The loss of one part shows as an error of the client that uses them. */
export function failureSentence(error: unknown, dataDirectory: string): string {
  if (error instanceof StartError || error instanceof LocalNetworkError) return error.message;
  if (error instanceof DataDirectoryError) return shown(error.message);
  if (error instanceof SdkError) {
    const { message, nextStep, code } = error;
    return `${shown(message)} (${code}). ${shown(nextStep)} ${adviceFor(dataDirectory)}`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function adviceFor(dataDirectory: string): string {
  const [data, chain] = [shown(dataDirectory), shown(`${dataDirectory}/localnet`)];
  return `If a part of ${data} was lost, such as ${chain}, its shared vaults stay closed. Put that part back, or start afresh on another directory with --data.`;
}

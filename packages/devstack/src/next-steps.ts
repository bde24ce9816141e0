/** What a person does after `npm start`: three blocks, each works as it is pasted. */
import { join } from "node:path";
import { clientConfiguration } from "./launcher.ts";

export interface Surroundings {
  readonly baseUrl: string;
  readonly credentialsFile: string;
  /** The keys of the user's agent. */
  readonly agentFile: string;
  /** The folder that the agent may touch. */
  readonly folder: string;
  readonly repository: string;
  /** The user's working directory. */
  readonly workingDirectory: string;
}

/** Lines to print. A block starts at the beginning of its line, between empty lines. */
export function nextSteps(around: Surroundings): string[] {
  return [
    "What next",
    "",
    '1. Let an agent use it. It is a member of your shared vault "My files" for 90 days. Paste this into the configuration of your MCP client:',
    "",
    JSON.stringify(clientConfiguration(around.agentFile, around.folder), null, 2),
    "",
    `   Then ask it: ${firstAsk(around.folder)}`,
    "",
    "2. Call the API. Paste this into another shell; the key comes from its file and shows nowhere:",
    "",
    curlLine(around),
    "",
    "3. Run the SDK. Paste this into another shell; without a name it lists all examples:",
    "",
    exampleLine(around),
    "",
  ];
}

function firstAsk(folder: string): string {
  return `"Store the files of ${folder} in my vault, and tell me what is there."`;
}

/** The header goes through a pipe: a key among the arguments would show in the list of processes. */
function curlLine({ baseUrl, credentialsFile }: Surroundings): string {
  const header = String.raw`/"apiKey"/{s/.*: "\(.*\)".*/authorization: Bearer \1/p;q;}`;
  return `sed -n '${header}' ${quoted(credentialsFile)} | curl -sS -H @- ${baseUrl}/api/account; echo`;
}

function exampleLine({ credentialsFile, repository, workingDirectory }: Surroundings): string {
  const usual = credentialsFile === join(repository, ".coffer", "credentials.json");
  return [
    ...(usual ? [] : [`SERVICE_CONFIG_FILE=${quoted(credentialsFile)}`]),
    "npm",
    ...(workingDirectory === repository ? [] : ["--prefix", quoted(repository)]),
    "run example -- sdk-transfer",
  ].join(" ");
}

/** One word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

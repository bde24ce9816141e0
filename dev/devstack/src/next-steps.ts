/** What a person does after `npm start`: blocks, each of which works as it is pasted. */
import { PROFILE } from "./account.ts";
import { clientConfiguration } from "./launcher.ts";
import { quoted } from "./shell-words.ts";

export interface Surroundings {
  readonly baseUrl: string;
  readonly credentialsFile: string;
  /** The keys of the user's agent. */
  readonly agentFile: string;
  readonly dataDirectory: string;
  /** What other shells source. */
  readonly environmentFile: string;
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
    "2. Go on in another shell: paste this there first. The blocks of README and the guides take addresses and paths from it:",
    "",
    `. ${quoted(around.environmentFile)}`,
    "",
    "3. Call the API as the owner; the key comes from its file and shows nowhere:",
    "",
    curlLine(around),
    "",
    "4. Run the SDK as the owner; without a name it lists all examples:",
    "",
    exampleLine(around),
    "",
    "5. Sign up like a person, with an access code of this service:",
    "",
    accessCodeLine(around),
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

function exampleLine(around: Surroundings): string {
  // The shell may name a profile of the reader's own configuration.
  return `SERVICE_PROFILE=${PROFILE} SERVICE_CONFIG_FILE=${quoted(around.credentialsFile)} ${npmIn(around)} run example -- sdk-transfer`;
}

/** An operator's command: it works on the data of the running service. */
function accessCodeLine(around: Surroundings): string {
  const settings = `SERVICE_ENV=development SERVICE_DATA_DIR=${quoted(around.dataDirectory)}`;
  return `${settings} ${npmIn(around)} run --silent server -- access-codes create`;
}

function npmIn({ repository, workingDirectory }: Surroundings): string {
  return workingDirectory === repository ? "npm" : `npm --prefix ${quoted(repository)}`;
}

/** TEST ONLY: an operator's command, as the shell would run it on the data in a directory. */
import { parseConfig } from "../config.ts";
import { knownEnvironment } from "../storage.test-kit.ts";
import { findCommand } from "./commands.ts";

export function runCommand(directory: string, ...words: string[]) {
  return runAsked(directory, null, ...words);
}

/** With somebody at a terminal who answers every question so. */
export async function runAsked(directory: string, answer: string | null, ...words: string[]) {
  const found = findCommand(words);
  if (found === null) throw new Error(`there is no command ${words.join(" ")}`);
  const said = { out: "", note: "" };
  const status = await found.command.run(
    parseConfig({ SERVICE_ENV: "development", SERVICE_DATA_DIR: directory, ...knownEnvironment(directory) }),
    found.options,
    {
      out: (text) => void (said.out += text),
      note: (text) => void (said.note += text),
      ask: () => Promise.resolve(answer),
      envFile: null,
      serveTrial: () => Promise.reject(new Error("no test serves a trial in this process")),
    },
  );
  return { status, ...said };
}

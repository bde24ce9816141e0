/** `coffer` as somebody runs it: a program of its own, piped or in a pseudo-terminal, with a configuration of its own. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import assert from "node:assert/strict";
import { runInTerminal, runProgram, type ProgramRan, type TerminalRan, type Typed } from "../../kit/coffer-program.ts";
import type { SharedPerson, SharedService } from "./shared-service.ts";
import { parseObject } from "./stack.ts";

type Variables = Readonly<Record<string, string>>;

export interface CofferUser {
  /** All of the environment but PATH. */
  readonly env: Variables;
  /** Where config.json is. */
  readonly configuration: string;
  run(words: readonly string[], more?: { readonly input?: string; readonly env?: Variables }): Promise<ProgramRan>;
  /** The one document of `--json`, of a command that succeeds. */
  document(...words: string[]): Promise<Readonly<Record<string, unknown>>>;
  /** In a pseudo-terminal. */
  type(words: readonly string[], typed?: readonly Typed[]): Promise<TerminalRan>;
}

export async function openCofferUser(scratch: string, variables: Variables): Promise<CofferUser> {
  const home = await mkdtemp(join(scratch, "home-"));
  const env = { HOME: home, ...variables };
  const run: CofferUser["run"] = (words, { input = "", env: more = {} } = {}) =>
    runProgram(words, { env: { ...env, ...more }, input, cwd: home });
  return {
    env,
    run,
    configuration: join(home, ".config", "coffer"),
    document: async (...words) => {
      const { code, out, err } = await run([...words, "--json"]);
      assert.equal(code, 0, out + err);
      assert.match(out, /^[^\n]+\n$/);
      return parseObject(out);
    },
    type: (words, typed = []) => runInTerminal(words, { env, cwd: home, typed }),
  };
}

/** With the keys of a person in the environment. */
export function cofferOf(
  { baseUrl, networkFile }: Pick<SharedService, "baseUrl" | "networkFile">,
  { apiKey, privateKey }: Pick<SharedPerson, "apiKey" | "privateKey">,
  scratch: string,
  more: Variables = {},
): Promise<CofferUser> {
  return openCofferUser(scratch, {
    SERVICE_BASE_URL: baseUrl,
    SERVICE_API_KEY: apiKey,
    SERVICE_CHAIN_PRIVATE_KEY: privateKey,
    SERVICE_NETWORK_FILE: networkFile,
    ...more,
  });
}

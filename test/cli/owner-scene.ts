/** A stack with an owner and agents, whose commands run in this process or as programs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { coffer, type Ran, type Situation } from "../kit/coffer.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";

export interface Shell {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** The command's words, and what came of it. */
  run(words: readonly string[], situation?: Situation): Promise<Ran>;
  /** The one document of `--json`. */
  json<Value = Record<string, unknown>>(words: readonly string[], situation?: Situation): Promise<Value>;
}

export interface Scene {
  readonly stack: SharedStack;
  readonly networkFile: string;
  readonly owner: Shell;
  shellOf(
    person: Pick<SharedPerson, "apiKey" | "privateKey">,
    more?: Readonly<Record<string, string | undefined>>,
  ): Shell;
}

export async function openScene(stack: SharedStack): Promise<Scene> {
  const networkFile = join(makeDirectory(), "network.json");
  writeFileSync(networkFile, JSON.stringify(stack.localnet.network()));
  const shellOf: Scene["shellOf"] = ({ apiKey, privateKey }, more = {}) => {
    const home = makeDirectory();
    const given = {
      SERVICE_BASE_URL: stack.baseUrl,
      SERVICE_API_KEY: apiKey,
      SERVICE_CHAIN_PRIVATE_KEY: privateKey,
      SERVICE_NETWORK_FILE: networkFile,
      ...more,
    };
    const env = Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ) as Record<string, string>;
    const run: Shell["run"] = (words, situation = {}) =>
      coffer(words, home, { ...situation, env: { ...env, ...situation.env } });
    return {
      home,
      env,
      run,
      json: async <Value>(words: readonly string[], situation?: Situation) => {
        const ran = await run([...words, "--json"], situation);
        return onlyDocument(ran) as Value;
      },
    };
  };
  return { stack, networkFile, owner: shellOf(stack.owner), shellOf };
}

/** Exactly one line, and nothing else on standard output. */
export function onlyDocument({ out, err }: Ran): unknown {
  const lines = out.split("\n");
  if (lines.length !== 2 || lines[1] !== "") throw new Error(`not one document: ${out}${err}`);
  return JSON.parse(lines[0] ?? "");
}

export { openSharedStack };

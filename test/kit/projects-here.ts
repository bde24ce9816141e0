/** Small projects with the packed packages (`test/projects`), and the stack that their programs use. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { startStack, type Stack } from "@coffer/devstack";
import { afterAll, beforeAll, type TestContext } from "vitest";
import { makeDirectory } from "./directory.ts";
import { installProject } from "../projects/install.ts";
import { packInto, plainEnvironment, PUBLISHED } from "./packed.ts";

const PROJECTS = join(import.meta.dirname, "..", "projects");
/** What the programs of all kinds share. */
const SHARED = ["scenario", "node-receiver", "plain-settings", "refusals"];

const execute = promisify(execFile);

/** Longer than any program takes on a busy machine; what hangs is ended by it. */
export const PATIENCE_MS = 600_000;

export interface ProjectsHere {
  /** The stack, while the tests run. */
  readonly stack: () => Stack;
  /** The owner's settings as variables, with the network's text in `NETWORK`, for programs that read no files. */
  readonly ownerVariables: () => Readonly<Record<string, string>>;
  /** A copy of the project with what it needs installed, and `more` packages. */
  readonly install: (context: TestContext, kind: string, more?: readonly string[]) => Promise<string>;
  /** What the program prints. It has the stack's settings, and those of `environment`. */
  readonly run: (
    program: string,
    cwd: string,
    words: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ) => Promise<string>;
}

/** For the top of a test file: packs the packages and starts a stack before its tests, and ends it after them. */
export function projectsOfFile(): ProjectsHere {
  let packed: string;
  let stack: Stack;
  beforeAll(async () => {
    packed = makeDirectory();
    await packInto(packed, PUBLISHED);
    stack = await startStack();
  }, PATIENCE_MS);
  afterAll(() => stack.close());
  return {
    stack: () => stack,
    ownerVariables: () => {
      const { profiles } = JSON.parse(readFileSync(stack.credentialsFile, "utf8")) as {
        readonly profiles: { readonly default: { readonly chainPrivateKey: string } };
      };
      return {
        SERVICE_BASE_URL: stack.baseUrl,
        SERVICE_API_KEY: stack.apiKey,
        SERVICE_CHAIN_PRIVATE_KEY: profiles.default.chainPrivateKey,
        NETWORK: readFileSync(stack.networkFile, "utf8"),
      };
    },
    install: (context, kind, more = []) => installProject(context, kind, { packed, more, prepare: writeShared }),
    // Without what tests preload into every program: with `--import`, Node 22.18 loads CommonJS in another way, in which `require` of an ES
    // module with chunks fails.
    run: async (program, cwd, words, environment = {}) => {
      const settings = {
        SERVICE_CONFIG_FILE: stack.credentialsFile,
        SERVICE_CONFIG_DIR: join(makeDirectory(), "settings"),
      };
      const env = { ...plainEnvironment(), ...settings, ...environment };
      const { stdout } = await execute("env", ["-u", "NODE_OPTIONS", program, ...words], {
        cwd,
        env,
        timeout: PATIENCE_MS,
      });
      return stdout.trim();
    },
  };
}

/** As TypeScript for a project that compiles, and for the others without types: `import` and `require` both take those. */
function writeShared(directory: string): void {
  const compiles = existsSync(join(directory, "tsconfig.json"));
  for (const name of SHARED) {
    const text = readFileSync(join(PROJECTS, `${name}.ts`), "utf8");
    const file = join(directory, compiles ? `${name}.ts` : `${name}.mjs`);
    writeFileSync(file, compiles ? text : stripTypeScriptTypes(text));
  }
}

/**
 * A program that an optional dependency of the project brought for this system, by the paths that it may have in node_modules. Skips the test
 * where there is none.
 */
export function programOf(context: TestContext, directory: string, paths: readonly string[]): string {
  const file = paths.map((path) => join(directory, "node_modules", path)).find((path) => existsSync(path));
  return file ?? context.skip(`not for this system: none of ${paths.join(", ")} was installed`);
}

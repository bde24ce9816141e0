import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { rollup } from "rollup";
import { defineConfig, type Options } from "tsup";
import { quick } from "./scripts/quick-modules.ts";

type Plugin = NonNullable<Options["plugins"]>[number];

// One build for every published package. `COFFER_BUILD=programs` builds only the programs: the one that MCP clients start, and the
// command line. That is what the set-up needs; `npm run build` builds everything, declarations included.

/** What the published packages promise to run on (their `engines`). */
const TARGET = "node22.18";

/** Where a program's parts stand, beside it. */
const PARTS = "launcher";
const DAY_MS = 24 * 60 * 60_000;

const packageDirectory = (name: string): string => path.join(import.meta.dirname, "packages", name);
/** A program before {@link mergeStart}. */
const unmerged = (name: string): string => path.join(packageDirectory(name), "dist", ".unmerged");
/** `coffer.mjs` before its head is put on. */
const HEADLESS = path.join(packageDirectory("cli"), "dist", ".headless");

/**
 * What pages bundle. Each module of these is translated to a file of its own, with its imports as they are: a bundler drops whole files
 * that nothing uses, and follows what stands in a shared part.
 */
const FOR_PAGES: ReadonlySet<string> = new Set(["contract", "crypto", "sdk"]);

/** Imports of files beside it name the translated ones. Both endings are as long, so that source maps stay true. */
const toTranslated: Plugin = {
  name: "to-translated",
  renderChunk: (code) => ({ code: code.replaceAll(/(\b(?:from|import) ?\(?"\.{1,2}\/[^"\n]*)\.ts"/g, '$1.js"') }),
};

/** The entries are the package's own `exports`: each source is built to the file that its export names. */
const library = (name: string): Options => ({
  name: `@coffer/${name}`,
  ...(FOR_PAGES.has(name)
    ? { entry: modulesOf(name), bundle: false, splitting: false, plugins: [toTranslated] }
    : { entry: entriesOf(name), splitting: true }),
  outDir: path.join(packageDirectory(name), "dist"),
  tsconfig: path.join(import.meta.dirname, "tsconfig.json"),
  format: "esm",
  target: TARGET,
  // Nothing is assumed of the runtime; `./node` entries import `node:` modules by name. All entries of a package are
  // built together, so that they share one copy of every class.
  platform: "neutral",
  // tsup leaves to the consumer what the package.json of the working directory declares, and that is the repository's:
  // name what this package declares.
  external: [/^node:/, ...declared(name).map((dependency) => new RegExp(`^${dependency}($|/)`))],
  skipNodeModulesBundle: true,
  dts: { entry: entriesOf(name), compilerOptions: { customConditions: ["coffer-source"] } },
  sourcemap: true,
  // Chunks are named by their content, so old ones pile up; the launcher next to them is built by itself.
  clean: ["!main.js", "!coffer.mjs", `!${PARTS}/**`, "!.unmerged/**", "!.headless/**"],
  // tsup strips "node:" by default, and `sqlite` or `test` without it name packages of the registry.
  removeNodeProtocol: false,
});

/**
 * zkLogin alone hashes with poseidon, and its constants take 80 ms to read: a command that opens a vault does without.
 * The names are those that `@mysten/sui` imports.
 */
const later: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "later",
  setup: (build) => {
    build.onResolve({ filter: /^poseidon-lite$/ }, ({ kind }) =>
      kind === "import-statement" ? { path: "poseidon-lite", namespace: "later" } : null,
    );
    build.onLoad({ filter: /.*/, namespace: "later" }, () => ({
      contents: Array.from({ length: 16 }, (_, at) => `poseidon${String(at + 1)}`)
        .map((name) => `export const ${name} = (...inputs) => require("poseidon-lite").${name}(...inputs);`)
        .join("\n"),
      resolveDir: import.meta.dirname,
    }));
  },
};

/** Modules that the launcher has in a smaller form: messages in one language, and a validator without a compiler. */
const SMALLER: Readonly<Record<string, string>> = {
  "@modelcontextprotocol/server/_shims": "@modelcontextprotocol/server/dist/shimsBrowser.mjs",
};

const smaller: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "smaller",
  setup: (build) => {
    build.onResolve({ filter: /_shims$/ }, ({ path: name }) => {
      const file = SMALLER[name];
      return file === undefined ? null : { path: path.join(import.meta.dirname, "node_modules", file) };
    });
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/**
 * Everything in it: it needs no node_modules next to it. What opens shared vaults and talks to a chain stands in parts beside it, which are
 * read when a tool or a command first needs them; in one file all of it would be parsed at every start.
 */
const program = (name: string): Options => ({
  name: `@coffer/${name} (program)`,
  entry: { main: path.join(packageDirectory(name), "src/main.ts") },
  outDir: unmerged(name),
  tsconfig: path.join(import.meta.dirname, "tsconfig.json"),
  format: "esm",
  target: TARGET,
  platform: "node",
  onSuccess: () => mergeStart(name),
  noExternal: [/^[^.]/],
  splitting: true,
  sourcemap: false,
  minify: true,
  esbuildPlugins: [smaller, later, quick(path.join(import.meta.dirname, "scripts"))],
  removeNodeProtocol: false,
  // CommonJS dependencies inside an ES module still call require() for Node's own modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  esbuildOptions: (options) => {
    options.conditions = ["coffer-source"];
    options.chunkNames = "[name]-[hash]";
  },
});

/** Runs before anything else of `coffer.mjs`: nothing of it is imported, so a Node that is too old comes this far. */
const HEAD_OF_ONE_FILE = `#!/usr/bin/env node
{
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 18)) {
    process.stderr.write("coffer.mjs: needs Node 22.18 or newer, and this is Node " + process.versions.node + " at " + process.execPath + ". Install a newer one, or run coffer.mjs with it\\n");
    process.exit(1);
  }
}
const require = globalThis.process.getBuiltinModule("node:module").createRequire(import.meta.url);
`;

/** In the place of the command line's first module. Both programs share most of their code. */
const entryOfOneFile: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "entry-of-one-file",
  setup: (build) => {
    const directory = path.join(packageDirectory("cli"), "src");
    build.onLoad({ filter: /[\\/]cli[\\/]src[\\/]main\.ts$/ }, () => ({
      contents: [
        'import { TOOL_SERVER_WORD } from "./one-file.ts";',
        "if (process.argv[2] === TOOL_SERVER_WORD) {",
        "  process.argv.splice(2, 1);",
        '  void import("../../mcp/src/process.ts");',
        '} else void import("./process.ts");',
      ].join("\n"),
      loader: "ts",
      resolveDir: directory,
    }));
  },
};

/** `coffer.mjs`: the command line and the tool server, for machines that have Node and nothing else. It needs no file beside it. */
const oneFile = (): Options => {
  const { banner: _ofParts, name: _ofPackage, ...common } = program("cli");
  const directory = path.join(packageDirectory("cli"), "dist");
  return {
    ...common,
    name: "coffer.mjs",
    entry: { coffer: path.join(packageDirectory("cli"), "src/main.ts") },
    esbuildPlugins: [...(common.esbuildPlugins ?? []), entryOfOneFile],
    outDir: HEADLESS,
    splitting: false,
    outExtension: () => ({ js: ".mjs" }),
    define: { COFFER_IS_ONE_FILE: "true" },
    onSuccess: async () => {
      const built = path.join(HEADLESS, "coffer.mjs");
      const { code } = quickBuiltins(readFileSync(built, "utf8"));
      if (/(?:^|[;}\n])import\s*[\w{*"']/.test(code))
        throw new Error("coffer.mjs imports something before it has looked at its Node");
      mkdirSync(directory, { recursive: true });
      writeFileSync(path.join(directory, "coffer.mjs"), HEAD_OF_ONE_FILE + code, { mode: 0o755 });
      rmSync(HEADLESS, { recursive: true });
    },
  };
};

const PROGRAMS = ["mcp", "cli"];

/** Every package that is published. */
const libraries = readdirSync(path.join(import.meta.dirname, "packages"))
  .filter((name) => readManifest(name).private !== true)
  .map(library);

for (const name of PROGRAMS) removeOldParts(path.join(packageDirectory(name), "dist", PARTS));

const programs = [...PROGRAMS.map(program), oneFile()];
export default defineConfig(process.env["COFFER_BUILD"] === "programs" ? programs : [...libraries, ...programs]);

interface Manifest {
  readonly private?: boolean;
  /** A text is a file that is published as it is. */
  readonly exports: Readonly<Record<string, string | { readonly "coffer-source": string; readonly import: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Parts are named by their content. A program that runs still reads those of its own build, so the newer of them stay. */
function removeOldParts(directory: string): void {
  if (!existsSync(directory)) return;
  for (const name of readdirSync(directory)) {
    const file = path.join(directory, name);
    if (Date.now() - statSync(file).mtimeMs > DAY_MS) rmSync(file, { force: true });
  }
}

/**
 * Everything up to the first list in one file, the rest in parts that are read when a tool needs them. esbuild splits a part for each
 * combination of importers: it takes as long to find twenty files as to run them. Rollup puts together what is always read together.
 */
async function mergeStart(name: string): Promise<void> {
  const input = path.join(unmerged(name), "main.js");
  const bundle = await rollup({
    input,
    external: /^node:/,
    treeshake: false,
    onLog: () => undefined,
  });
  await bundle.write({
    dir: path.join(packageDirectory(name), "dist"),
    format: "esm",
    compact: true,
    hoistTransitiveImports: false,
    manualChunks: (id, { getModuleInfo }) => (isOfStart(id, input, getModuleInfo) ? "start" : undefined),
    chunkFileNames: `${PARTS}/[name]-[hash].js`,
    // The entry is read by a Node of any age, which has only imports.
    plugins: [{ name: "quick-builtins", renderChunk: (code, { isEntry }) => (isEntry ? null : quickBuiltins(code)) }],
  });
  await bundle.close();
  rmSync(unmerged(name), { recursive: true });
}

type ModuleInfos = (
  id: string,
) => { readonly importedIds: readonly string[]; readonly dynamicallyImportedIds: readonly string[] } | null;

/** What the first module loads, and what that imports at once. */
function isOfStart(id: string, input: string, infoOf: ModuleInfos): boolean {
  const seen = new Set<string>();
  const waiting = [...(infoOf(input)?.dynamicallyImportedIds ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    waiting.push(...(infoOf(next)?.importedIds ?? []));
  }
  return seen.has(id);
}

/** An import of a built-in module reads all its members, and some of them load much more. */
function quickBuiltins(code: string): { code: string; map: null } {
  const quick = code.replaceAll(
    /\bimport\s*(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)|\{([^}]*)\})?\s*from\s*["'](node:[\w/]+)["'];?/g,
    (_all, whole?: string, namespace?: string, names?: string, from?: string) => {
      const get = `globalThis.process.getBuiltinModule("${from ?? ""}")`;
      if (from === "node:crypto" && names !== undefined) return lateFunctions(from, names);
      const members = names?.replaceAll(/\bas default\b/g, "").replaceAll(/([\w$]+)\s+as\s+([\w$]+)/g, "$1:$2");
      return [
        ...[whole, namespace].flatMap((name) => (name === undefined ? [] : [`const ${name}=${get};`])),
        ...(members === undefined ? [] : [`const {${members}}=${get};`]),
      ].join("");
    },
  );
  return { code: quick, map: null };
}

/** Functions of a module that is loaded when one of them is first called: nothing needs `node:crypto` before the first call. */
function lateFunctions(from: string, names: string): string {
  return names
    .split(",")
    .map((each) => each.trim().split(/\s+as\s+/))
    .map(
      ([name = "", own = name]) =>
        `const ${own}=(...given)=>globalThis.process.getBuiltinModule("${from}").${name}(...given);`,
    )
    .join("");
}

function entriesOf(name: string): Record<string, string> {
  const targets = Object.values(readManifest(name).exports).filter((target) => typeof target !== "string");
  return Object.fromEntries(
    targets.map((target) => [
      target.import.replace(/^\.\/dist\//, "").replace(/\.js$/, ""),
      path.join(packageDirectory(name), target["coffer-source"]),
    ]),
  );
}

/** Every module but those of tests, by its path. */
function modulesOf(name: string): Record<string, string> {
  const source = path.join(packageDirectory(name), "src");
  const modules = globSync("**/*.ts", { cwd: source, exclude: ["**/*.test.ts", "**/test-*.ts"] });
  return Object.fromEntries(modules.map((file) => [file.replace(/\.ts$/, ""), path.join(source, file)]));
}

function declared(name: string): string[] {
  const { dependencies = {}, peerDependencies = {} } = readManifest(name);
  return [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
}

function readManifest(name: string): Manifest {
  return JSON.parse(readFileSync(path.join(packageDirectory(name), "package.json"), "utf8")) as Manifest;
}

import { existsSync, globSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { defineConfig, type Options } from "tsup";

type Plugin = NonNullable<Options["plugins"]>[number];

// One build for every published package. `COFFER_BUILD=launcher` builds only the program that MCP clients start, which
// is what the set-up needs; `npm run build` builds everything, declarations included.

/** What the published packages promise to run on (their `engines`). */
const TARGET = "node22.18";

/** Where the launcher's parts stand, beside it. */
const LAUNCHER_PARTS = "launcher";
const DAY_MS = 24 * 60 * 60_000;

const packageDirectory = (name: string): string => path.join(import.meta.dirname, "packages", name);

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
  clean: ["!main.js", "!main.js.map", `!${LAUNCHER_PARTS}/**`],
  // tsup strips "node:" by default, and `sqlite` or `test` without it name packages of the registry.
  removeNodeProtocol: false,
});

/**
 * Everything in it: it needs no node_modules next to it. What opens shared vaults and talks to a chain stands in parts beside it, which are
 * read when a tool first needs them; in one file all of it would be parsed at every start.
 */
const launcher: Options = {
  name: "coffer-mcp",
  entry: { main: path.join(packageDirectory("mcp"), "src/main.ts") },
  outDir: path.join(packageDirectory("mcp"), "dist"),
  tsconfig: path.join(import.meta.dirname, "tsconfig.json"),
  format: "esm",
  target: TARGET,
  platform: "node",
  noExternal: [/^[^.]/],
  splitting: true,
  sourcemap: true,
  removeNodeProtocol: false,
  // CommonJS dependencies inside an ES module still call require() for Node's own modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  esbuildOptions: (options) => {
    options.conditions = ["coffer-source"];
    options.chunkNames = `${LAUNCHER_PARTS}/[name]-[hash]`;
  },
};

/** Every package that is published. */
const libraries = readdirSync(path.join(import.meta.dirname, "packages"))
  .filter((name) => readManifest(name).private !== true)
  .map(library);

removeOldParts(path.join(packageDirectory("mcp"), "dist", LAUNCHER_PARTS));

export default defineConfig(process.env["COFFER_BUILD"] === "launcher" ? launcher : [...libraries, launcher]);

interface Manifest {
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, { readonly "coffer-source": string; readonly import: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Parts are named by their content. A launcher that runs still reads those of its own build, so the newer of them stay. */
function removeOldParts(directory: string): void {
  if (!existsSync(directory)) return;
  for (const name of readdirSync(directory)) {
    const file = path.join(directory, name);
    if (Date.now() - statSync(file).mtimeMs > DAY_MS) rmSync(file, { force: true });
  }
}

function entriesOf(name: string): Record<string, string> {
  const targets = Object.values(readManifest(name).exports);
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

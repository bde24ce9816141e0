import { globSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { defineConfig, type Options } from "tsup";
import { BUNDLED, serverProgram } from "./dev/scripts/server-program.ts";

// One build for every published package, one for each program, and `coffer.mjs`, which is the command line and the tool server in one file. `COFFER_BUILD=programs`
// is what the set-up needs: the programs alone, and nothing is removed first, so that a program that runs finds its modules.

const IS_SETUP = process.env["COFFER_BUILD"] === "programs";

/** What the published packages promise to run on (their `engines`). */
const TARGET = "node22.18";

const TSCONFIG = path.join(import.meta.dirname, "tsconfig.json");

/** Packages that pages bundle: a bundler leaves out a module that nothing uses, and keeps all of a part that several entries share. */
const FOR_PAGES: ReadonlySet<string> = new Set(["contract", "crypto", "sdk"]);

/** Each module is built to a file of its own: it imports the modules beside it. */
const moduleByModule: NonNullable<Options["esbuildPlugins"]>[number] = {
  name: "module-by-module",
  setup: (build) => {
    build.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ kind, path: name }) =>
      kind === "entry-point" ? null : { path: name.replace(/\.ts$/, ".js"), external: true },
    );
  },
};

const library = (name: string): Options => ({
  name: `@coffer/${name}`,
  ...(FOR_PAGES.has(name) ? { entry: modulesOf(name), esbuildPlugins: [moduleByModule] } : { entry: entriesOf(name) }),
  outDir: path.join(directoryOf(name), "dist"),
  tsconfig: TSCONFIG,
  format: "esm",
  target: TARGET,
  // Nothing is assumed of the runtime; `./node` entries import `node:` modules by name. All entries of a package are
  // built together, so that they share one copy of every class.
  platform: "neutral",
  splitting: true,
  // tsup leaves to the consumer what the package.json of the working directory declares, and that is the repository's:
  // name what this package declares.
  external: [/^node:/, ...declared(name).map((dependency) => new RegExp(`^${dependency}($|/)`))],
  skipNodeModulesBundle: true,
  dts: { entry: entriesOf(name), compilerOptions: { customConditions: ["coffer-source"] } },
  sourcemap: true,
  // Parts are named by their content, so old ones pile up.
  clean: ["!main.js", "!coffer.mjs", "!coffer.mcpb"],
  // tsup strips "node:" by default, and `sqlite` or `test` without it name packages of the registry.
  removeNodeProtocol: false,
});

/** What a package installs as a command, with all that it imports: a command starts in half the time if Node has few files to find and read. */
const program = (name: string): Options => ({
  ...BUNDLED,
  name: `${name}/dist/main.js`,
  entry: { main: path.join(directoryOf(name), "src/main.ts") },
  outDir: path.join(directoryOf(name), "dist"),
  tsconfig: TSCONFIG,
  target: TARGET,
  splitting: true,
  sourcemap: true,
});

/**
 * `coffer.mjs`: the command line and the tool server, for machines that have Node and nothing else. CommonJS loads a module where it is
 * imported: an ES module would load all of Node's first, and one that is too old lacks some.
 */
const oneFile: Options = {
  name: "coffer.mjs",
  entry: { coffer: path.join(import.meta.dirname, "dev/scripts/one-file-entry.ts") },
  outDir: path.join(directoryOf("cli"), "dist"),
  outExtension: () => ({ js: ".mjs" }),
  tsconfig: TSCONFIG,
  format: "cjs",
  target: TARGET,
  platform: "node",
  noExternal: [/^[^.]/],
  minify: true,
  splitting: false,
  clean: false,
  removeNodeProtocol: false,
  define: { COFFER_IS_ONE_FILE: "true", "import.meta.url": "moduleUrl" },
  banner: {
    js: [
      "#!/usr/bin/env node",
      'import { createRequire } from "node:module";',
      "const moduleUrl = import.meta.url;",
      "const require = createRequire(moduleUrl);",
    ].join("\n"),
  },
  esbuildOptions: (options) => {
    options.conditions = ["coffer-source"];
  },
};

/** Every package that is published. */
const published = readdirSync(path.join(import.meta.dirname, "packages")).filter(
  (name) => readManifest(name).private !== true,
);
const programs = published.filter((name) => readManifest(name).bin !== undefined).map(program);

const server = serverProgram(import.meta.dirname, path.join(import.meta.dirname, "server/dist/program"));

export default defineConfig([...(IS_SETUP ? [] : published.map(library)), ...programs, oneFile, server]);

interface Manifest {
  readonly private?: boolean;
  readonly bin?: Readonly<Record<string, string>>;
  /** A text is a file that is published as it is. */
  readonly exports: Readonly<Record<string, string | { readonly "coffer-source": string; readonly import: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The package's own `exports`: each source is built to the file that its export names. */
function entriesOf(name: string): Record<string, string> {
  const targets = Object.values(readManifest(name).exports).filter((target) => typeof target !== "string");
  return Object.fromEntries(
    targets.map((target) => [
      target.import.replace(/^\.\/dist\//, "").replace(/\.js$/, ""),
      path.join(directoryOf(name), target["coffer-source"]),
    ]),
  );
}

/** Every module but those of tests, by its path. */
function modulesOf(name: string): Record<string, string> {
  const source = path.join(directoryOf(name), "src");
  const modules = globSync("**/*.ts", { cwd: source, exclude: ["**/*.test.ts", "**/*.test-kit.ts"] });
  return Object.fromEntries(modules.map((file) => [file.replace(/\.ts$/, ""), path.join(source, file)]));
}

function declared(name: string): string[] {
  const { dependencies = {}, peerDependencies = {} } = readManifest(name);
  return [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
}

function readManifest(name: string): Manifest {
  return JSON.parse(readFileSync(path.join(directoryOf(name), "package.json"), "utf8")) as Manifest;
}

function directoryOf(name: string): string {
  return path.join(import.meta.dirname, "packages", name);
}

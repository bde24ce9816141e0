/**
 * The Move package of packages/chain, compiled and tested in memory. It uses the compiler and the VM of the pinned Sui
 * release, and the interface in move/framework. It fetches nothing.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import {
  initMovePackageBuilder,
  MovePackageFetcher,
  type MovePackageInput,
  prepareMovePackagePublish,
  testMovePackage,
} from "@zktx.io/sui-move-builder/full";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PACKAGE = path.join(ROOT, "packages/chain/move");

/** Where the compiled package is committed; a path from the repository's root. */
export const COMPILED_FILE = "packages/chain/src/package/modules.ts";

export interface CompiledPackage {
  /** The modules' bytecode in base64. */
  readonly modules: readonly string[];
  /** BLAKE2b-256 over modules and dependencies, as Sui's tools print it; lower-case hex. */
  readonly digest: string;
}

/** Compiles the package. @throws Error with the compiler's words, warnings included: nothing is committed with one. */
export async function compilePackage(): Promise<CompiledPackage> {
  await openBuilder();
  const built = await prepareMovePackagePublish(inputOf(readSources("2024")));
  if ("error" in built) throw new Error(built.error);
  if (built.warnings !== undefined && built.warnings !== "") throw new Error(built.warnings);
  return { modules: built.modules, digest: Buffer.from(built.digest).toString("hex") };
}

/** The module and its unit tests; paths inside the Move package. */
const [SOURCE, TESTS] = ["sources/vault.move", "tests/vault_tests.move"];

/**
 * Runs the package's unit tests in the Move VM, or other ones in their place: an extension of `coffer::vault` (the
 * compiler takes one). `source` replaces the module, to see whether the tests notice.
 * @throws Error with the compiler's words.
 */
export async function testPackage(
  tests?: string,
  source?: string,
): Promise<{ readonly passed: boolean; readonly output: string }> {
  await openBuilder();
  // Extensions of modules belong to the compiler's next edition only; bytecode is built in this one.
  const files = readSources("2024.alpha");
  if (tests !== undefined) files[TESTS] = tests;
  if (source !== undefined) files[SOURCE] = source;
  const tested = await testMovePackage(inputOf(files));
  if ("error" in tested) throw new Error(tested.error);
  return tested;
}

/** The text of {@link COMPILED_FILE}. */
export function renderCompiled({ modules, digest }: CompiledPackage): string {
  return [
    "// Made by `npm run move:build` from packages/chain/move; test/move compiles again and compares.",
    "",
    "/** The bytecode of the Move package `coffer`, in base64. */",
    `export const MODULES: readonly string[] = [\n${modules.map((module) => `  ${JSON.stringify(module)},\n`).join("")}];`,
    "",
    "/** BLAKE2b-256 over modules and dependencies, as Sui computes it; lower-case hex. */",
    `export const PACKAGE_DIGEST = ${JSON.stringify(digest)};`,
    "",
  ].join("\n");
}

async function openBuilder(): Promise<void> {
  const entry = createRequire(import.meta.url).resolve("@zktx.io/sui-move-builder/full");
  await initMovePackageBuilder({ wasm: readFileSync(path.join(path.dirname(entry), "sui_move_wasm_bg.wasm")) });
}

function inputOf(files: Record<string, string>): MovePackageInput {
  return { files, fetcher: new LocalFramework(), network: "testnet", ansiColor: false };
}

function readSources(edition: string): Record<string, string> {
  const files = readFiles(PACKAGE, (file) => !file.startsWith("framework"));
  return { ...files, "Move.toml": (files["Move.toml"] ?? "").replace('edition = "2024"', `edition = "${edition}"`) };
}

/** Gives the compiler the interface of the framework, and refuses to fetch anything else. */
class LocalFramework extends MovePackageFetcher {
  override fetch(url: string): Promise<Record<string, string>> {
    return Promise.reject(new Error(`The Move package depends on nothing that is fetched, but asked for ${url}`));
  }

  override fetchLocal = (directory: string): Promise<Record<string, string>> =>
    Promise.resolve(readFiles(path.join(PACKAGE, "framework", path.basename(directory))));
}

function readFiles(directory: string, isWanted: (file: string) => boolean = () => true): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(move|toml)$/.test(file) && isWanted(file))
    .sort();
  return Object.fromEntries(files.map((file) => [file, readFileSync(path.join(directory, file), "utf8")]));
}

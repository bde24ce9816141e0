// Packs every published package and examines the tarballs as a consumer gets them. It runs publint, attw (ES modules
// only), and an import of every export by plain Node. Run `npm run build` first. Prints one line per package; exits 1
// on any error.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const ROOT = path.resolve(import.meta.dirname, "../..");
const execute = promisify(execFile);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Entries that are there for an optional peer; every other entry is imported as if no such peer were installed. */
const ENTRIES_OF_PEERS: ReadonlySet<string> = new Set(["@coffer/sdk/shared", "@coffer/sdk/testing/msw"]);

interface Packed {
  readonly manifest: Manifest;
  readonly tarball: string;
  /** Where the tarball was unpacked: a `node_modules` of its own, below the repository's, so dependencies resolve. */
  readonly directory: string;
}

process.exitCode = (await checkPackages()) ? 0 : 1;

async function checkPackages(): Promise<boolean> {
  await mkdir(path.join(ROOT, "node_modules", ".cache"), { recursive: true });
  const scratch = await mkdtemp(path.join(ROOT, "node_modules", ".cache", "packed-"));
  try {
    const packed: Packed[] = [];
    for (const directory of await publishedPackages()) packed.push(await pack(directory, scratch));
    if (packed.length === 0) throw new Error("found no package to publish");
    let good = true;
    for (const each of packed) good = report(each, await problemsOf(each)) && good;
    return good;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function publishedPackages(): Promise<string[]> {
  const names = await readdir(path.join(ROOT, "packages"));
  const directories = names.sort().map((name) => path.join(ROOT, "packages", name));
  return directories.filter((directory) => readManifest(directory).private !== true);
}

function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as Manifest;
}

async function pack(directory: string, scratch: string): Promise<Packed> {
  const manifest = readManifest(directory);
  const args = ["pack", directory, "--pack-destination", scratch, "--ignore-scripts", "--loglevel=error"];
  await execute("npm", args, { cwd: ROOT });
  const tarball = path.join(scratch, `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`);
  const unpacked = path.join(scratch, `${path.basename(directory)}-unpacked`);
  await mkdir(unpacked);
  await execute("tar", ["-xzf", tarball, "-C", unpacked]);
  const installed = path.join(scratch, "node_modules", manifest.name);
  await cp(path.join(unpacked, "package"), installed, { recursive: true });
  return { manifest, tarball, directory: installed };
}

function report({ manifest, tarball }: Packed, problems: readonly string[]): boolean {
  const size = (readFileSync(tarball).byteLength / 1024).toFixed(0);
  console.log(`${problems.length === 0 ? "ok    " : "FAILED"} ${manifest.name} (${size} KiB packed)`);
  for (const problem of problems) console.log(problem.replace(/^/gm, "       "));
  return problems.length === 0;
}

async function problemsOf(packed: Packed): Promise<string[]> {
  return [
    ...(await publintProblems(packed)),
    ...(await attwProblems(packed)),
    ...(await importProblems(packed)),
    ...(await testFilesIn(packed)),
  ];
}

async function publintProblems({ manifest, tarball }: Packed): Promise<string[]> {
  const bytes = await readFile(tarball);
  const { messages } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
  return messages
    .filter((message) => message.type !== "suggestion")
    .map((message) => `publint: ${formatMessage(message, { ...manifest }, { color: false }) ?? message.code}`);
}

/** attw resolves every entry as TypeScript does; ES modules only, since no package has a CommonJS build. */
async function attwProblems({ tarball }: Packed): Promise<string[]> {
  const cli = createRequire(import.meta.url).resolve("@arethetypeswrong/cli/package.json");
  const main = path.join(path.dirname(cli), "dist", "index.js");
  const args = [main, tarball, "--profile", "esm-only", "--no-emoji", "--no-color", "--format", "ascii"];
  try {
    await execute(process.execPath, args, { cwd: ROOT });
    return [];
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return [`attw: ${[stdout, stderr].filter(Boolean).join("\n").trim()}`];
  }
}

/** What neither tool sees: an entry that names a file or a module which is not there once the package is installed. */
async function importProblems({ manifest, directory }: Packed): Promise<string[]> {
  const problems: string[] = [];
  for (const entry of Object.keys(manifest.exports).filter((name) => !name.endsWith(".json"))) {
    const specifier = path.posix.join(manifest.name, entry);
    const check = 'if (Object.keys(m).length === 0) throw new Error("exports nothing")';
    const source = `${withoutPeers(manifest, specifier)} const m = await import(${JSON.stringify(specifier)}); ${check}`;
    const problem = await failureOf(["--input-type=module", "-e", source], path.dirname(directory));
    if (problem !== null) problems.push(`import "${specifier}": ${problem}`);
  }
  for (const [name, file] of Object.entries(manifest.bin ?? {})) {
    const text = await readFile(path.join(directory, file), "utf8").catch(() => "");
    if (!text.startsWith("#!/usr/bin/env node\n")) problems.push(`bin ${name}: ${file} has no "#!/usr/bin/env node"`);
    const problem = await failureOf(["--check", path.join(directory, file)], directory);
    if (problem !== null) problems.push(`bin ${name}: ${problem}`);
  }
  return problems;
}

/** A program's first lines: from then on an optional peer is not found, as in a project that has not installed it. */
function withoutPeers({ peerDependenciesMeta = {} }: Manifest, specifier: string): string {
  const peers = Object.keys(peerDependenciesMeta).filter((name) => peerDependenciesMeta[name]?.optional === true);
  if (peers.length === 0 || ENTRIES_OF_PEERS.has(specifier)) return "";
  return `import { registerHooks } from "node:module";
    const peers = ${JSON.stringify(peers)};
    registerHooks({ resolve(name, context, next) {
      if (peers.some((peer) => name === peer || name.startsWith(peer + "/"))) throw new Error(name + " is not installed");
      return next(name, context);
    } });`;
}

async function failureOf(args: string[], cwd: string): Promise<string | null> {
  try {
    await execute(process.execPath, args, { cwd, timeout: 20_000 });
    return null;
  } catch (error) {
    return (error as { stderr?: string }).stderr?.trim() ?? String(error);
  }
}

async function testFilesIn({ directory }: Packed): Promise<string[]> {
  const files = await readdir(directory, { recursive: true });
  return files.filter((file) => file.includes(".test.")).map((file) => `publishes a test: ${file}`);
}

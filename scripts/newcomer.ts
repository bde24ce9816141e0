// A newcomer's first hour as a program: `npm run newcomer`. It installs the packed packages in an empty folder, first
// without the chain. It type-checks the guide under strict with three compilers, and runs the guide's first program.
// It bundles a page and reads its size. In another empty folder it installs the programs, and runs `npx coffer`. Prints each step and its seconds. Exits 1 at the first that fails, and 3 when
// it cannot get the packages. `--built` uses the packages of the last `npm run build`; `--keep` leaves the folder.
import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs, promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { startStack, type Stack } from "@coffer/devstack";
import { createClient } from "@coffer/sdk";
import { checkBundles } from "./bundled-sizes.ts";
import { blocksOf, ROOT } from "./docs/documents.ts";
import { moduleOf } from "./docs/program-blocks.ts";

const GUIDE = "packages/sdk/README.md";
const PUBLISHED = ["contract", "crypto", "chain", "sdk"];
/** What the command line needs beside those. */
const PROGRAMS = ["tasks", "mcp", "cli"];
/** The last of each line that people use. */
const COMPILERS = ["5.9.3", "6.0.3", "7.0.2"];
/** What npm says when it reaches no registry. */
const UNREACHABLE = /ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH/;
/** `npm run test:deep` counts it as skipped, with the reason. */
const EXIT_SKIPPED = 3;
/** A page that lists the files of an account: the smallest thing that one builds with the SDK. */
const PAGE = `import { createClient } from "@coffer/sdk";

export async function names(baseUrl: string, apiKey: string): Promise<string[]> {
  const client = createClient({ baseUrl, credentials: { apiKey } });
  const found: string[] = [];
  for await (const file of client.files.list()) found.push(file.name);
  return found;
}
Object.assign(globalThis, { names });
`;

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
}

const { values } = parseArgs({ options: { built: { type: "boolean" }, keep: { type: "boolean" } } });
const execute = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), "coffer-newcomer-"));
const programs = path.join(folder, "programs");
const INSTALL = [
  ...["install", "--prefer-offline", "--fetch-retries=1", "--no-audit", "--no-fund"],
  ...["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=1000"],
];
const began = performance.now();
try {
  if (values.built !== true) await step("build", () => npm(["run", "--silent", "build"], ROOT));
  await step("pack", pack);
  await step("install without chain", () => install(PUBLISHED.filter((name) => name !== "chain")));
  await step("check that no chain came", checkNoChain);
  await step("write a page", writePage);
  await step("check the sizes", checkSizes);
  await using stack = await step("start a service", () => startStack());
  await step("bundle with esbuild", () => bundle(stack));
  await step("bundle with vite", buildWithVite);
  await step("install for shared vaults", () => install(PUBLISHED));
  await step("write the guide's programs", writePrograms);
  for (const version of COMPILERS)
    await step(`type-check, TypeScript ${version}`, () =>
      run("node", [`node_modules/typescript-${version}/bin/tsc`, "--noEmit", "-p", "."]),
    );
  await step("run the guide's program", () => runGuide(stack));
  await step("install the command line", installPrograms);
  await step("run npx coffer", () => runCoffer(stack));
  console.log(`the newcomer is done after ${seconds(began)} s`);
} catch (error) {
  const { message, stdout, stderr } = error as Error & { readonly stdout?: string; readonly stderr?: string };
  const said = [message, stdout, stderr].filter(Boolean).join("\n");
  const away = UNREACHABLE.exec(said)?.[0];
  console.log(
    away === undefined
      ? `FAILED ${said}`
      : `skipped: ${away}: a package is not in npm's cache, and no registry answers`,
  );
  process.exitCode = away === undefined ? 1 : EXIT_SKIPPED;
} finally {
  if (values.keep === true) console.log(`the folder is ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}

async function step<Value>(name: string, work: () => Value | Promise<Value>): Promise<Value> {
  const start = performance.now();
  const value = await work();
  console.log(`${name.padEnd(30)}${seconds(start).padStart(6)} s`);
  return value;
}

/** As the guide says it, so that a newcomer's folder holds what a registry would. */
async function pack(): Promise<void> {
  const all = [...PUBLISHED, ...PROGRAMS];
  await npm(["pack", ...all.flatMap((name) => ["-w", `packages/${name}`]), "--pack-destination", folder], ROOT);
}

/** From npm's cache where it has the packages, else from the registry. */
async function install(packages: readonly string[]): Promise<void> {
  const { devDependencies } = manifestOf("package.json");
  const tools = [
    ...COMPILERS.map((version) => `typescript-${version}@npm:typescript@${version}`),
    ...["esbuild", "@types/node"].map((name) => `${name}@${devDependencies[name] ?? ""}`),
    `vite@${manifestOf("node_modules/vite/package.json").version}`,
  ];
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "newcomer", private: true, type: "module" }));
  await npm([...INSTALL, ...tarballsOf(packages), ...tools], folder);
}

function tarballsOf(packages: readonly string[]): string[] {
  return packages.map((name) => {
    const [file] = globSync(`coffer-${name}-*.tgz`, { cwd: folder });
    if (file === undefined) throw new Error(`${name} was not packed`);
    return path.join(folder, file);
  });
}

async function installPrograms(): Promise<void> {
  await mkdir(programs);
  writeFileSync(path.join(programs, "package.json"), JSON.stringify({ name: "programs", private: true }));
  await npm([...INSTALL, ...tarballsOf([...PUBLISHED, ...PROGRAMS])], programs);
}

/** A new user's first commands, from what npm installed alone. */
async function runCoffer({ baseUrl }: Stack): Promise<void> {
  const env = { HOME: programs, PATH: process.env["PATH"], SERVICE_BASE_URL: baseUrl };
  const coffer = async (...words: readonly string[]): Promise<Record<string, unknown>> => {
    const { stdout } = await execute("npx", ["--no-install", "coffer", ...words, "--json"], { cwd: programs, env });
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const { version } = await coffer("version");
  if (version !== manifestOf("packages/cli/package.json").version) throw new Error(`coffer is ${String(version)}`);
  await coffer("signup", "--dev", "--email", "newcomer-of-programs@example.com");
  await coffer("upload", "package.json");
  const { items } = (await coffer("ls", "Files:")) as { items?: readonly unknown[] };
  if (items?.length !== 1) throw new Error("coffer ls does not list the one file");
  await coffer("mcp", "status");
  for (const words of [["status"], ["install", "--client", "cursor", "--allow", ".", "--dry-run"], ["audit", "verify"]])
    await execute("npx", ["--no-install", "coffer-mcp", ...words], { cwd: programs, env });
}

/** Users of public vaults alone install nothing of the chain. */
function checkNoChain(): void {
  const found = globSync("node_modules/{@mysten/*,@coffer/chain}", { cwd: folder });
  if (found.length > 0) throw new Error(`installed without being needed: ${found.join(", ")}`);
}

/** The sizes of the installed packages, checked as `npm run size:packed` checks the tarballs. */
async function checkSizes(): Promise<void> {
  if (!(await checkBundles(folder))) throw new Error("a bundle is larger than it may be");
}

async function writePage(): Promise<void> {
  await mkdir(path.join(folder, "src"));
  write("src/page.ts", PAGE);
  write("index.html", '<!doctype html><script type="module" src="/src/page.ts"></script>');
}

function writePrograms(): void {
  const programs = blocksOf(GUIDE).filter(({ language }) => language === "ts");
  if (programs.length < 5) throw new Error(`${GUIDE} has ${String(programs.length)} programs: too few`);
  programs.forEach((block, index) => {
    // The first is a whole program; the others take some names for granted.
    write(`src/guide-${String(index)}.ts`, index === 0 ? block.code : moduleOf(block));
  });
  const compilerOptions = {
    ...{ strict: true, module: "nodenext", moduleResolution: "nodenext", target: "es2022", types: ["node"] },
    ...{ lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable", "esnext.disposable"], skipLibCheck: false },
  };
  write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["src"] }));
}

/** The first block of the guide, as it is printed there, against a service that runs. */
async function runGuide(stack: Stack): Promise<void> {
  write("report.pdf", "%PDF-1.7 a newcomer's report\n");
  const environment = { SERVICE_CONFIG_FILE: stack.credentialsFile, SERVICE_CONFIG_DIR: path.join(folder, "settings") };
  await run(process.execPath, [path.join("src", "guide-0.ts")], environment);
  if (readFileSync(path.join(folder, "copy.pdf"), "utf8") !== readFileSync(path.join(folder, "report.pdf"), "utf8"))
    throw new Error("copy.pdf is not what report.pdf is");
}

/** One file, and in chunks; the one file is run, so that a bundle that lost something does not pass. */
async function bundle(stack: Stack): Promise<void> {
  const common = ["src/page.ts", "--bundle", "--minify", "--format=esm", "--target=es2022"];
  await run("node_modules/.bin/esbuild", [...common, "--outfile=whole/page.js"]);
  await run("node_modules/.bin/esbuild", [...common, "--splitting", "--outdir=split"]);
  const { names } = await loadPage(path.join(folder, "whole", "page.js"));
  const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.apiKey } });
  await client.files.upload({ name: "from-the-page.txt", body: "words" });
  const listed = await names(stack.baseUrl, stack.apiKey);
  if (!listed.includes("from-the-page.txt")) throw new Error(`the bundled page lists ${listed.join(", ")}`);
  console.log(`  one file: ${kibibytes("whole/page.js")}; first chunk with splitting: ${kibibytes("split/page.js")}`);
}

async function loadPage(file: string): Promise<{ names: (baseUrl: string, apiKey: string) => Promise<string[]> }> {
  await import(file);
  return globalThis as unknown as Awaited<ReturnType<typeof loadPage>>;
}

async function buildWithVite(): Promise<void> {
  await run("node_modules/.bin/vite", ["build", "--logLevel", "error"]);
  const html = readFileSync(path.join(folder, "dist", "index.html"), "utf8");
  const [, entry = ""] = /src="\/(assets\/[^"]+\.js)"/.exec(html) ?? [];
  console.log(
    `  entry: ${kibibytes(`dist/${entry}`)} in ${String(globSync("dist/assets/*.js", { cwd: folder }).length)} files`,
  );
}

function kibibytes(file: string): string {
  return `${(gzipSync(readFileSync(path.join(folder, file)), { level: 9 }).byteLength / 1024).toFixed(1)} KiB gzipped`;
}

function manifestOf(file: string): Manifest & { readonly version: string } {
  return JSON.parse(readFileSync(path.join(ROOT, file), "utf8")) as Manifest & { readonly version: string };
}

function write(file: string, text: string): void {
  writeFileSync(path.join(folder, file), text);
}

async function run(program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  // Programs that name their interpreter find this Node first.
  const found = `${path.dirname(process.execPath)}${path.delimiter}${process.env["PATH"] ?? ""}`;
  const file = program.includes("/") ? path.resolve(folder, program) : program;
  await execute(file, args, { cwd: folder, env: { ...process.env, PATH: found, ...environment } });
}

async function npm(args: readonly string[], cwd: string): Promise<void> {
  const { npm_config_local_prefix: _prefix, INIT_CWD: _cwd, ...env } = process.env;
  await execute("npm", [...args, "--loglevel=error"], { cwd, env, maxBuffer: 1 << 26 });
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}

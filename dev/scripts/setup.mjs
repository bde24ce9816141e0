// Sets the repository up: installs the packages of the lock file, makes sure that npm scripts find Node 24, and builds
// the tool server that MCP client configurations name, the command line, the server, and the OpenAPI document that servers answer. Runs before `npm start`
// and `npm test`, on any Node >= 20, so it is plain JavaScript without dependencies. Everything it says goes to stderr: stdout belongs to the
// command that follows.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const STAMP = path.join(ROOT, "node_modules", ".coffer-setup.json");
const SCRIPTS_NODE = path.join(ROOT, "node_modules", ".bin", "node");
const BUILT = [
  "packages/mcp/dist/main.js",
  "packages/cli/dist/main.js",
  "packages/cli/dist/coffer.mjs",
  "packages/contract/openapi.json",
  "server/dist/program/main.js",
].map((file) => path.join(ROOT, file));
/** `node:sqlite` and `crypto.argon2` are complete from here on. */
const NEEDED = [24, 7];
const STEPS = 3;

class SetupError extends Error {}

try {
  const started = Date.now();
  const didWork = await setUp();
  if (didWork) say(`ready after ${secondsSince(started)} s`);
} catch (error) {
  say(error instanceof SetupError ? error.message : String(error?.stack ?? error));
  process.exitCode = 1;
}

async function setUp() {
  const installed = await installPackages();
  await provideNode();
  const built = await buildPrograms();
  return installed || built;
}

// --- 1: the packages of the lock file ---

async function installPackages() {
  const wanted = hashOf(manifestFiles());
  if (readStamp().install === wanted || installedMatchesLock()) {
    writeStamp({ ...readStamp(), install: wanted });
    return false;
  }
  rmSync(STAMP, { force: true });
  // The tools are development dependencies and Node 24 is an optional one: ask for both whatever NODE_ENV says.
  // The npm that runs may stand on Node 20: what these packages require of Node is for Node 24 to meet.
  const include = ["--include=dev", "--include=optional", "--engine-strict=false"];
  const args = ["ci", ...include, "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  await step(1, "installing packages (npm ci)", () => runNpm(args, ROOT));
  writeStamp({ install: wanted });
  return true;
}

/** The lock file and every package.json it describes. */
function manifestFiles() {
  const workspaces = Object.keys(readJson("package-lock.json").packages).filter((key) => !key.includes("node_modules"));
  return ["package-lock.json", ...workspaces.map((key) => path.join(key, "package.json"))];
}

/** True when an install by hand (`npm ci`, `npm install`) already left exactly the locked packages behind. */
function installedMatchesLock() {
  const hidden = path.join("node_modules", ".package-lock.json");
  if (!existsSync(path.join(ROOT, hidden))) return false;
  const installed = readJson(hidden).packages;
  return Object.entries(readJson("package-lock.json").packages).every(([key, locked]) => {
    if (!key.includes("node_modules")) return manifestMatchesLock(key, locked);
    const found = installed[key];
    if (found === undefined) return locked.optional === true || locked.devOptional === true || locked.peer === true;
    const present =
      locked.link === true || locked.optional === true || existsSync(path.join(ROOT, key, "package.json"));
    return present && found.version === locked.version && found.integrity === locked.integrity;
  });
}

function manifestMatchesLock(key, locked) {
  const manifest = readJson(path.join(key, "package.json"));
  return ["dependencies", "devDependencies", "optionalDependencies"].every(
    (kind) => JSON.stringify(sorted(manifest[kind])) === JSON.stringify(sorted(locked[kind])),
  );
}

function sorted(record = {}) {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

// --- 2: the Node that npm scripts find first on PATH ---

/**
 * The package `node` fetches its binary in an install script. Where install scripts are switched off (`ignore-scripts`)
 * the binary is missing, so the package that carries it for this platform is then installed by its own name.
 */
async function provideNode() {
  if (isNewEnough(versionOf(SCRIPTS_NODE))) return;
  rmSync(SCRIPTS_NODE, { force: true });
  if (isNewEnough(versionOf("node"))) return;
  const version = readJson("package.json").optionalDependencies.node;
  await step(2, `fetching Node ${version}`, () => installPlatformNode(version));
  const found = versionOf(SCRIPTS_NODE);
  if (isNewEnough(found)) return;
  // npm scripts would run it in the place of the one on PATH, this one included.
  rmSync(SCRIPTS_NODE, { force: true });
  throw nodeMissing(found === null ? "does not start on this machine" : `is ${found}`);
}

async function installPlatformNode(version) {
  // The names of the packages on the registry; Apple silicon has a name of its own.
  const silicon = process.platform === "darwin" && process.arch === "arm64";
  const name = `${silicon ? "node-bin" : "node"}-${process.platform}-${process.arch}`;
  const target = path.join(ROOT, "node_modules", ".coffer-node");
  mkdirSync(target, { recursive: true });
  writeFileSync(path.join(target, "package.json"), '{ "private": true }\n');
  const args = [
    "install",
    "--prefix",
    target,
    "--no-save",
    "--no-package-lock",
    "--ignore-scripts",
    "--prefer-offline",
  ];
  try {
    await runNpm([...args, "--no-audit", "--no-fund", `${name}@${version}`], target);
  } catch (error) {
    throw nodeMissing(`could not be fetched as ${name}@${version} (${error.message})`);
  }
  symlinkSync(path.join("..", ".coffer-node", "node_modules", name, "bin", "node"), SCRIPTS_NODE);
}

function nodeMissing(why) {
  return new SetupError(
    `Coffer needs Node ${NEEDED.join(".")} or newer to run. The Node that comes with its packages ${why}, and the one ` +
      `on PATH is ${versionOf("node") ?? "not usable"}. Install Node 24 from https://nodejs.org, put it first on PATH, ` +
      `and run the command again.`,
  );
}

function versionOf(node) {
  const result = spawnSync(node, ["-p", "process.versions.node"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return result.status === 0 ? result.stdout.trim() : null;
}

function isNewEnough(version) {
  if (version === null) return false;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

// --- 3: the tool server that MCP client configurations name, the command line, the server, and the OpenAPI document ---

async function buildPrograms() {
  const packages = ["contract", "crypto", "chain", "sdk", "tasks", "mcp", "cli"];
  const bundled = [...packages.map((name) => path.join("packages", name, "src")), path.join("server", "src")];
  const sources = bundled.filter((directory) => existsSync(path.join(ROOT, directory))).flatMap(sourceFiles);
  const configuration = [
    "tsup.config.ts",
    "tsconfig.json",
    "dev/scripts/one-file-entry.ts",
    "dev/scripts/server-program.ts",
  ];
  const wanted = hashOf([...manifestFiles(), ...configuration, ...sources]);
  if (readStamp().programs === wanted && BUILT.every((file) => existsSync(file))) return false;
  const tsup = path.join(ROOT, "node_modules", "tsup", "dist", "cli-default.js");
  const node = existsSync(SCRIPTS_NODE) ? SCRIPTS_NODE : "node";
  const env = { ...process.env, COFFER_BUILD: "programs" };
  await step(3, "building the programs", () =>
    Promise.all([run(node, [tsup, "--silent"], { cwd: ROOT, env }), makeOpenApi(node)]),
  );
  const missing = BUILT.find((file) => !existsSync(file));
  if (missing !== undefined) throw new SetupError(`the build wrote no ${path.relative(ROOT, missing)}`);
  writeStamp({ ...readStamp(), programs: wanted });
  return true;
}

/** The document that the server answers at /openapi.json. It needs the comments of the contract's sources. */
function makeOpenApi(node) {
  return run(node, ["--conditions=coffer-source", path.join(ROOT, "dev", "scripts", "openapi.ts")], { cwd: ROOT });
}

function sourceFiles(directory) {
  const entries = readdirSync(path.join(ROOT, directory), { recursive: true, withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && /\.(ts|sql)$/.test(entry.name) && !entry.name.endsWith(".test.ts"),
  );
  return files.map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name))).sort();
}

// --- running, and remembering what ran ---

/** Runs the npm that runs us, by the Node it runs on: the npm on PATH may be another one. */
function runNpm(args, cwd) {
  const cli = process.env.npm_execpath ?? "";
  const options = { cwd, env: npmEnvironment() };
  if (path.basename(cli) !== "npm-cli.js") return run("npm", args, options);
  return run(process.env.npm_node_execpath ?? process.execPath, [cli, ...args], options);
}

/**
 * The environment without what the outer npm says about its own command: `npm --prefix DIR --silent start` would make
 * the inner one install elsewhere and hide its errors.
 */
function npmEnvironment() {
  const own = /^(npm_(lifecycle_|package_|command$)|INIT_CWD$|NODE_ENV$)/;
  const flags =
    /^npm_config_(prefix|local_prefix|workspaces?|include_workspace_root|loglevel|silent|json|dry_run|omit|include|only|production|if_present|global|location)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name) && !flags.test(name)));
}

/** Runs a program with its stdout on our stderr; rejects when it fails. */
function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", 2, 2] });
    child.on("error", (error) => reject(new SetupError(`${command} could not be started: ${error.message}`)));
    child.on("exit", (code, signal) =>
      code === 0
        ? resolve()
        : reject(new SetupError(`${path.basename(command)} ended with ${signal ?? `code ${code}`}`)),
    );
  });
}

async function step(number, title, work) {
  const started = Date.now();
  say(`${number}/${STEPS} ${title} …`);
  const progress = setInterval(() => say(`${number}/${STEPS} ${title} … ${secondsSince(started)} s`), 5000);
  try {
    await work();
    say(`${number}/${STEPS} ${title}: done in ${secondsSince(started)} s`);
  } catch (error) {
    throw error instanceof SetupError ? new SetupError(`${number}/${STEPS} ${title} failed: ${error.message}`) : error;
  } finally {
    clearInterval(progress);
  }
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, "utf8"));
  } catch {
    return {};
  }
}

/** Written whole or not at all, and only after the work it speaks of succeeded. */
function writeStamp(stamp) {
  const partial = `${STAMP}.${process.pid}`;
  writeFileSync(partial, JSON.stringify(stamp));
  renameSync(partial, STAMP);
}

function hashOf(files) {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\0`);
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(ROOT, file)))
      .update("\0");
  return hash.digest("hex");
}

function readJson(file) {
  return JSON.parse(readFileSync(path.join(ROOT, file), "utf8"));
}

function secondsSince(started) {
  return ((Date.now() - started) / 1000).toFixed(1);
}

function say(text) {
  process.stderr.write(`set-up: ${text}\n`);
}

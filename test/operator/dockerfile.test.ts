/**
 * deploy/Dockerfile without a container engine: the COPY, ADD and RUN lines of each stage in their order, in a mount namespace where the
 * directories that they write to are empty, and then what the image would start, as its user.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { type Copy, DockerfileParser, From, type Instruction } from "dockerfile-ast";
import { beforeAll, expect, it, type TestContext } from "vitest";
import { productionSecrets } from "../journeys/kit/production.ts";
import { makeDirectory } from "../kit/directory.ts";
import { releasedInto } from "./released.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
/** Where the images write. Everything else of the system is this machine's. */
const OWN = ["/app", "/opt", "/usr/local", "/data", "/work"];

interface Stage {
  readonly name: string;
  readonly image: string;
  readonly instructions: readonly Instruction[];
}

/** A stage as it stands: by each of {@link OWN} the directory that has its place. */
type Built = ReadonlyMap<string, string>;

const stages: Stage[] = [];
for (const instruction of DockerfileParser.parse(
  readFileSync(path.join(ROOT, "deploy/Dockerfile"), "utf8"),
).getInstructions())
  if (instruction instanceof From)
    stages.push({ name: instruction.getBuildStage() ?? "", image: instruction.getImage() ?? "", instructions: [] });
  else (stages.at(-1)?.instructions as Instruction[]).push(instruction);

const built = new Map<string, Built>();
let archive: string;

beforeAll(() => {
  const dist = path.join(ROOT, "server/dist");
  for (const old of globSync("coffer-server-*.tar.gz", { cwd: dist })) rmSync(path.join(dist, old));
  archive = releasedInto(dist);
}, 180_000);

const wordsOf = (instruction: Instruction): string[] => instruction.getArguments().map((each) => each.getValue());

/** Runs as root, with the directories of the stage in their places. */
function runIn(tree: Built, script: string, environment: Readonly<Record<string, string>> = {}) {
  const mounts = [...tree].map(([place, own]) => `mkdir -p ${place}; mount --bind ${own} ${place}`);
  const text = ["set -eu", "mount --make-rprivate /", ...mounts, script].join("\n");
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", HOME: "/root", ...environment };
  const ended = spawnSync("unshare", ["--mount", "sh", "-c", text], {
    env: { ...npmSettings(), ...env },
    encoding: "utf8",
  });
  if (ended.status !== 0)
    throw new Error(`${script}\nended with ${String(ended.status)}: ${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}

/** Packages come from where they come from on this machine. */
function npmSettings(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      /^npm_config_/i.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
}

function build(name: string): Built {
  const known = built.get(name);
  if (known !== undefined) return known;
  const { image, instructions } = stages.find((stage) => stage.name === name) ?? { image: "", instructions: [] };
  const scratch = makeDirectory();
  const tree = new Map(OWN.map((place) => [place, path.join(scratch, place)]));
  for (const own of tree.values()) mkdirSync(own, { recursive: true });
  mkdirSync(path.join(scratch, "usr/local/bin"), { recursive: true });
  const before = stages.some((stage) => stage.name === image) ? build(image) : null;
  if (before !== null)
    for (const [place, own] of before) cpSync(own, tree.get(place) ?? "", { recursive: true, verbatimSymlinks: true });
  else if (image.startsWith("node:")) symlinkSync(process.execPath, path.join(scratch, "usr/local/bin/node"));
  let directory = before === null ? "/" : "/app";
  for (const instruction of instructions) {
    const words = wordsOf(instruction);
    switch (instruction.getKeyword()) {
      case "WORKDIR":
        directory = words[0] ?? "/";
        runIn(tree, `mkdir -p ${directory}`);
        break;
      case "COPY":
        copy(tree, instruction as Copy, directory);
        break;
      case "ADD":
        for (const file of globSync(words[0] ?? "", { cwd: ROOT }))
          runIn(tree, `tar -xzf ${path.join(ROOT, file)} -C ${words[1] ?? ""}`);
        break;
      case "RUN":
        runIn(tree, `cd ${directory}\n${instruction.getRawArgumentsContent() ?? ""}`);
    }
  }
  built.set(name, tree);
  return tree;
}

function copy(tree: Built, instruction: Copy, directory: string): void {
  const words = wordsOf(instruction);
  const from =
    instruction
      .getFlags()
      .find((flag) => flag.getName() === "from")
      ?.getValue() ?? null;
  const to = path.posix.resolve(directory, words.at(-1) ?? "");
  for (const source of words.slice(0, -1)) {
    const place = from === null ? path.join(ROOT, source) : hostPath(build(from), source);
    if (!existsSync(place)) throw new Error(`${source} is not there to be copied`);
    const target = hostPath(
      tree,
      words.at(-1)?.endsWith("/") === true && !source.endsWith("/") ? path.posix.join(to, path.basename(source)) : to,
    );
    cpSync(place, target, {
      recursive: true,
      filter: (file) => !/\/(?:node_modules|\.git)(?:\/|$)/.test(file.slice(ROOT.length)),
    });
  }
}

function hostPath(tree: Built, inside: string): string {
  const place = OWN.find((each) => inside === each || inside.startsWith(`${each}/`));
  if (place === undefined) throw new Error(`The image writes to ${inside}, which this test does not know`);
  return path.join(tree.get(place) ?? "", inside.slice(place.length));
}

function skipWithoutNamespaces(context: TestContext): void {
  const allowed = process.getuid?.() === 0 && spawnSync("unshare", ["--mount", "true"]).status === 0;
  if (!allowed) context.skip("this user may not have a mount namespace");
}

it("makes an image whose server starts as user 1000 with its own Node, and writes below /data alone [issue 51]", (context) => {
  skipWithoutNamespaces(context);
  const tree = build("server");
  const settings = { ...productionSecrets(), SERVICE_ENV: "production", SERVICE_DATA_DIR: "/data", SERVICE_PORT: "0" };
  const asUser = "setpriv --reuid=1000 --regid=1000 --clear-groups";
  expect(runIn(tree, `${asUser} coffer-server --version`)).toContain(`Node ${process.version}`);
  // The first start makes the database; then the operator's commands find it.
  const start = `${asUser} timeout --signal=TERM 20 coffer-server 2>/tmp/$$.log & server=$!
    until grep -q "listens on" /tmp/$$.log; do kill -0 $server; sleep 0.2; done
    ${asUser} coffer-server access-codes create
    kill $server; wait $server`;
  expect(runIn(tree, start, settings).trim()).toMatch(/^\S+$/);
  expect(existsSync(archive)).toBe(true);
}, 240_000);

it("makes an image whose command line runs as user 1000 [issue 51]", (context) => {
  skipWithoutNamespaces(context);
  if (!FULL) context.skip("installs all packages: runs in the full counts (npm run test:nightly)");
  expect(runIn(build("cli"), "setpriv --reuid=1000 --regid=1000 --clear-groups coffer --version")).toMatch(
    /\d+\.\d+\.\d+/,
  );
}, 600_000);

/** The packed packages in empty folders: what an install brings, the types under three compilers, a program, bundles and their sizes, and the programs. */
import { execFile } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { startStack, type Stack } from "@coffer/devstack";
import { createClient } from "@coffer/sdk";
import { afterAll, beforeAll, expect, it, type TestContext } from "vitest";
import { blocksOf, ROOT } from "../../dev/scripts/pages/documents.ts";
import { programsOf } from "../../dev/scripts/pages/programs.ts";
import { makeDirectory } from "../kit/directory.ts";
import { fetchWithNpm, packInto, plainEnvironment, PROGRAMS, PUBLISHED, tarballsIn } from "../kit/packed.ts";

const GUIDE = "packages/sdk/README.md";
const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
/** The last of each line that people use; without full counts the oldest, since `test/projects` compiles with the newest, too. */
const COMPILERS = FULL ? ["5.9.3", "6.0.3", "7.0.2"] : ["5.9.3"];
const PATIENCE_MS = 300_000;
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

const execute = promisify(execFile);
let folder: string;
let stack: Stack;

beforeAll(async () => {
  folder = makeDirectory();
  await packInto(folder, [...PUBLISHED, ...PROGRAMS]);
  stack = await startStack();
}, PATIENCE_MS);

afterAll(() => stack.close());

it(
  "the SDK for public vaults brings nothing of the chain, and a page bundled with it works [issue 15]",
  async (context) => {
    await install(
      context,
      PUBLISHED.filter((name) => name !== "chain"),
    );
    expect(globSync("node_modules/{@mysten/*,@coffer/chain}", { cwd: folder })).toEqual([]);
    await mkdir(join(folder, "src"));
    write("src/page.ts", PAGE);
    write("index.html", '<!doctype html><script type="module" src="/src/page.ts"></script>');
    const common = ["src/page.ts", "--bundle", "--minify", "--format=esm", "--target=es2022"];
    await run("node_modules/.bin/esbuild", [...common, "--outfile=whole/page.js"]);
    await run("node_modules/.bin/esbuild", [...common, "--splitting", "--outdir=split"]);
    // The one file is run, so that a bundle that lost something does not pass.
    await import(join(folder, "whole", "page.js"));
    const { names } = globalThis as unknown as { names: (baseUrl: string, apiKey: string) => Promise<string[]> };
    const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.apiKey } });
    await client.files.upload({ name: "from-the-page.txt", body: "words" });
    expect(await names(stack.baseUrl, stack.apiKey)).toContain("from-the-page.txt");
    await run("node_modules/.bin/vite", ["build", "--logLevel", "error"]);
    expect(readFileSync(join(folder, "dist", "index.html"), "utf8")).toMatch(/src="\/assets\/[^"]+\.js"/);
  },
  PATIENCE_MS,
);

it(
  "the programs of the SDK's guide compile as they are under each compiler, strictly, and the first one runs [issue 15]",
  async (context) => {
    await install(context, PUBLISHED);
    const programs = programsOf(blocksOf(GUIDE));
    expect(programs.length).toBeGreaterThanOrEqual(4);
    programs.forEach(({ code }, index) => {
      write(`src/guide-${String(index)}.ts`, code);
    });
    const compilerOptions = {
      strict: true,
      module: "nodenext",
      moduleResolution: "nodenext",
      target: "es2022",
      types: ["node"],
      lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable", "esnext.disposable"],
      skipLibCheck: false,
    };
    write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["src"] }));
    for (const version of COMPILERS)
      await run("node", [`node_modules/typescript-${version}/bin/tsc`, "--noEmit", "-p", "."]);
    await mkdir(join(folder, "reports"));
    write("reports/report.txt", "A report.\n");
    await run("node", [join("src", "guide-0.ts")], {
      SERVICE_CONFIG_FILE: stack.credentialsFile,
      SERVICE_CONFIG_DIR: join(folder, "settings"),
    });
    expect(readFileSync(join(folder, "copy.txt"), "utf8")).toBe("A report.\n");
  },
  PATIENCE_MS,
);

it(
  "the packed programs run from what npm installed alone [issue 15]",
  async (context) => {
    const programs = makeDirectory();
    writeFileSync(join(programs, "package.json"), JSON.stringify({ name: "programs", private: true }));
    await fetchWithNpm(context, ["install", ...tarballsIn(folder, [...PUBLISHED, ...PROGRAMS])], programs);
    const env = { HOME: programs, PATH: plainEnvironment()["PATH"], SERVICE_BASE_URL: stack.baseUrl };
    const coffer = async (...words: readonly string[]): Promise<Record<string, unknown>> => {
      const { stdout } = await execute("npx", ["--no-install", "coffer", ...words, "--json"], { cwd: programs, env });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    expect(await coffer("version")).toMatchObject({ version: manifestOf("packages/cli/package.json").version });
    await coffer("signup", "--dev", "--email", "packed-programs@example.com");
    await coffer("upload", "package.json");
    expect((await coffer("ls", "Files:"))["items"]).toHaveLength(1);
    await coffer("mcp", "status");
    for (const words of [
      ["status"],
      ["install", "--client", "cursor", "--allow", ".", "--dry-run"],
      ["audit", "verify"],
    ])
      await execute("npx", ["--no-install", "coffer-mcp", ...words], { cwd: programs, env });
  },
  PATIENCE_MS,
);

async function install(context: TestContext, packages: readonly string[]): Promise<void> {
  const { devDependencies } = manifestOf("package.json");
  const tools = [
    ...COMPILERS.map((version) => `typescript-${version}@npm:typescript@${version}`),
    ...["esbuild", "@types/node"].map((name) => `${name}@${devDependencies[name] ?? ""}`),
    `vite@${manifestOf("node_modules/vite/package.json").version}`,
  ];
  write("package.json", JSON.stringify({ name: "newcomer", private: true, type: "module" }));
  await fetchWithNpm(context, ["install", ...tarballsIn(folder, packages), ...tools], folder);
}

interface Manifest {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function manifestOf(file: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, file), "utf8")) as Manifest;
}

function write(file: string, text: string): void {
  writeFileSync(join(folder, file), text);
}

async function run(
  program: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<void> {
  const file = program.includes("/") ? resolve(folder, program) : program;
  await execute(file, args, { cwd: folder, env: { ...plainEnvironment(), ...variables } });
}

// Holds the floors inside packages and forbids cycles, with dependency-cruiser. `--root DIR` examines another tree.
// Exits 1 on a violation, and also when fewer modules were read than there are: a check that saw nothing proves nothing.
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { parseArgs } from "node:util";
import { cruise, type ICruiseOptions, type ICruiseResult, type IConfiguration } from "dependency-cruiser";
import extractTsConfig from "dependency-cruiser/config-utl/extract-ts-config";

const { values } = parseArgs({
  options: { root: { type: "string", default: path.resolve(import.meta.dirname, "../..") } },
});
const DIRECTORIES = ["packages", "server", "test", "examples", "dev"];

process.exitCode = (await checkFloors(path.resolve(values.root))) ? 0 : 1;

async function checkFloors(root: string): Promise<boolean> {
  // Paths in rules and results are relative to the working directory.
  process.chdir(root);
  const { modules, summary } = await cruiseRepository(root);
  const seen = new Set(modules.filter((module) => module.dependencies.length > 0).map((module) => module.source));
  const parsed = new Set(modules.map((module) => module.source));
  const expected = sourceFiles(root);
  const unread = expected.filter((file) => !parsed.has(file));
  for (const { rule, from, to, cycle } of summary.violations) {
    const through = cycle === undefined ? to : cycle.map((step) => step.name).join(" → ");
    console.log(`${rule.name}: ${from} → ${through}`);
  }
  for (const file of unread) console.log(`not read: ${file}`);
  // Reading a file without understanding it yields a module without imports; most modules have one.
  const blind = expected.length === 0 || seen.size < expected.length / 2;
  if (blind) console.log(`too few modules: imports were found in ${seen.size} of ${expected.length} source files`);
  const count = summary.violations.length;
  console.log(
    `${parsed.size} modules read, ${expected.length} source files, ${count} violation${count === 1 ? "" : "s"}`,
  );
  return count === 0 && unread.length === 0 && !blind;
}

async function cruiseRepository(root: string): Promise<ICruiseResult> {
  const configuration = createRequire(import.meta.url)(path.join(root, ".dependency-cruiser.cjs")) as IConfiguration;
  const options: ICruiseOptions = {
    ...configuration.options,
    ruleSet: { forbidden: configuration.forbidden ?? [] },
    validate: true,
  };
  const directories = DIRECTORIES.filter((directory) => existsSync(path.join(root, directory)));
  const tsConfig = extractTsConfig(path.join(root, "tsconfig.json"));
  const { output } = await cruise(directories, options, configuration.options?.enhancedResolveOptions ?? {}, {
    tsConfig,
  });
  if (typeof output === "string") throw new Error(`dependency-cruiser answered with text: ${output}`);
  return output;
}

/** What must have been read: every TypeScript source of the repository's own. */
function sourceFiles(root: string): string[] {
  return DIRECTORIES.filter((directory) => existsSync(path.join(root, directory))).flatMap((directory) =>
    readdirSync(path.join(root, directory), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".d.ts"))
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
      // Projects with the packed packages are no part of the tree.
      .filter((file) => !/(^|\/)(node_modules|dist|projects\/[\w-]+)\//.test(file)),
  );
}

import { isBuiltin } from "node:module";
import path from "node:path";
import {
  ALLOWED_PACKAGES,
  ALLOWED_WORKSPACES,
  ENVIRONMENT_READERS,
  FILE_RULES,
  RUNTIME_NEUTRAL_ENTRIES,
} from "./floors.ts";
import { readSourceFiles, readWorkspaces, type SourceFile, type Workspace } from "./source-files.ts";

export interface Topology {
  readonly workspaces: readonly Workspace[];
  readonly files: readonly SourceFile[];
  /** One sentence per violation, `<file or package>: <what>`; empty when every floor holds. */
  readonly violations: readonly string[];
}

/** Reads the repository at `root` and holds it to the floors of `floors.ts`. */
export function examineTopology(root: string): Topology {
  const workspaces = readWorkspaces(root);
  const files = readSourceFiles(root, workspaces);
  const declaredByRoot = workspaces.find((workspace) => workspace.directory === "");
  const violations = [
    ...workspaces.flatMap(dependencyViolations),
    ...files.flatMap((file) => importViolations(file, declaredByRoot)),
    ...files.flatMap(fileRuleViolations),
    ...files.flatMap(environmentViolations),
    ...neutralEntryViolations(files),
    ...roomViolations(files),
  ];
  return { workspaces, files, violations };
}

function dependencyViolations(workspace: Workspace): string[] {
  if (workspace.directory === "") return [];
  const allowed = ALLOWED_WORKSPACES[workspace.name];
  if (allowed === undefined) return [`${workspace.name}: has no floor in test/pins/floors.ts`];
  const closed = ALLOWED_PACKAGES[workspace.name];
  return [...workspace.dependencies, ...workspace.devDependencies].flatMap((name) => {
    if (name.startsWith("@coffer/"))
      return allowed.includes(name) ? [] : [`${workspace.name}: depends on ${name}, which its floor does not allow`];
    return closed === undefined || closed.includes(name)
      ? []
      : [`${workspace.name}: depends on ${name}, which it must not`];
  });
}

function importViolations(file: SourceFile, root: Workspace | undefined): string[] {
  return file.imports.flatMap((specifier) => {
    if (specifier.startsWith(".")) return relativeViolations(file, specifier);
    if (isBuiltin(specifier))
      return specifier.startsWith("node:") ? [] : [`${file.path}: imports ${specifier} without "node:"`];
    return declarationViolations(file, packageOf(specifier), root);
  });
}

/** A relative import stays in its package; the root's test, examples, bench and scripts share one package. */
function relativeViolations(file: SourceFile, specifier: string): string[] {
  const target = path.posix.join(path.posix.dirname(file.path), specifier);
  const { directory } = file.workspace;
  const inside = directory === "" ? !/^(\.\.|packages|server)\//.test(target) : target.startsWith(`${directory}/`);
  if (inside) return [];
  // The suites of the ports are the repository's, their drivers' tests stand beside the drivers.
  if (file.isTest && target.startsWith("test/")) return [];
  return [`${file.path}: the relative import ${specifier} leaves its package`];
}

function declarationViolations(file: SourceFile, name: string, root: Workspace | undefined): string[] {
  const { workspace } = file;
  if (name === workspace.name || workspace.dependencies.includes(name)) return [];
  if (file.isTest && workspace.devDependencies.includes(name)) return [];
  if (workspace.directory === "" && name in ALLOWED_WORKSPACES) return [];
  if (file.isTest && !name.startsWith("@coffer/") && root?.devDependencies.includes(name) === true) return [];
  return [`${file.path}: imports ${name}, which ${workspace.name} does not declare`];
}

function packageOf(specifier: string): string {
  const [scope = "", name = ""] = specifier.split("/");
  return scope.startsWith("@") ? `${scope}/${name}` : scope;
}

function fileRuleViolations(file: SourceFile): string[] {
  if (file.isTest) return [];
  return FILE_RULES.filter((rule) => rule.within.test(file.path) && !rule.allowedIn.test(file.path)).flatMap((rule) =>
    file.imports
      .filter((specifier) => rule.imports.test(specifier))
      .map((specifier) => `${file.path}: imports ${specifier} (${rule.name})`),
  );
}

function environmentViolations(file: SourceFile): string[] {
  if (!file.readsEnvironment || file.isTest) return [];
  return ENVIRONMENT_READERS.some((reader) => reader.test(file.path)) ? [] : [`${file.path}: reads process.env`];
}

function neutralEntryViolations(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return RUNTIME_NEUTRAL_ENTRIES.flatMap((entry) =>
    reachable(entry, byPath).flatMap((file) =>
      file.runtimeImports
        .filter(isBuiltin)
        .map((specifier) => `${file.path}: imports ${specifier}, and ${entry} reaches it`),
    ),
  );
}

/** The files a runtime-neutral entry reaches inside its own package. */
function reachable(entry: string, byPath: ReadonlyMap<string, SourceFile>): SourceFile[] {
  const seen = new Set<SourceFile>();
  const queue = [entry];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const file = byPath.get(next);
    if (file === undefined || seen.has(file)) continue;
    seen.add(file);
    const relative = file.runtimeImports.filter((specifier) => specifier.startsWith("."));
    queue.push(...relative.map((specifier) => path.posix.join(path.posix.dirname(file.path), specifier)));
  }
  return [...seen];
}

/** What stands in server/src/features: a folder, or a module beside them. */
const ROOM = /^server\/src\/features\/([^/]+)/;

/** Feature folders that import each other in a circle are one folder in the reader's head. */
function roomViolations(files: readonly SourceFile[]): string[] {
  const crossings = files.filter(({ isTest }) => !isTest).flatMap(crossingsOf);
  const next = Map.groupBy(crossings, ({ from }) => from);
  const reaches = (start: string, goal: string): boolean => {
    const seen = new Set([start]);
    for (const room of seen) for (const { to } of next.get(room) ?? []) seen.add(to);
    return seen.has(goal);
  };
  return crossings
    .filter(({ from, to }) => reaches(to, from))
    .map(({ file, to, from }) => `${file}: imports ${to}, and feature folders lead back from there to ${from}`);
}

interface Crossing {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

function crossingsOf(file: SourceFile): Crossing[] {
  const from = ROOM.exec(file.path)?.[1];
  if (from === undefined) return [];
  return file.imports
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => ROOM.exec(path.posix.join(path.posix.dirname(file.path), specifier))?.[1])
    .filter((to) => to !== undefined && to !== from)
    .map((to) => ({ file: file.path, from, to: String(to) }));
}

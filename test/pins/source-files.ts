import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

/** A package of the repository: the root itself has the directory "" and owns test, examples, bench and scripts. */
export interface Workspace {
  readonly name: string;
  /** From the repository's root, with `/`. */
  readonly directory: string;
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
}

export interface SourceFile {
  /** From the repository's root, with `/`. */
  readonly path: string;
  readonly workspace: Workspace;
  readonly isTest: boolean;
  readonly imports: readonly string[];
  /** Those of {@link imports} that are still there at run time, when types are erased. */
  readonly runtimeImports: readonly string[];
  readonly readsEnvironment: boolean;
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const ROOT_DIRECTORIES = ["test", "examples", "bench", "scripts"];

/** Every workspace below `root`, the root's own package last. */
export function readWorkspaces(root: string): Workspace[] {
  const packages = existsSync(path.join(root, "packages")) ? readdirSync(path.join(root, "packages")) : [];
  const directories = [...packages.sort().map((name) => `packages/${name}`), "server", ""];
  return directories
    .filter((directory) => existsSync(path.join(root, directory, "package.json")))
    .map((directory) => readWorkspace(root, directory));
}

/** Every TypeScript file of the repository's own, parsed for what it imports. */
export function readSourceFiles(root: string, workspaces: readonly Workspace[]): SourceFile[] {
  return workspaces.flatMap((workspace) => {
    const directories = workspace.directory === "" ? ROOT_DIRECTORIES : [`${workspace.directory}/src`];
    return directories
      .flatMap((directory) => typeScriptFiles(root, directory))
      .map((file) => readSourceFile(root, file, workspace));
  });
}

function readWorkspace(root: string, directory: string): Workspace {
  const manifest = JSON.parse(readFileSync(path.join(root, directory, "package.json"), "utf8")) as Manifest;
  const { dependencies = {}, peerDependencies = {}, optionalDependencies = {}, devDependencies = {} } = manifest;
  return {
    name: manifest.name,
    directory,
    dependencies: Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies }),
    devDependencies: Object.keys(devDependencies),
  };
}

function typeScriptFiles(root: string, directory: string): string[] {
  if (!existsSync(path.join(root, directory))) return [];
  return readdirSync(path.join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
    .filter((file) => !file.includes("node_modules/"))
    .sort();
}

function readSourceFile(root: string, file: string, workspace: Workspace): SourceFile {
  const text = readFileSync(path.join(root, file), "utf8");
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false);
  const found: Found = { imports: new Set(), runtimeImports: new Set(), environment: false };
  visit(tree, found);
  // Tests, the `test-….ts` files that set a service up for them, and everything in test, examples, bench and scripts.
  const isTest = /(\.test|\/test-[a-z-]+|\/live-service)\.ts$/.test(file) || workspace.directory === "";
  return {
    path: file,
    workspace,
    isTest,
    imports: [...found.imports],
    runtimeImports: [...found.runtimeImports],
    readsEnvironment: found.environment,
  };
}

interface Found {
  readonly imports: Set<string>;
  readonly runtimeImports: Set<string>;
  environment: boolean;
}

function visit(node: ts.Node, found: Found): void {
  const specifier = specifierOf(node);
  if (specifier !== null) found.imports.add(specifier);
  if (specifier !== null && !isErased(node)) found.runtimeImports.add(specifier);
  if (isEnvironment(node)) found.environment = true;
  ts.forEachChild(node, (child) => visit(child, found));
}

/** What a static, re-exporting, type-position or dynamic import names; null for every other node. */
function specifierOf(node: ts.Node): string | null {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? textOf(node.argument.literal) : null;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return textOf(node.arguments[0]);
  return null;
}

/** With `verbatimModuleSyntax` an import goes away exactly when it says `type` as a whole. */
function isErased(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
  return ts.isImportTypeNode(node) || (ts.isExportDeclaration(node) && node.isTypeOnly);
}

function textOf(node: ts.Node | undefined): string | null {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : null;
}

/** `process.env`, `process["env"]`, `const { env } = process`, `import { env } from "node:process"`. */
function isEnvironment(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === "env" && isProcess(node.expression);
  if (ts.isElementAccessExpression(node))
    return textOf(node.argumentExpression) === "env" && isProcess(node.expression);
  if (ts.isVariableDeclaration(node)) return isDestructuredEnvironment(node);
  if (ts.isImportDeclaration(node)) return importsEnvironment(node);
  return false;
}

function isProcess(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === "process";
  return ts.isIdentifier(node) && node.text === "process";
}

function isDestructuredEnvironment({ name, initializer }: ts.VariableDeclaration): boolean {
  if (initializer === undefined || !isProcess(initializer) || !ts.isObjectBindingPattern(name)) return false;
  return name.elements.some(({ propertyName, name: bound }) => {
    const key = propertyName ?? bound;
    return ts.isIdentifier(key) && key.text === "env";
  });
}

function importsEnvironment(node: ts.ImportDeclaration): boolean {
  const named = node.importClause?.namedBindings;
  if (!/^(node:)?process$/.test(textOf(node.moduleSpecifier) ?? "") || named === undefined) return false;
  return (
    ts.isNamedImports(named) && named.elements.some(({ propertyName, name }) => (propertyName ?? name).text === "env")
  );
}

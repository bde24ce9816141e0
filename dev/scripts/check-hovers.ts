// Reads the built types of the SDK as an editor does: the methods of a client and the functions of `@coffer/sdk/node`.
// What they take and return has a name that programs can import. Each of its fields shows a text.
// Run `npm run build` first; `--source` reads the sources.
import { existsSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";
import { NamedTypes } from "./named-types.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PROBE = path.join(ROOT, "packages/sdk/hover-probe.ts");
/** Fewer methods, types or fields than these: the walk has missed some. */
const FEWEST = { methods: 105, types: 165, fields: 900 };

const { values } = parseArgs({ options: { source: { type: "boolean" } } });
const entry = path.join(ROOT, "packages/sdk", values.source === true ? "src/index.ts" : "dist/index.d.ts");
/** Its functions are walked, too. */
const OTHERS = { node: "node/index" };
/** Types that are walked elsewhere, or are another package's. */
const SKIPPED = ["SdkError", "Client", "CryptoPlatform", "NetworkConfiguration"];
const problems: string[] = [];

if (!existsSync(entry)) {
  console.log(`FAILED ${path.relative(ROOT, entry)} is missing: run npm run build first`);
  process.exitCode = 1;
} else {
  const { methods, types, fields } = check();
  for (const problem of problems) console.log(`FAILED ${problem}`);
  const isWhole = methods >= FEWEST.methods && types >= FEWEST.types && fields >= FEWEST.fields;
  console.log(
    `${isWhole ? "" : "FAILED too few: "}${methods} methods, ${types} named types, ${fields} fields, ${problems.length} without a name or a text`,
  );
  if (problems.length > 0 || !isWhole) process.exitCode = 1;
}

interface Counts {
  readonly methods: number;
  readonly types: number;
  readonly fields: number;
}

interface Method {
  readonly name: string;
  readonly symbol: ts.Symbol;
}

/** A place in the probe, and what an editor must show there. */
interface Question {
  readonly at: number;
  readonly where: string;
  /** Absent: a text. */
  readonly shown?: RegExp;
}

function check(): Counts {
  const others = Object.entries(OTHERS).map(([name, file]) => ({ name, file: fileOf(file) }));
  let text = `import { createClient } from ${JSON.stringify(importable(entry))};\nconst client = createClient(null!);\n`;
  for (const { name, file } of others) text += `import * as ${name} from ${JSON.stringify(importable(file))};\n`;
  const service = serviceOf(() => text);
  const checker = checkerOf(service);
  const probe = sourceOf(service);
  const declared = probe.statements.find((each) => ts.isVariableStatement(each))?.declarationList.declarations[0];
  if (declared === undefined) throw new Error("the probe has no client");
  const client = checker.getTypeAtLocation(declared.name);
  const exported = new Set(
    [entry, ...others.map(({ file }) => file)].flatMap((file) => namesOf(checker, service, file)),
  );
  const methods = methodsOf(checker, client, "client.");
  const walk = new NamedTypes(checker, exported, { problems, skipped: SKIPPED });
  const questions: Question[] = [];
  const ask = (line: string, word: string, where: string, shown?: RegExp): void => {
    questions.push({ at: text.length + line.lastIndexOf(word), where, ...(shown === undefined ? {} : { shown }) });
    text += `${line}\n`;
  };
  const signatures = methods.map(({ name, symbol }) => ({ name, signature: signatureOf(checker, name, symbol) }));
  const functions = others.flatMap(({ name, file }) => functionsOf(checker, service, name, file));
  for (const { name, signature } of functions)
    for (const parameter of signature.parameters)
      walk.visit(checker.getTypeOfSymbol(parameter), `${name}(${parameter.name})`);
  for (const { name, signature } of signatures)
    for (const parameter of signature.parameters)
      walk.visit(checker.getTypeOfSymbol(parameter), `${name}(${parameter.name})`);
  walk.areInputs = false;
  for (const [index, { name, signature }] of signatures.entries()) {
    ask(`${name};`, name.slice(name.lastIndexOf(".") + 1), name);
    const result = walk.settle(signature.getReturnType());
    walk.visit(result, name);
    const shown = checker.typeToString(result);
    const constant = `r${index}`;
    ask(`const ${constant} = await ${name}();`, constant, name, new RegExp(`: (node\\.)?${escaped(shown)}$`));
    for (const field of walk.fieldsOf(result)) ask(`${constant}.${field};`, field, `${name} → ${field}`);
  }
  for (const { name, signature } of functions) {
    ask(`${name};`, name.slice(name.lastIndexOf(".") + 1), name);
    walk.visit(walk.settle(signature.getReturnType()), name);
  }
  for (const question of questions) answer(service, question);
  return { methods: methods.length + functions.length, types: walk.types.size, fields: walk.fields };
}

function signatureOf(checker: ts.TypeChecker, name: string, symbol: ts.Symbol): ts.Signature {
  const [signature, second] = checker.getTypeOfSymbol(symbol).getCallSignatures();
  if (signature === undefined || second !== undefined) throw new Error(`${name} has not one signature`);
  return signature;
}

/** What an editor shows at a place of the probe. */
function answer(service: ts.LanguageService, { at, where, shown }: Question): void {
  const info = service.getQuickInfoAtPosition(PROBE, at);
  const said = ts.displayPartsToString(info?.displayParts).replaceAll(/\s+/g, " ");
  if (shown !== undefined) {
    if (!shown.test(said) || said.includes("{")) problems.push(`${where}: the hover of its result shows ${said}`);
  } else if ((info?.documentation ?? []).length === 0) problems.push(`${where}: its hover has no text: ${said}`);
}

function methodsOf(checker: ts.TypeChecker, type: ts.Type, prefix: string): Method[] {
  return type.getProperties().flatMap((symbol) => {
    const member = checker.getTypeOfSymbol(symbol);
    const name = `${prefix}${symbol.name}`;
    // These two give what the endpoint that they are given declares.
    if (name === "client.call" || name === "client.request") return [];
    if (member.getCallSignatures().length > 0) return [{ name, symbol }];
    return member.getProperties().length > 0 && (member.flags & ts.TypeFlags.Object) !== 0
      ? methodsOf(checker, member, `${name}.`)
      : [];
  });
}

function functionsOf(checker: ts.TypeChecker, service: ts.LanguageService, entryName: string, file: string) {
  return exportsOf(checker, service, file).flatMap((symbol) => {
    const own = (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
    if ((own.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Variable)) === 0) return [];
    const signatures = checker.getTypeOfSymbol(own).getCallSignatures();
    return signatures.map((signature) => ({ name: `${entryName}.${symbol.name}`, signature }));
  });
}

function namesOf(checker: ts.TypeChecker, service: ts.LanguageService, file: string): string[] {
  return exportsOf(checker, service, file).map(({ name }) => name);
}

function exportsOf(checker: ts.TypeChecker, service: ts.LanguageService, file: string): ts.Symbol[] {
  const source = service.getProgram()?.getSourceFile(file);
  const symbol = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (symbol === undefined) throw new Error(`TypeScript did not read ${file}`);
  return checker.getExportsOfModule(symbol);
}

function fileOf(name: string): string {
  const isSource = values.source === true;
  return path.join(ROOT, "packages/sdk", isSource ? `src/${name}.ts` : `dist/${name}.d.ts`);
}

function importable(file: string): string {
  return file.replace(/\.d\.ts$/, ".js");
}

function serviceOf(textOf: () => string): ts.LanguageService {
  const options: ts.CompilerOptions = {
    strict: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.ESNext,
    types: ["node"],
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    noEmit: true,
    lib: ["lib.es2024.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.esnext.disposable.d.ts"],
    exactOptionalPropertyTypes: true,
    customConditions: values.source === true ? ["coffer-source"] : [],
  };
  return ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [PROBE],
    getScriptVersion: (file) => (file === PROBE ? String(textOf().length) : "1"),
    getScriptSnapshot: (file) => {
      const text = file === PROBE ? textOf() : ts.sys.readFile(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
    fileExists: (file) => ts.sys.fileExists(file),
    readFile: (file) => ts.sys.readFile(file),
    readDirectory: (...given) => ts.sys.readDirectory(...given),
    directoryExists: (name) => ts.sys.directoryExists(name),
    getDirectories: (name) => ts.sys.getDirectories(name),
    realpath: (name) => ts.sys.realpath?.(name) ?? name,
  });
}

function checkerOf(service: ts.LanguageService): ts.TypeChecker {
  const program = service.getProgram();
  if (program === undefined) throw new Error("TypeScript made no program");
  return program.getTypeChecker();
}

function sourceOf(service: ts.LanguageService): ts.SourceFile {
  const source = service.getProgram()?.getSourceFile(PROBE);
  if (source === undefined) throw new Error("TypeScript read no probe");
  return source;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

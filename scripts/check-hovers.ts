// Reads the built types of the SDK as an editor does. What a method of a client takes and gives has a name that
// programs can import, and each of its fields shows a text. Run `npm run build` first; `--source` reads the sources.
import { existsSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";
import { NamedTypes } from "./named-types.ts";

const ROOT = path.dirname(import.meta.dirname);
const PROBE = path.join(ROOT, "packages/sdk/hover-probe.ts");
/** Fewer methods, types or fields than these: the walk has missed some. */
const FEWEST = { methods: 85, types: 140, fields: 700 };

const { values } = parseArgs({ options: { source: { type: "boolean" } } });
const entry = path.join(ROOT, "packages/sdk", values.source === true ? "src/index.ts" : "dist/index.d.ts");
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
  let text = `import { createClient } from ${JSON.stringify(entry.replace(/\.d\.ts$/, ".js"))};\nconst client = createClient(null!);\n`;
  const service = serviceOf(() => text);
  const checker = checkerOf(service);
  const probe = sourceOf(service);
  const declared = probe.statements.find((each) => ts.isVariableStatement(each))?.declarationList.declarations[0];
  if (declared === undefined) throw new Error("the probe has no client");
  const client = checker.getTypeAtLocation(declared.name);
  const exported = new Set(namesOf(checker, service));
  const methods = methodsOf(checker, client, "client.");
  const walk = new NamedTypes(checker, exported, problems);
  const questions: Question[] = [];
  const ask = (line: string, word: string, where: string, shown?: RegExp): void => {
    questions.push({ at: text.length + line.lastIndexOf(word), where, ...(shown === undefined ? {} : { shown }) });
    text += `${line}\n`;
  };
  const signatures = methods.map(({ name, symbol }) => ({ name, signature: signatureOf(checker, name, symbol) }));
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
    ask(`const ${constant} = await ${name}();`, constant, name, new RegExp(`: ${escaped(shown)}$`));
    for (const field of walk.fieldsOf(result)) ask(`${constant}.${field};`, field, `${name} → ${field}`);
  }
  for (const question of questions) answer(service, question);
  return { methods: methods.length, types: walk.types.size, fields: walk.fields };
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

function namesOf(checker: ts.TypeChecker, service: ts.LanguageService): string[] {
  const source = service.getProgram()?.getSourceFile(entry);
  const symbol = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  return symbol === undefined ? [] : checker.getExportsOfModule(symbol).map(({ name }) => name);
}

function serviceOf(textOf: () => string): ts.LanguageService {
  const options: ts.CompilerOptions = {
    ...{ strict: true, target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.ESNext, types: ["node"] },
    ...{ moduleResolution: ts.ModuleResolutionKind.Bundler, allowImportingTsExtensions: true, noEmit: true },
    ...{ lib: ["lib.es2024.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.esnext.disposable.d.ts"] },
    ...{ exactOptionalPropertyTypes: true, customConditions: values.source === true ? ["coffer-source"] : [] },
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

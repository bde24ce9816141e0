/**
 * The comments of the contract's endpoints and fields, read as an editor reads them: what it shows at a field is what the OpenAPI document
 * says of it.
 */
import path from "node:path";
import { textKey, type Texts } from "@coffer/contract/openapi";
import ts from "typescript";

const SOURCE = path.join(import.meta.dirname, "../../packages/contract/src/api.ts");
const SECTIONS = { params: "input", query: "input", headers: "input", body: "input", output: "output" } as const;

export function readContractTexts(): Texts {
  const program = ts.createProgram([SOURCE], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const texts: Record<string, string> = {};

  const textOf = (symbol: ts.Symbol): string =>
    ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll(/\s+/g, " ");
  const members = (type: ts.Type): [ts.Symbol, ts.Type][] =>
    type.getProperties().map((symbol) => [symbol, checker.getTypeOfSymbol(symbol)]);
  const member = (type: ts.Type, name: string): ts.Type | undefined => {
    const symbol = type.getProperty(name);
    return symbol === undefined ? undefined : checker.getTypeOfSymbol(symbol);
  };

  function readFields(given: ts.Type, keyOf: (path: readonly string[]) => string, at: readonly string[]): void {
    const type = checker.getNonNullableType(given);
    if (type.isUnion()) for (const part of type.types) readFields(part, keyOf, at);
    else if (checker.isArrayType(type))
      for (const item of checker.getTypeArguments(type as ts.TypeReference)) readFields(item, keyOf, at);
    else if (isObject(type))
      for (const [symbol, below] of members(type)) {
        const text = textOf(symbol);
        if (text !== "") texts[keyOf([...at, symbol.name])] = text;
        readFields(below, keyOf, [...at, symbol.name]);
      }
  }

  for (const [group, endpoints] of members(typeOfExport(program, checker, "CofferApi")))
    for (const [endpoint, type] of members(endpoints)) {
      const id = `${group.name}.${endpoint.name}`;
      texts[textKey(id)] = textOf(endpoint);
      for (const [section, io] of Object.entries(SECTIONS)) {
        const schema = member(type, section);
        const internals = schema === undefined ? undefined : member(schema, "_zod");
        const parsed = internals === undefined ? undefined : member(internals, "output");
        if (parsed !== undefined) readFields(parsed, (field) => textKey(id, io, field), []);
      }
    }
  return texts;
}

/** An object with fields: no text that may be other words, which is an intersection with a text. */
function isObject(type: ts.Type): boolean {
  if (type.isIntersection()) return type.types.every((part) => isObject(part));
  return (type.flags & ts.TypeFlags.Object) !== 0 && type.getCallSignatures().length === 0;
}

function typeOfExport(program: ts.Program, checker: ts.TypeChecker, name: string): ts.Type {
  const source = program.getSourceFile(SOURCE);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  const symbol =
    module === undefined ? undefined : checker.getExportsOfModule(module).find((each) => each.name === name);
  if (symbol === undefined) throw new Error(`${SOURCE} exports no ${name}`);
  return checker.getDeclaredTypeOfSymbol(symbol);
}

/** docs/generated/api.md: every method of the SDK's client and every function of its entries, read from their declarations. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { api, type EndpointDefinition, endpointsOf, errorsOf, isErrorCode } from "@coffer/contract";
import ts from "typescript";
import { EVERYWHERE, factsOf, FUNCTION_FACTS, type MethodFacts, OWN_CODES, STEPS } from "./method-facts.ts";

const source = path.join(import.meta.dirname, "../packages/sdk/src");
const FILES = [
  "files",
  "resources/account",
  "resources/changes",
  "resources/invites",
  "resources/sign-in",
  "resources/storage",
  "resources/webhooks",
];

export interface Method {
  readonly name: string;
  readonly signature: string;
  /** The first paragraph of its comment; "" where it has none. */
  readonly text: string;
  /** The codes that its `@throws` name. */
  readonly thrown: readonly string[];
}

/** The entries of the package, each with its module. */
const ENTRIES: Readonly<Record<string, string>> = {
  "@coffer/sdk": "index.ts",
  "@coffer/sdk/node": "node/index.ts",
  "@coffer/sdk/shared": "shared-vaults.ts",
  "@coffer/sdk/webhooks": "webhooks/index.ts",
  "@coffer/sdk/testing": "testing/index.ts",
  "@coffer/sdk/testing/msw": "testing/msw.ts",
};

/** Every method of a client but `call` and `request`, in the order of the client. */
export function clientMethods(): Method[] {
  const resources = new Map(FILES.flatMap((file) => interfacesOf(parse(`${file}.ts`))));
  const client = new Map(interfacesOf(parse("client.ts"))).get("Client");
  if (client === undefined) throw new Error("client.ts declares no Client");
  return client.members.flatMap((member) => methodsBelow(member, "", resources));
}

function methodsBelow(
  member: ts.TypeElement,
  prefix: string,
  resources: ReadonlyMap<string, ts.InterfaceDeclaration>,
): Method[] {
  const name = `${prefix}${member.name?.getText() ?? ""}`;
  if (ts.isPropertySignature(member)) {
    const type = /\w+$/.exec(member.type?.getText() ?? "")?.[0] ?? "";
    const below = resources.get(type);
    return below === undefined ? [] : below.members.flatMap((each) => methodsBelow(each, `${name}.`, resources));
  }
  if (!ts.isMethodSignature(member) || name === "call" || name === "request") return [];
  const parameters = member.parameters.map((parameter) => parameter.getText()).join(", ");
  const signature = `${name}(${parameters}): ${member.type?.getText() ?? "void"}`.replaceAll(/\s+/g, " ");
  return [{ name, signature, text: textOf(member), thrown: thrownBy(member) }];
}

function textOf(member: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(member);
  const text = comment === undefined ? "" : ts.getTextOfJSDocComment(comment.comment);
  const [first = ""] = (text ?? "").split("\n\n", 1);
  return first.replaceAll(/\s+/g, " ").replaceAll(/\{@link (\S+?)\}/g, "`$1`");
}

function thrownBy(member: ts.Node): string[] {
  const tags = ts.getJSDocTags(member).filter(({ tagName }) => tagName.text === "throws");
  const texts = tags.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "");
  const words = texts.flatMap((text) => Array.from(text.matchAll(/`(\w+)`/g), ([, word = ""]) => word));
  return words.filter((word) => isErrorCode(word) || OWN_CODES.has(word));
}

/** The functions of an entry, in the order of its exports. */
export function entryFunctions(entry: string): Method[] {
  const file = ENTRIES[entry] ?? "";
  const source = parse(file);
  const own = source.statements.filter((each) => isExported(each)).flatMap((each) => functionsIn(each, () => true));
  const others = source.statements.flatMap((each) => {
    if (!ts.isExportDeclaration(each) || each.isTypeOnly || each.exportClause === undefined) return [];
    const { exportClause, moduleSpecifier } = each;
    if (!ts.isNamedExports(exportClause) || moduleSpecifier === undefined) return [];
    const target = (moduleSpecifier as ts.StringLiteral).text;
    if (!target.startsWith(".")) return [];
    const names = new Set(exportClause.elements.filter(({ isTypeOnly }) => !isTypeOnly).map(({ name }) => name.text));
    const { statements } = parse(path.join(path.dirname(file), target));
    return statements.flatMap((statement) => functionsIn(statement, (name) => names.has(name)));
  });
  return [...own, ...others];
}

function functionsIn(statement: ts.Statement, isWanted: (name: string) => boolean): Method[] {
  if (!ts.isFunctionDeclaration(statement) || statement.name === undefined || !isWanted(statement.name.text)) return [];
  const name = statement.name.text;
  const types = (statement.typeParameters ?? []).map((type) => type.getText()).join(", ");
  const parameters = statement.parameters.map((parameter) => parameter.getText()).join(", ");
  const signature = `${name}${types === "" ? "" : `<${types}>`}(${parameters}): ${statement.type?.getText() ?? "void"}`;
  return [{ name, signature: signature.replaceAll(/\s+/g, " "), text: textOf(statement), thrown: thrownBy(statement) }];
}

function isExported(statement: ts.Statement): boolean {
  return (ts.getCombinedModifierFlags(statement as unknown as ts.Declaration) & ts.ModifierFlags.Export) !== 0;
}

/** The endpoint of an id, which the contract must have. */
export function endpointOf(id: string): EndpointDefinition {
  const found = endpointsOf(api).find((endpoint) => endpoint.id === id);
  if (found === undefined) throw new Error(`scripts/method-facts.ts: there is no endpoint ${id}`);
  return found;
}

export function renderApiPage(): string {
  const methods = clientMethods();
  const groups = [...new Set(methods.map(({ name }) => name.split(".", 1)[0] ?? ""))];
  return [
    "# Methods of the SDK",
    "",
    "Every method of a client of `@coffer/sdk`, then the functions of its entries. What each code means is in",
    "[errors.md](errors.md). Inputs and results are named types with a comment on every field.",
    "",
    "## Errors",
    "",
    `Any method may also fail with ${codeList(EVERYWHERE)}, and a client with a session with \`session_ended\`.`,
    "The service's errors arrive as `ApiError`, but the codes of shared vaults as `VaultError` and `session_ended` as",
    "`SessionEndedError`. Work in a shared vault has steps, and each has its own errors:",
    "",
    "| Step | What it does | Errors |",
    "| --- | --- | --- |",
    ...Object.entries(STEPS).map(([step, codes]) => `| ${step} | ${STEP_TEXTS[step as Step]} | ${codeList(codes)} |`),
    "",
    ...groups.flatMap((group) => [
      `## ${group}`,
      "",
      ...methods.filter(({ name }) => name === group || name.startsWith(`${group}.`)).flatMap(renderMethod),
    ]),
    ...Object.keys(ENTRIES).flatMap((entry) => [
      `## Functions of ${entry}`,
      "",
      ...entryFunctions(entry).flatMap(renderFunction),
    ]),
  ].join("\n");
}

type Step = keyof typeof STEPS;

const STEP_TEXTS: Readonly<Record<Step, string>> = {
  opening: "finds the vault and its allowlist on the chain, and compares both with what this client has pinned",
  reading: "gets the vault's keys from the key servers, and verifies and decrypts names or contents",
  writing: "encrypts and signs names or contents",
  acting: "signs a transaction, and waits until the chain and the service show it",
};

function renderMethod(method: Method): string[] {
  const facts = factsOf(method.name);
  const endpoints = facts.endpoints.map(endpointOf);
  const errors = [...new Set(endpoints.flatMap((endpoint) => errorsOf(endpoint)))];
  const shared = facts.inShared.filter((id) => !facts.endpoints.includes(id)).map(endpointOf);
  return [
    ...heading(method),
    endpoints.length === 0
      ? "It asks the service nothing."
      : `${endpoints.length === 1 ? "Endpoint" : "Endpoints"}: ${endpoints.map(placeOf).join(", ")}. Errors of the service: ${codeList(errors)}.`,
    "",
    ...(shared.length === 0 ? [] : [`In a shared vault also: ${shared.map(placeOf).join(", ")}.`, ""]),
    ...ownErrors(facts),
  ];
}

function renderFunction(method: Method): string[] {
  return [...heading(method), ...ownErrors(FUNCTION_FACTS[method.name] ?? { codes: [] }, method.thrown)];
}

function heading({ name, signature, text }: Method): string[] {
  return [`### ${name}`, "", "```ts", signature, "```", "", ...(text === "" ? [] : [text, ""])];
}

/** `thrown`: what its comment names, where no facts do. */
function ownErrors({ codes = [], steps = [] }: MethodFacts, thrown: readonly string[] = []): string[] {
  const own = [...new Set([...codes, ...thrown])];
  const parts = [
    ...(own.length === 0 ? [] : [`Errors of the SDK: ${codeList(own)}.`]),
    ...(steps.length === 0 ? [] : [`In a shared vault also those of [${steps.join(", ")}](#errors).`]),
  ];
  return parts.length === 0 ? [] : [parts.join(" "), ""];
}

function placeOf({ method, path: place }: EndpointDefinition): string {
  return `\`${method} ${place}\``;
}

function codeList(codes: readonly string[]): string {
  return codes.map((code) => `\`${code}\``).join(", ");
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(path.join(source, file), "utf8"), ts.ScriptTarget.Latest, true);
}

function interfacesOf(file: ts.SourceFile): [string, ts.InterfaceDeclaration][] {
  return file.statements.filter((each) => ts.isInterfaceDeclaration(each)).map((each) => [each.name.text, each]);
}

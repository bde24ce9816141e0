/** docs/generated/api.md: every method of the SDK's client, read from the interfaces that declare it. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { api, type EndpointDefinition, endpointsOf, errorsOf } from "@coffer/contract";
import ts from "typescript";

const source = path.join(import.meta.dirname, "../packages/sdk/src");
const FILES = [
  "files",
  "resources/account",
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
  readonly endpoint: EndpointDefinition | null;
}

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
  if (!ts.isMethodSignature(member) || prefix === "") return [];
  const parameters = member.parameters.map((parameter) => parameter.getText()).join(", ");
  const signature = `${name}(${parameters}): ${member.type?.getText() ?? "void"}`.replaceAll(/\s+/g, " ");
  return [{ name, signature, text: textOf(member), endpoint: endpointOf(name) }];
}

function textOf(member: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(member);
  const text = comment === undefined ? "" : ts.getTextOfJSDocComment(comment.comment);
  return (text ?? "").split("\n\n", 1)[0]?.replaceAll(/\s+/g, " ") ?? "";
}

/** Methods whose endpoint has another name than theirs. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  "files.download": "files.content",
  "trash.vaults": "trash.list",
  "vaults.acceptOwnership": "ownership.claim",
  "vaults.members.add": "members.add",
  "vaults.members.list": "members.list",
  "vaults.members.remove": "members.remove",
  "agents.revoke": "apiKeys.revoke",
  "webhooks.eventKinds": "webhookEvents.list",
};

function endpointOf(method: string): EndpointDefinition | null {
  const id = ENDPOINTS[method] ?? method;
  return endpointsOf(api).find((endpoint) => endpoint.id === id) ?? null;
}

export function renderApiPage(): string {
  const methods = clientMethods();
  const groups = [...new Set(methods.map(({ name }) => name.split(".", 1)[0] ?? ""))];
  return [
    "# Methods of the SDK",
    "",
    "Every method of a client of `@coffer/sdk`. Any method may also reject with a `ConnectionError`, a `TimeoutError` or an",
    "`AbortError`. The endpoint's errors arrive as `ApiError`, but the codes of shared vaults as `VaultError` and `session_ended` as",
    "`SessionEndedError`. What each code means is in [errors.md](errors.md); inputs are named types with a comment on every field.",
    "",
    ...groups.flatMap((group) => [
      `## ${group}`,
      "",
      ...methods.filter(({ name }) => name.startsWith(`${group}.`)).flatMap(renderMethod),
    ]),
  ].join("\n");
}

function renderMethod({ name, signature, text, endpoint }: Method): string[] {
  const service =
    endpoint === null
      ? ["It uses several endpoints, or none."]
      : [
          `Endpoint: \`${endpoint.method} ${endpoint.path}\`. Its errors: ${errorsOf(endpoint)
            .map((code) => `\`${code}\``)
            .join(", ")}.`,
        ];
  return [`### ${name}`, "", "```ts", signature, "```", "", ...(text === "" ? [] : [text, ""]), ...service, ""];
}

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(path.join(source, file), "utf8"), ts.ScriptTarget.Latest, true);
}

function interfacesOf(file: ts.SourceFile): [string, ts.InterfaceDeclaration][] {
  return file.statements.filter((each) => ts.isInterfaceDeclaration(each)).map((each) => [each.name.text, each]);
}

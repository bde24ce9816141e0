/** The named input types of the SDK, with TSDoc, from the contract: packages/sdk/src/resources/input-types.ts. */
import { api, type EndpointDefinition, endpointsOf, isBytes } from "@coffer/contract";
import { describeField } from "@coffer/contract/describe";
import { EVENT_KINDS } from "@coffer/contract/event-kinds";
import { SCOPES } from "@coffer/contract";
import * as z from "zod/mini";

type Schema = z.core.JSONSchema.BaseSchema;

/** Endpoint → what its methods call the type, and the fields that the SDK fills in by itself. */
const TYPES: Readonly<
  Record<
    string,
    { readonly name?: string; readonly without?: readonly string[]; readonly types?: Readonly<Record<string, string>> }
  >
> = {
  "account.update": {},
  "apiKeys.create": { without: ["chainAddress", "addressProof"], types: { budgets: "Budgets" } },
  "apiKeys.list": {},
  "apiKeys.rotate": {},
  "audit.list": {},
  "auth.changePassword": {},
  "auth.login": {},
  "auth.resetPassword": {},
  "auth.signup": {},
  "billing.changePlan": {},
  "billing.checkout": {},
  "changes.list": {},
  "development.signup": {},
  "files.restore": { without: ["shared"] },
  "files.list": { without: ["nameIndex"] },
  "files.entries": {},
  "files.search": {},
  "files.versions": {},
  "folders.create": { without: ["shared"] },
  "folders.entries": {},
  "folders.list": { without: ["nameIndex"] },
  "folders.restore": { without: ["shared"] },
  "folders.update": { without: ["shared"] },
  "identityProvider.authorize": {},
  "identityProvider.authorizeZklogin": { name: "ZkloginAuthorizeFields", without: ["nonce"] },
  "identityProvider.callback": {},
  "identityProvider.zkloginAuth": { types: { proof: "ZkloginProof" } },
  "identityProvider.zkloginToken": {},
  "invites.create": { types: { budgets: "Budgets" } },
  "invites.list": {},
  "sessions.list": {},
  "trash.empty": {},
  "trash.list": { without: ["kind"] },
  "vaults.create": { name: "VaultFields" },
  "vaults.list": {},
  "vaults.restore": {},
  "vaults.update": {},
  "webhooks.create": {},
  "webhooks.deliveries": {},
  "webhooks.list": {},
  "webhooks.recover": {},
  "webhooks.update": {},
};

export function renderInputTypes(): string {
  const declarations = endpointsOf(api).flatMap((endpoint) => (endpoint.id in TYPES ? [renderType(endpoint)] : []));
  return [
    "// Made by `npm run generate` from the contract: change packages/contract, not this file.",
    'import type { EventKind, Scope } from "@coffer/contract";',
    'import type { Budgets, ZkloginProof } from "./result-types.ts";',
    "",
    ...declarations,
  ].join("\n");
}

function renderType(endpoint: EndpointDefinition): string {
  const schema = isBytes(endpoint.body) ? endpoint.query : (endpoint.body ?? endpoint.query);
  if (schema === undefined) throw new Error(`${endpoint.id} takes neither a body nor a query`);
  const { name = nameOf(endpoint), without = [] } = TYPES[endpoint.id] ?? {};
  const json = z.toJSONSchema(schema, { io: "output", unrepresentable: "any" });
  const summary = `/** Input of \`${endpoint.id}\`. */`;
  if (json.anyOf === undefined)
    return `${summary}\nexport interface ${name} ${renderObject(json, endpoint.id, [], without)}\n`;
  // One name for each form, after its first field.
  const forms = json.anyOf;
  const names = forms.map((form) => `${name}By${capital(Object.keys(form.properties ?? {})[0] ?? "")}`);
  return [
    ...forms.map(
      (form, at) => `${summary}\nexport interface ${names[at] ?? ""} ${renderObject(form, endpoint.id, [], without)}\n`,
    ),
    `${summary}\nexport type ${name} = ${names.join(" | ")};\n`,
  ].join("\n");
}

/** `vaults.create` → `VaultCreateInput`; `vaults.list` → `VaultListQuery`. */
function nameOf({ id, body }: EndpointDefinition): string {
  const [group = "", operation = ""] = id.split(".");
  return `${capital(group.replace(/s$/, ""))}${capital(operation)}${body === undefined ? "Query" : "Input"}`;
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function renderObject(schema: Schema, id: string, path: readonly string[], without: readonly string[]): string {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {})
    .filter(([name]) => !without.includes(name))
    .map(([name, property]) => {
      const at = [...path, name];
      const type = TYPES[id]?.types?.[at.join(".")] ?? renderValue(property as Schema, id, at);
      const field = required.has(name) ? `${name}: ${type}` : `${name}?: ${type} | undefined`;
      return `/** ${describeField("input", id, at) ?? ""} */\nreadonly ${field};`;
    });
  return `{\n${fields.join("\n")}\n}`;
}

function renderValue(schema: Schema, id: string, path: readonly string[]): string {
  if (schema.anyOf !== undefined) {
    const parts = schema.anyOf.map((part) => renderValue(part, id, path));
    // A word beside any text adds nothing to the type; its description names it.
    return parts.filter((part) => !parts.includes("string") || !part.startsWith('"')).join(" | ");
  }
  if (schema.enum !== undefined) return renderWords(schema.enum.map(String));
  switch (schema.type) {
    case "array":
      return `(${renderValue(schema.items as Schema, id, path)})[]`;
    case "object":
      return renderObject(schema, id, path, []);
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    default:
      throw new Error(`${id}: ${path.join(".")} has a form that no type is made of`);
  }
}

function renderWords(words: readonly string[]): string {
  const all = new Set(words);
  const holds = (list: readonly string[]) => list.length > 1 && list.every((word) => all.has(word));
  for (const [type, list] of [
    ["Scope", SCOPES],
    ["EventKind", EVENT_KINDS],
  ] as const) {
    if (!holds(list)) continue;
    const others = words.filter((word) => !(list as readonly string[]).includes(word));
    return [type, ...others.map((word) => JSON.stringify(word))].join(" | ");
  }
  return words.map((word) => JSON.stringify(word)).join(" | ");
}

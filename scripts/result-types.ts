/** The named types of the SDK's results, with TSDoc, from the contract: packages/sdk/src/resources/result-types.ts. */
import {
  api,
  type EndpointDefinition,
  endpointsOf,
  EVENT_KINDS,
  eventSchema,
  isBytes,
  isEventKind,
  SCOPES,
} from "@coffer/contract";
import { describeField } from "@coffer/contract/describe";
import { renderSchema } from "@coffer/contract/openapi";
import type * as z from "zod/mini";

type Schema = z.core.JSONSchema.BaseSchema & { readonly "x-known-values"?: readonly string[] };

interface Source {
  readonly text: string;
  /** Endpoint and the field of its answer that has the type; a list stands for its items. */
  readonly at: string;
  /** Texts of fields that this SDK fills in otherwise than the service does. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Fields that only the wire needs. */
  readonly without?: readonly string[];
  /** Fields that the SDK adds, as they are declared. */
  readonly added?: readonly string[];
}

const UNREADABLE =
  "/** Why this client cannot open it, as a code such as `not_a_member` or `damaged`. Absent: it is readable. */\nreadonly unreadable?: string;";

const TAG =
  "/** What `ifMatch` of a change names. In a shared vault this client computes it of the signed statements that it shows. Absent: it cannot open them. */\nreadonly tag?: string;";

const AUTHORS = {
  createdBy:
    "The caller that made it. In a shared vault: the signer of its first entry, as long as no other has followed. null: not noted, or nothing proves it.",
  updatedBy:
    "The caller that last changed it. In a shared vault: the signer of its current content, name or place. null: not noted, or nothing proves it.",
};

/** Every type that a result is made of. An object of an answer that is none of them stops `npm run generate`. */
const TYPES: Readonly<Record<string, Source>> = {
  Account: { at: "account.get account", text: "An account with its plan, its use and its limits." },
  AccountUsage: { at: "account.get account.usage", text: "What an account stores." },
  AccountLimits: { at: "account.get account.limits", text: "What the plan of an account allows." },
  Credential: { at: "account.get credential", text: "The credential of a call, and its rights." },
  Budgets: { at: "account.get credential.budgets", text: "How much a key may store, write and ask." },
  BudgetUses: { at: "account.get credential.budgetUse", text: "What a key has used of its budgets." },
  BudgetUse: { at: "account.get credential.budgetUse.storedBytes", text: "What is used and left of one budget." },
  AccountWithCredential: { at: "account.get", text: "Result of `account.get`." },
  ApiKey: { at: "apiKeys.get apiKey", text: "An API key, without the key itself." },
  CreatedApiKey: { at: "apiKeys.create", text: "A new API key. Only this result holds the key itself." },
  Change: {
    at: "changes.list changes",
    text: "A change of an account, as ids.",
    added: [
      "/** Name of the file or folder as it is now. null: it has none, is gone, or this client cannot read it. */\nreadonly name: string | null;",
      "/** In a shared vault: the actor, if its signature on the object as it is now proves that. null: nothing does. */\nreadonly author: Author | null;",
    ],
  },
  ChangeObject: { at: "changes.list changes.object", text: "What a change is about." },
  AuditEvent: { at: "audit.list events", text: "An entry of the audit log, chained to the one before it." },
  AuditActor: { at: "audit.list events.actor", text: "The actor of an audit entry." },
  AuditTarget: { at: "audit.list events.targets", text: "What an audit entry is about." },
  AuditContext: { at: "audit.list events.context", text: "The request behind an audit entry." },
  SessionTokens: { at: "auth.refresh", text: "The tokens of a session." },
  SignedIn: { at: "auth.login", text: "The tokens of a new session, and its account." },
  AuthMessage: { at: "auth.forgotPassword", text: "A sentence to show to the person." },
  Billing: { at: "billing.get billing", text: "The plan of an account, and what pays for it." },
  Subscription: { at: "billing.get billing.subscription", text: "A subscription with the payment provider." },
  CheckoutPage: { at: "billing.checkout", text: "Where to pay for a plan." },
  DevelopmentAccount: { at: "development.signup", text: "A new account of a service in development, with its key." },
  File: {
    at: "files.get file",
    text: 'A file\'s metadata. In a shared vault that this client can open, `name`, `contentType` and `size` are those of the content. If it cannot, `name` is "", `size` is that of the stored bytes, and `unreadable` says why.',
    texts: {
      size: "Bytes of the content. If this client cannot open it: stored bytes, after encryption.",
      ...AUTHORS,
    },
    without: ["shared"],
    added: [
      "/** Stored bytes of a file in a shared vault that this client can open. Absent: `size` is that number. */\nreadonly storedSize?: number;",
      UNREADABLE,
      TAG,
    ],
  },
  FileVersion: {
    at: "files.versions versions",
    text: "A content that a file has, or had and keeps. In a shared vault `unreadable` says why this client cannot verify it.",
    without: ["shared"],
    texts: { size: "Bytes of the content. If this client cannot open it: stored bytes, after encryption." },
    added: [
      "/** Stored bytes of a version in a shared vault that this client can open. Absent: `size` is that number. */\nreadonly storedSize?: number;",
      UNREADABLE,
    ],
  },
  FileEntry: {
    at: "files.entries entries",
    text: 'A name and place that a file has, or had and keeps. In a shared vault, an entry that this client cannot verify has the name "", and `unreadable` says why.',
    without: ["shared"],
    texts: { name: 'Name at that time. "": this client cannot read or verify it.' },
    added: [UNREADABLE],
  },
  FolderEntry: {
    at: "folders.entries entries",
    text: "The same of a folder.",
    without: ["shared"],
    added: [UNREADABLE],
  },
  Author: {
    at: "files.versions versions.author",
    text: "The caller that made or changed something.",
    texts: {
      kind: "Kind of the credential: `api-key`, `session` or `development`. `member`: the signer, in a shared vault.",
    },
    added: [
      "/** true: this client has verified the signature of `chainAddress`. Absent: the service says so. */\nreadonly verified?: true;",
    ],
  },
  Folder: {
    at: "folders.get folder",
    text: 'A folder. In a shared vault that this client cannot open, `name` is "" and `unreadable` says why.',
    texts: AUTHORS,
    without: ["shared"],
    added: [UNREADABLE, TAG],
  },
  Authorization: { at: "identityProvider.authorize", text: "Where to send the browser for a sign-in." },
  ZkloginTokens: { at: "identityProvider.zkloginToken", text: "The first step's result of a zkLogin sign-in." },
  ZkloginSession: { at: "identityProvider.zkloginAuth", text: "A session that began with zkLogin." },
  ZkloginProof: { at: "identityProvider.zkloginAuth proof", text: "The inputs of a zkLogin signature." },
  ZkloginProofPoints: { at: "identityProvider.zkloginAuth proof.proofPoints", text: "The points of a zkLogin proof." },
  ZkloginIssuer: { at: "identityProvider.zkloginAuth proof.issBase64Details", text: "The issuer in a signed token." },
  Invite: { at: "invites.list invites", text: "An invite, without its code." },
  CreatedInvite: { at: "invites.create", text: "A new invite. Only this result holds its code." },
  RedeemedInvite: { at: "invites.redeem", text: "The key that an invite gave. Only this result holds it." },
  Session: { at: "sessions.list sessions", text: "A web session." },
  EmptiedTrash: { at: "trash.empty", text: "What emptying the trash left alone." },
  LeftVault: { at: "trash.empty leftVaults", text: "A shared vault whose trash was left alone." },
  Vault: { at: "vaults.get vault", text: "A vault." },
  VaultMember: { at: "members.list members", text: "A member of a shared vault, as the service and the chain see it." },
  VaultMemberLayers: { at: "members.list members.layers", text: "What the service and the chain know about a member." },
  Webhook: { at: "webhooks.get webhook", text: "A webhook endpoint." },
  CreatedWebhook: { at: "webhooks.create", text: "A new webhook endpoint. Only this result holds its secret." },
  RotatedSecret: { at: "webhooks.rotateSecret", text: "The new secret of a webhook endpoint." },
  Delivery: { at: "webhooks.deliveries deliveries", text: "A message to a webhook endpoint, and how it went." },
  DeliveryAttempt: { at: "webhooks.delivery attempts", text: "One try to deliver a message." },
  DeliveryDetails: { at: "webhooks.delivery", text: "A delivery with all of its attempts." },
  EventDescription: { at: "webhookEvents.list events", text: "A kind of event that you can subscribe to." },
};

const EVENT_TYPE = "Kind of the object.";
const MEMBER_ADDRESS = "Sui address of the member: `0x` and 64 lower-case hex digits.";

/** What events are about, by a kind of event that has it. */
const EVENT_OBJECTS: Readonly<Record<string, Source>> = {
  FileEventObject: { at: "file.uploaded data.object", text: "The file of an event.", texts: { type: EVENT_TYPE } },
  FolderEventObject: { at: "folder.created data.object", text: "The folder of an event.", texts: { type: EVENT_TYPE } },
  VaultEventObject: {
    at: "vault.created data.object",
    text: "The vault of an event.",
    texts: { type: EVENT_TYPE, vaultType: "`public` or `shared`." },
  },
  MemberEventObject: {
    at: "vault.member_added data.object",
    text: "The member of an event.",
    texts: { type: EVENT_TYPE, id: MEMBER_ADDRESS },
  },
  EndedMemberEventObject: {
    at: "vault.member_ended data.object",
    text: "The member whose access ended.",
    texts: { type: EVENT_TYPE, id: MEMBER_ADDRESS },
  },
  ApiKeyEventObject: {
    at: "api_key.created data.object",
    text: "The API key of an event.",
    texts: { type: EVENT_TYPE },
  },
  InviteEventObject: { at: "invite.created data.object", text: "The invite of an event.", texts: { type: EVENT_TYPE } },
  RedeemedInviteEventObject: {
    at: "invite.redeemed data.object",
    text: "The invite that was redeemed.",
    texts: { type: EVENT_TYPE, keyId: "UUID of the API key that redeeming made." },
  },
  AccountEventObject: {
    at: "account.email_verified data.object",
    text: "The account of an event.",
    texts: { type: EVENT_TYPE },
  },
  PlanEventObject: {
    at: "account.plan_changed data.object",
    text: "The account whose plan changed.",
    texts: { type: EVENT_TYPE },
  },
  WebhookEventObject: {
    at: "webhook.test data.object",
    text: "The endpoint that was tested.",
    texts: { type: EVENT_TYPE },
  },
  EventActor: { at: "file.uploaded data.actor", text: "The actor of an event." },
};

/** The lists that come in pages, by the name of their field. */
const LISTS: Readonly<Record<string, string>> = {
  apiKeys: "apiKeys.list",
  changes: "changes.list",
  deliveries: "webhooks.deliveries",
  events: "audit.list",
  files: "files.list",
  folders: "folders.list",
  invites: "invites.list",
  sessions: "sessions.list",
  vaults: "vaults.list",
  entries: "files.entries",
  versions: "files.versions",
  webhooks: "webhooks.list",
};

interface Place {
  readonly id: string;
  readonly path: readonly string[];
}

export function renderResultTypes(): string {
  const types = { ...TYPES, ...EVENT_OBJECTS };
  const schemas = new Map(Object.entries(types).map(([name, source]) => [name, schemaAt(placeOf(source))]));
  const names = new Map(Array.from(schemas, ([name, schema]) => [JSON.stringify(schema), name]));
  const declarations = Object.entries(types).map(([name, source]) => {
    const fields = fieldsOf(schemas.get(name) ?? {}, source, names);
    const body = [...fields, ...(source.added ?? [])].join("\n");
    return `${comment(source.text)}\nexport interface ${name} {\n${body}\n}\n`;
  });
  const objects = EVENT_KINDS.map(
    (kind) =>
      `readonly "${kind}": ${names.get(JSON.stringify(schemaAt({ id: kind, path: ["data", "object"] }))) ?? "never"};`,
  );
  const lists = Object.entries(LISTS).map(
    ([name, id]) => `/** ${textOf({ id, path: [name] })} */\nreadonly ${name}: Item[];`,
  );
  return [
    "// Made by `npm run generate` from the contract: change packages/contract, not this file.",
    'import type { EventKind, Scope } from "@coffer/contract";',
    "",
    "/** One of these words. A later version of the service may add others. */",
    "export type OpenEnum<Word extends string> = Word | (string & Record<never, never>);",
    "",
    ...declarations,
    `/** What the event of each kind is about. */\nexport interface EventObjects {\n${objects.join("\n")}\n}\n`,
    `/** The list of a page, by its name. */\nexport interface PageLists<Item> {\n${lists.join("\n")}\n}\n`,
  ].join("\n");
}

function placeOf({ at }: Source): Place {
  const [id = "", path = ""] = at.split(" ");
  return { id, path: path === "" ? [] : path.split(".") };
}

function schemaAt({ id, path }: Place): Schema {
  const answer = () => jsonOf(endpointsOf(api).find((each) => each.id === id));
  let schema: Schema = isEventKind(id) ? renderSchema(eventSchema(id), "output") : answer();
  for (const name of path) schema = itemOf((schema.properties?.[name] ?? {}) as Schema);
  if (schema.type !== "object") throw new Error(`${id} answers no object at ${path.join(".")}`);
  return schema;
}

function jsonOf(endpoint: EndpointDefinition | undefined): Schema {
  const output = endpoint?.output;
  if (output === undefined || isBytes(output)) throw new Error(`${endpoint?.id ?? "an endpoint"} answers no JSON`);
  return renderSchema(output, "output");
}

/** What a list or a value that may be null is made of. */
function itemOf(schema: Schema): Schema {
  if (schema.type === "array") return itemOf(schema.items as Schema);
  const given = schema.anyOf?.filter(({ type }) => type !== "null") ?? [];
  return given.length === 1 ? itemOf(given[0] as Schema) : schema;
}

function fieldsOf(schema: Schema, source: Source, names: ReadonlyMap<string, string>): string[] {
  const { texts = {}, without = [] } = source;
  const { id, path } = placeOf(source);
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => !without.includes(name))
    .map(([name, property]) => {
      const place = { id, path: [...path, name] };
      const type = renderValue(property as Schema, place, names);
      const field = required.has(name) ? `${name}: ${type}` : `${name}?: ${type} | undefined`;
      return `${comment(texts[name] ?? textOf(place))}\nreadonly ${field};`;
    });
}

function textOf({ id, path }: Place): string {
  const text = describeField("output", id, path);
  if (text === undefined)
    throw new Error(`${id}: ${path.join(".")} has no text in packages/contract/src/field-texts.ts`);
  return text;
}

function comment(text: string): string {
  return text.length < 110
    ? `/** ${text} */`
    : `/**\n * ${text.replaceAll(/(.{1,112})(?:\s+|$)/g, "$1\n * ").replace(/\n \* $/, "")}\n */`;
}

function renderValue(schema: Schema, place: Place, names: ReadonlyMap<string, string>): string {
  const name = names.get(JSON.stringify(schema));
  if (name !== undefined) return name;
  if (schema["x-known-values"] !== undefined) return renderWords(schema["x-known-values"]);
  if (schema.anyOf !== undefined)
    return schema.anyOf.map((part) => renderValue(part as Schema, place, names)).join(" | ");
  // A text or number without further rules that may be null.
  const { type } = schema;
  if (Array.isArray(type)) return type.map((each) => renderValue({ type: each }, place, names)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  switch (type) {
    case "array": {
      const item = renderValue(schema.items as Schema, place, names);
      return `${item.includes(" ") ? `(${item})` : item}[]`;
    }
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
    case "number":
      return "number";
    case "object":
      if (Object.keys(schema.properties ?? {}).length === 0) return "Readonly<Record<string, unknown>>";
      throw new Error(`${place.id}: ${place.path.join(".")} is an object without a name in scripts/result-types.ts`);
    default:
      throw new Error(`${place.id}: ${place.path.join(".")} has a form that no type is made of`);
  }
}

function renderWords(words: readonly string[]): string {
  const quoted = (list: readonly string[]) => list.map((word) => JSON.stringify(word));
  for (const [type, list] of [
    ["Scope", SCOPES],
    ["EventKind", EVENT_KINDS],
  ] as const) {
    if (!list.every((word) => words.includes(word))) continue;
    const others = words.filter((word) => !(list as readonly string[]).includes(word));
    return `OpenEnum<${[type, ...quoted(others)].join(" | ")}>`;
  }
  return `OpenEnum<${quoted(words).join(" | ")}>`;
}

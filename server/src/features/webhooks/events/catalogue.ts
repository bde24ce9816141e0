/** Every kind of event with what it means, the JSON Schema of its payload, and an example that fits it. */
import { EVENT_KINDS, type EventKind, type EventObject, eventSchema } from "@coffer/contract";
import * as z from "zod/mini";
import { renderEvent } from "../payload.ts";

export interface CatalogueEntry {
  readonly kind: EventKind;
  readonly description: string;
  readonly schema: Record<string, unknown>;
  readonly example: Record<string, unknown>;
}

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const VAULT_ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const KEY_ID = "6fa459ea-ee8a-4ca4-894e-db77e160355e";
const ADDRESS = `0x${"2a".repeat(32)}`;
const OCCURRED_AT = Date.UTC(2026, 10, 20, 17);

const file: EventObject<"file.uploaded"> = {
  type: "file",
  id: ID,
  vaultId: VAULT_ID,
  folderId: null,
  versionId: "16fd2706-8baf-433b-82eb-8c7fada847da",
  size: 5_242_880,
  encrypted: false,
};
const folder: EventObject<"folder.created"> = { type: "folder", id: ID, vaultId: VAULT_ID, parentId: null };
const vault: EventObject<"vault.created"> = { type: "vault", id: VAULT_ID, vaultType: "public" };
const member: EventObject<"vault.member_added"> = { type: "vault_member", id: ADDRESS, vaultId: VAULT_ID };
const apiKey: EventObject<"api_key.created"> = { type: "api_key", id: KEY_ID, chainAddress: ADDRESS };
const invite: EventObject<"invite.created"> = { type: "invite", id: ID };
const account: EventObject<"account.email_verified"> = { type: "account", id: ID };

type Entries = { readonly [Kind in EventKind]: readonly [description: string, object: EventObject<Kind>] };

const ENTRIES: Entries = {
  "file.uploaded": ["A file was stored", file],
  "file.updated": ["A file has a new version, name or folder", file],
  "file.trashed": ["A file was moved to the trash", file],
  "file.restored": ["A file came back from the trash", file],
  "file.deleted": ["A file was deleted for good", file],
  "folder.created": ["A folder was made", folder],
  "folder.updated": ["A folder has a new name or parent", folder],
  "folder.trashed": ["A folder was moved to the trash with all below it", folder],
  "folder.restored": ["A folder came back from the trash, with what lay in it", folder],
  "folder.deleted": ["A folder was deleted for good", folder],
  "vault.created": ["A vault was made", vault],
  "vault.updated": ["A vault was changed", vault],
  "vault.trashed": ["A vault was moved to the trash with all that lies in it", vault],
  "vault.restored": ["A vault came back from the trash", vault],
  "vault.deleted": ["A vault was deleted for good with its files", vault],
  "vault.member_added": ["A chain address became a member of a shared vault", member],
  "vault.member_removed": ["A chain address is no longer a member of a shared vault", member],
  "vault.member_ended": [
    "A chain address's membership of a shared vault came to its end",
    { ...member, endsAt: "2026-11-20T17:00:00.000Z" },
  ],
  "api_key.created": ["An API key was made", apiKey],
  "api_key.revoked": ["An API key was revoked", apiKey],
  "invite.created": ["An invite was made", invite],
  "invite.redeemed": ["An agent redeemed an invite for a key", { ...invite, keyId: KEY_ID, chainAddress: ADDRESS }],
  "invite.revoked": ["An invite was revoked", invite],
  "account.email_verified": ["The owner's e-mail address was confirmed", account],
  "account.plan_changed": ["The account has another plan", { ...account, plan: "pro" }],
  "webhook.test": ["A test that the owner asked for", { type: "webhook", id: ID }],
};

/** In the order of the contract. */
export function renderCatalogue(): CatalogueEntry[] {
  return EVENT_KINDS.map((kind) => {
    const [description, object] = ENTRIES[kind];
    const schema = z.toJSONSchema(eventSchema(kind)) as Record<string, unknown>;
    return { kind, description, schema, example: exampleOf(kind, object) };
  });
}

/** Made by the code that makes deliveries, so that it cannot differ from one. */
function exampleOf(type: EventKind, object: EventObject): Record<string, unknown> {
  const sequence = type === "webhook.test" ? 0 : 42;
  const actor = { type: "api-key", id: KEY_ID, accessLevel: "agent", chainAddress: ADDRESS };
  const text = renderEvent({ type, occurredAt: OCCURRED_AT, accountId: ID, sequence, actor, object });
  return JSON.parse(text) as Record<string, unknown>;
}

/** The fields of what clients get, written by hand: a name of the wire that changes is a change for every client, whatever the types say. */
import { expect, it } from "vitest";
import * as z from "zod/mini";
import { api } from "./index.ts";

/** Of an object, or of those in a list. */
function fieldsOf(schema: z.core.$ZodType): string[] {
  const { properties, items = {} } = z.toJSONSchema(schema, { unrepresentable: "any" });
  return Object.keys(properties ?? (items as { properties?: object }).properties ?? {});
}

const TABLE: readonly (readonly [name: string, has: readonly string[], fields: string])[] = [
  [
    "an account",
    fieldsOf(api.account.get.output.shape.account),
    "id email emailVerified name accessLevel chainAddress chainAddressSource plan usage limits createdAt",
  ],
  [
    "a file",
    fieldsOf(api.files.get.output.shape.file),
    "id versionId revision name size contentType sha256 vaultId folderId encrypted shared createdAt updatedAt createdBy updatedBy trashedAt",
  ],
  [
    "a folder",
    fieldsOf(api.folders.get.output.shape.folder),
    "id revision name vaultId parentId createdAt updatedAt createdBy updatedBy trashedAt shared",
  ],
  [
    "a vault",
    fieldsOf(api.vaults.get.output.shape.vault),
    "id name type chainObjectId isDefault role generation plainNames keepVersionsDays createdAt updatedAt trashedAt",
  ],
  [
    "an API key",
    fieldsOf(api.apiKeys.list.output.shape.apiKeys),
    "id name prefix last4 scopes vaultIds chainAddress budgets chainPublicKey accessLevel budgetUse expiresAt lastUsedAt revokedAt createdAt",
  ],
  [
    "an invite",
    fieldsOf(api.invites.list.output.shape.invites),
    "id name status scopes vaultIds budgets accessUntil expiresAt createdAt usedAt revokedAt keyId chainAddress addressProof signingKey budgetUse",
  ],
  [
    "a webhook endpoint (specification §2.1)",
    fieldsOf(api.webhooks.list.output.shape.webhooks),
    "id url events active description lastDeliveryStatus lastDeliveryAt failureCount createdAt updatedAt",
  ],
];

it.each(TABLE)("%s has these fields", (_, has, fields) => {
  expect(has.toSorted()).toEqual(fields.split(" ").toSorted());
});

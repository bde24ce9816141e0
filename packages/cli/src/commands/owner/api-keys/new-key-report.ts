/** A new key, shown once. */
import type { CreatedApiKey } from "@coffer/sdk";
import { done, type Document } from "../../../result.ts";
import type { SecretDelivery } from "../secret-file.ts";
import { endText } from "../cell-text.ts";

export function newKeyReport({ created, file }: SecretDelivery<CreatedApiKey>): Document {
  const apiKey = file === null ? created : { ...created, key: null };
  const lines = [
    file === null ? created.key : `The key is in ${file}`,
    `Its id is ${created.id}. It ends: ${endText(created.expiresAt)}. It is not shown again.`,
    "Sign in with it: coffer login --api-key-stdin",
  ];
  return done({ apiKey, file }, lines, { reveals: file === null ? [created.key] : [] });
}

/** A new key, shown once. */
import type { CreatedApiKey } from "@coffer/sdk";
import { done, type Document } from "../../../result.ts";
import type { HandedOut } from "../secret-file.ts";
import { endText } from "../cell-text.ts";

export function shownKey({ made, file }: HandedOut<CreatedApiKey>): Document {
  const apiKey = file === null ? made : { ...made, key: null };
  const lines = [
    file === null ? made.key : `The key is in ${file}`,
    `Its id is ${made.id}. It ends: ${endText(made.expiresAt)}. It is not shown again.`,
    "Sign in with it: coffer login --api-key-stdin",
  ];
  return done({ apiKey, file }, lines, { reveals: file === null ? [made.key] : [] });
}

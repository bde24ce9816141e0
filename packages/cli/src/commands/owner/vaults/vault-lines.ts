/** A vault, line by line. */
import type { Vault } from "@coffer/sdk";
import { untrusted } from "@coffer/tasks";
import { factLines } from "../../../terminal/facts.ts";
import { timeText } from "../../../terminal/visible.ts";
import { word } from "../cell-text.ts";

export const vaultLines = (vault: Vault): string[] =>
  factLines([
    ["id", vault.id],
    ["name", untrusted(vault.name)],
    ["type", word(vault.type)],
    ["role", word(vault.role)],
    ["chain object", vault.chainObjectId],
    ["generation", vault.generation],
    ["names", vault.plainNames === null ? null : vault.plainNames ? "plain" : "encrypted"],
    ["versions kept", vault.keepVersionsDays === null ? null : `${String(vault.keepVersionsDays)} days`],
    ["created", timeText(vault.createdAt)],
    ["changed", timeText(vault.updatedAt)],
    ["in the trash since", timeText(vault.trashedAt)],
  ]);

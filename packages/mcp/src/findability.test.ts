/**
 * Hosts with many tools search them by words (BM25). What people ask for has to lead to the right tool among the first
 * three. The intents were written from what people do, and no word of a description was taken from them.
 */
import { expect, it } from "vitest";
import { LISTED_TOOLS } from "./tool-list.ts";

/** What somebody wants, and the tools that serve it. */
const INTENTS: readonly (readonly [string, ...string[]])[] = [
  ["upload this folder to the vault", "file_upload"],
  ["store local files in a vault", "file_upload"],
  ["save my project folder", "file_upload"],
  ["send local files to storage", "file_upload"],
  ["put these local files into the archive vault", "file_upload"],
  ["upload the report pdf", "file_upload"],
  ["back up a local folder", "file_upload"],
  ["plan an upload without sending", "file_upload"],
  ["upload a new version of a file", "file_upload"],
  ["append a line to the log file", "file_write"],
  ["replace a sentence in a text file", "file_write"],
  ["find a word inside a file", "file_read", "file_search"],
  ["lines 100 to 150 of a file", "file_read"],
  ["write a note as a file", "file_write"],
  ["save this text as notes.md", "file_write"],
  ["write a short text file", "file_write"],
  ["store a text", "file_write"],
  ["create a text file in a vault", "file_write"],
  ["download the file to my folder", "file_download"],
  ["download a folder", "file_download"],
  ["fetch files to a local folder", "file_download"],
  ["get the whole project back to disk", "file_download"],
  ["download an old version", "file_download"],
  ["save a vault file locally", "file_download"],
  ["read the file", "file_read"],
  ["read a page of a text file", "file_read"],
  ["show me the text of the contract", "file_read"],
  ["open a text file and read it", "file_read"],
  ["what does the readme say", "file_read"],
  ["list files in a folder", "file_list"],
  ["list folders and files", "file_list"],
  ["show what is in the vault folder", "file_list"],
  ["list the trash", "file_list"],
  ["which files are in the folder", "file_list"],
  ["show the folder tree", "file_list"],
  ["search files by name", "file_search"],
  ["find the contract of March", "file_search"],
  ["search for files by author", "file_search"],
  ["find files modified since yesterday", "file_search"],
  ["find a file by words", "file_search"],
  ["search all vaults", "file_search"],
  ["file details and versions", "file_get"],
  ["show the versions of a file", "file_get"],
  ["who is the author of this file", "file_get", "file_search"],
  ["get facts of a file", "file_get"],
  ["file size and digest", "file_get", "file_verify"],
  ["version history of a file", "file_get"],
  ["verify a file is intact", "file_verify"],
  ["compare a stored file with a local file", "file_verify"],
  ["is the local copy equal to the stored one", "file_verify"],
  ["check a file for damage", "file_verify"],
  ["move files to another folder", "file_move"],
  ["rename a file", "file_move"],
  ["rename a folder", "file_move"],
  ["move a folder", "file_move"],
  ["move these into a new folder", "file_move"],
  ["delete a file", "file_delete"],
  ["delete a folder", "file_delete"],
  ["move files to the trash", "file_delete"],
  ["trash old drafts", "file_delete"],
  ["remove files", "file_delete"],
  ["restore a file from the trash", "file_restore"],
  ["bring back yesterday's version", "file_restore"],
  ["restore an older version", "file_restore"],
  ["undo a deletion", "file_restore"],
  ["bring files back from the trash", "file_restore"],
  ["what changed since yesterday", "change_list"],
  ["list changes by another agent", "change_list"],
  ["what did the other agent change", "change_list"],
  ["show recent changes", "change_list"],
  ["wait for changes", "change_list"],
  ["tell me when a file arrives", "change_list", "webhook_set"],
  ["cancel the upload", "transfer_cancel"],
  ["stop a running transfer", "transfer_cancel"],
  ["progress of a transfer", "transfer_get"],
  ["is the long transfer finished", "transfer_get"],
  ["result of a transfer", "transfer_get"],
  ["how far is the upload transfer", "transfer_get"],
  ["list vaults", "vault_list"],
  ["which vaults can I see", "vault_list"],
  ["show the members of a vault", "vault_list", "access_list"],
  ["vaults shared with me", "vault_list"],
  ["vaults of other accounts", "vault_list"],
  ["why can I not open the vault", "vault_access_check"],
  ["check access to a shared vault", "vault_access_check"],
  ["why does the vault not open", "vault_access_check"],
  ["explain why a vault is closed", "vault_access_check"],
  ["create a vault", "vault_create"],
  ["make a new shared vault", "vault_create"],
  ["new vault for the team", "vault_create"],
  ["who has access", "access_list"],
  ["list members keys and invites", "access_list"],
  ["show all keys", "access_list"],
  ["list who can open my vaults", "access_list"],
  ["invite an agent", "access_grant"],
  ["give access until Friday", "access_grant"],
  ["share a vault with an address", "access_grant"],
  ["add a member to a shared vault", "access_grant"],
  ["make an invite for an agent", "access_grant"],
  ["revoke access", "access_revoke"],
  ["end the access of an agent", "access_revoke"],
  ["revoke a key", "access_revoke"],
  ["take away access and undo its changes", "access_revoke"],
  ["remove a member", "access_revoke"],
  ["list webhooks", "webhook_list"],
  ["show webhook deliveries", "webhook_list"],
  ["failed deliveries of a webhook", "webhook_list"],
  ["create a webhook", "webhook_set"],
  ["send events to an address", "webhook_set"],
  ["change a webhook's events", "webhook_set"],
  ["pause a webhook", "webhook_set"],
  ["rotate a webhook secret", "webhook_set"],
  ["delete a webhook", "webhook_delete"],
  ["remove a webhook endpoint", "webhook_delete"],
  ["test a webhook", "webhook_send"],
  ["redeliver a webhook delivery", "webhook_send"],
  ["send a test event to the endpoint", "webhook_send"],
  ["show the audit log", "audit_list"],
  ["verify the audit chain", "audit_list"],
  ["audit trail of the account", "audit_list"],
  ["who did what in the account", "audit_list", "change_list"],
  ["check my setup", "status_check"],
  ["who am I and what are my rights", "status_check"],
  ["which local folders are allowed", "status_check"],
  ["what is my chain address", "status_check"],
  ["how much of my budget is left", "status_check"],
];

/** As offline searches of tools do it: words without their endings, k1 1.2, b 0.75. */
const words = (text: string): string[] =>
  (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map((word) => word.replace(/(?<=\w{3})(?:ies|es|ed|ing|s|e)$/, ""));
const K1 = 1.2;
const B = 0.75;

interface Ranked {
  readonly name: string;
  readonly text: readonly string[];
}

const documents: readonly Ranked[] = LISTED_TOOLS.map(({ name, title, description, inputSchema }) => ({
  name,
  // A name counts twice: searches weigh it more than a description.
  text: words(
    `${name} ${name} ${title} ${description} ${Object.keys(inputSchema["properties"] ?? {}).join(" ")}`.replaceAll(
      "_",
      " ",
    ),
  ),
}));
const averageLength = documents.reduce((sum, { text }) => sum + text.length, 0) / documents.length;

function score({ text }: Ranked, query: readonly string[]): number {
  return query.reduce((sum, word) => {
    const holders = documents.filter((each) => each.text.includes(word)).length;
    if (holders === 0) return sum;
    const rarity = Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5));
    const count = text.filter((each) => each === word).length;
    return sum + (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * text.length) / averageLength));
  }, 0);
}

function firstThree(intent: string): string[] {
  const query = words(intent);
  const ranked = documents.map((each) => ({ name: each.name, points: score(each, query) }));
  return ranked
    .sort((a, b) => b.points - a.points)
    .slice(0, 3)
    .map(({ name }) => name);
}

it("of 100 intents, 95 % lead to their tool among the first three", () => {
  expect(INTENTS.length).toBeGreaterThanOrEqual(100);
  const missed = INTENTS.flatMap(([intent, ...tools]) => {
    const found = firstThree(intent);
    return tools.some((tool) => found.includes(tool)) ? [] : [`${intent}: ${found.join(", ")}`];
  });
  expect(missed.length / INTENTS.length, missed.join("\n")).toBeLessThanOrEqual(0.05);
});

it("every tool is somebody's intent", () => {
  const served = new Set(INTENTS.flatMap(([, ...tools]) => tools));
  expect(LISTED_TOOLS.map(({ name }) => name).filter((name) => !served.has(name))).toEqual([]);
});

import { api, type EndpointDefinition } from "@coffer/contract";
import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import { requireNamedIds } from "./required-ids.ts";
import { ContractError } from "./errors.ts";

const [ASKED, OTHER] = ["0197b6f0-0000-7000-8000-000000000001", "0197b6f0-0000-7000-8000-000000000002"];
const ADDRESS = `0x${"1".repeat(64)}`;

function isRefused(endpoint: EndpointDefinition, input: object, output: unknown): boolean {
  try {
    requireNamedIds(endpoint, input, output);
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ContractError);
    return true;
  }
}

const endpoints = Object.values(api).flatMap((group): EndpointDefinition[] => Object.values(group));

/** Objects of the answer that have an id, by name. */
function objectsWithId({ output }: EndpointDefinition): string[] {
  if (!(output instanceof z.ZodMiniObject)) return [];
  return Object.entries(output.shape).flatMap(([name, schema]) =>
    schema instanceof z.ZodMiniObject && "id" in schema.shape ? [name] : [],
  );
}

const FREE = [
  ...[
    "apiKeys.rotate",
    "deletion.challenge",
    "files.entries",
    "files.versions",
    "folderNames.get",
    "folderNames.stage",
    "folders.entries",
    "members.add",
    "members.list",
    "vaultKeys.list",
  ],
  ...[
    "vaultKeys.publish",
    "vaultKeys.steps",
    "webhooks.deliveries",
    "webhooks.recover",
    "webhooks.redeliver",
    "webhooks.rotateSecret",
  ],
  "webhooks.test",
];

describe("an answer", () => {
  it("of another object than the one that the path names is refused, at every endpoint of the contract", () => {
    const named = endpoints.filter(({ params, output }) => params !== undefined && output instanceof z.ZodMiniObject);
    const free = named.filter((endpoint) => {
      const params = Object.fromEntries(
        Object.keys(endpoint.params?._zod.def.shape ?? {}).map((name) => [name, ASKED]),
      );
      const answer = (id: string) => Object.fromEntries(objectsWithId(endpoint).map((name) => [name, { id }]));
      expect(isRefused(endpoint, { params }, answer(ASKED))).toBe(false);
      return !isRefused(endpoint, { params }, answer(OTHER));
    });
    // They answer a list, something new, or something that has no id of its own. A new endpoint is refused here until it is looked at.
    expect(free.map(({ id }) => id).toSorted()).toEqual(FREE);
    expect(named.length - free.length).toBeGreaterThan(12);
  });

  it("is held to every place, party and type that the call names, in each item of a list", () => {
    const { files, folders, vaults, trash, invites } = api;
    const list = { query: { vaultId: ASKED, folderId: "root" } };
    expect(isRefused(files.list, list, { files: [{ id: OTHER, vaultId: ASKED, folderId: null }] })).toBe(false);
    expect(isRefused(files.list, list, { files: [{ vaultId: ASKED, folderId: null }, { vaultId: OTHER }] })).toBe(true);
    expect(isRefused(files.list, list, { files: [{ vaultId: ASKED, folderId: OTHER }] })).toBe(true);
    expect(isRefused(trash.list, { query: { vaultId: ASKED } }, { files: [{ vaultId: OTHER }] })).toBe(true);
    const move = { params: { fileId: ASKED }, body: { folderId: null } };
    expect(isRefused(files.update, move, { file: { id: ASKED, folderId: OTHER } })).toBe(true);
    const folder = { body: { vaultId: ASKED, parentId: OTHER } };
    expect(isRefused(folders.create, folder, { folder: { id: OTHER, vaultId: ASKED, parentId: OTHER } })).toBe(false);
    expect(isRefused(folders.create, folder, { folder: { id: OTHER, vaultId: OTHER, parentId: OTHER } })).toBe(true);
    const vault = { body: { type: "shared", chainObjectId: ADDRESS } };
    expect(isRefused(vaults.create, vault, { vault: { type: "shared", chainObjectId: ADDRESS } })).toBe(false);
    expect(isRefused(vaults.create, vault, { vault: { type: "public", chainObjectId: ADDRESS } })).toBe(true);
    expect(isRefused(vaults.create, vault, { vault: { type: "shared", chainObjectId: null } })).toBe(true);
    const two = { body: { vaultIds: [ASKED, OTHER] } };
    expect(isRefused(invites.create, two, { vaultIds: [OTHER, ASKED] })).toBe(false);
    expect(isRefused(invites.create, two, { vaultIds: [OTHER] })).toBe(true);
  });

  it("in a list that is asked for as such is set aside by itself: without a name, and with what is wrong [S16]", () => {
    const list = { query: { vaultId: ASKED, folderId: OTHER } };
    const there = { id: OTHER, vaultId: ASKED, folderId: OTHER, name: "there", contentType: "text/plain" };
    const answer = { files: [{ ...there, vaultId: OTHER }, there, { ...there, folderId: null }], nextCursor: null };
    const bad = { ...there, name: "", contentType: "application/octet-stream", createdBy: null, updatedBy: null };
    expect(requireNamedIds(api.files.list, list, answer, { eachByItself: true })).toEqual({
      files: [
        { ...bad, vaultId: OTHER, unreadable: "vault_changed" },
        there,
        { ...bad, folderId: null, unreadable: "damaged" },
      ],
      nextCursor: null,
    });
    expect(() => requireNamedIds(api.files.list, list, answer)).toThrow(ContractError);
    const one = () =>
      requireNamedIds(api.files.get, { params: { fileId: ASKED } }, { file: there }, { eachByItself: true });
    expect(one).toThrow(ContractError);
  });

  it("that is no object, or an empty one, is not this check's matter", () => {
    const input = { params: { fileId: ASKED } };
    for (const output of [undefined, null, "file", [], {}, { file: null }, { file: {} }])
      expect(isRefused(api.files.get, input, output)).toBe(false);
  });

  it("in another case is the same id", () => {
    const asked = { params: { fileId: ASKED.toUpperCase() } };
    expect(isRefused(api.files.get, asked, { file: { id: ASKED } })).toBe(false);
    expect(isRefused(api.files.get, asked, { file: { id: OTHER } })).toBe(true);
  });

  it("to bytes is compared without looking at them: a megabyte would be a million fields", () => {
    const body = new Proxy(new Uint8Array(1), {
      ownKeys: () => expect.unreachable("the bytes were listed"),
    });
    const input = { query: { vaultId: ASKED }, body };
    expect(isRefused(api.files.upload, input, { file: { id: OTHER, vaultId: ASKED } })).toBe(false);
    expect(isRefused(api.files.upload, input, { file: { id: OTHER, vaultId: OTHER } })).toBe(true);
  });
});

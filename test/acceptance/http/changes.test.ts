import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { createKey, revokeKey, signUp } from "../kit/account.ts";
import { databasePath } from "../kit/data-directory.ts";
import { fieldsAt, objectIn, textIn } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();

interface Change {
  readonly sequence: number;
  readonly action: string;
  readonly actor: Readonly<Record<string, unknown>>;
  readonly target: string;
}

async function changesOf(accountId: string): Promise<Change[]> {
  const database = new DatabaseSync(await databasePath(service().dataDirectory), { readOnly: true });
  try {
    const rows = database.prepare("SELECT * FROM changes WHERE account_id = ? ORDER BY sequence").all(accountId);
    return rows.map((row) => ({
      sequence: Number(row["sequence"]),
      action: String(row["action"]),
      actor: JSON.parse(String(row["actor_json"])) as Readonly<Record<string, unknown>>,
      target: String(row["target_json"]),
    }));
  } finally {
    database.close();
  }
}

describe("every change", () => {
  it("writes one row with actor, key, action and target, numbered without gaps [D1-changes-row D1-changes-sequence D5-replace-change]", async () => {
    const { id, apiKey: key } = await signUp(service().server.baseUrl);
    const before = (await changesOf(id)).length;
    const body = new Uint8Array(3);
    const file = objectIn(fieldsAt(await service().ask("POST", "/api/files?name=a", { key, body }), 201), "file");
    const fileId = textIn(file, "id");
    await service().ask("PUT", `/api/files/${fileId}/content`, { key, body: new Uint8Array(4) });
    await service().ask("DELETE", `/api/files/${fileId}`, { key });
    await service().ask("POST", `/api/files/${fileId}/restore`, { key });
    await service().ask("DELETE", `/api/files/${fileId}?permanent=true`, { key });
    await service().ask("POST", "/api/folders", { key, body: { name: "a" } });
    await service().ask("POST", "/api/vaults", { key, body: { name: "b", type: "public" } });
    const made = await createKey(service().server.baseUrl, key, { name: "c" });
    await revokeKey(service().server.baseUrl, key, made.id);
    await service().ask("POST", "/api/files?name=", { key, body });

    const changes = await changesOf(id);
    expect(changes.map(({ sequence }) => sequence)).toEqual(changes.map((_, index) => index + 1));
    const later = changes.slice(before);
    expect(later.map(({ action }) => action)).toEqual([
      "file.uploaded",
      "file.updated",
      "file.trashed",
      "file.restored",
      "file.deleted",
      "folder.created",
      "vault.created",
      "api_key.created",
      "api_key.revoked",
    ]);
    expect(later.slice(0, 5).every(({ target }) => target.includes(fileId))).toBe(true);
    expect(later.every(({ actor }) => typeof actor["id"] === "string" && "chainAddress" in actor)).toBe(true);
  });
});

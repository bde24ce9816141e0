import { DatabaseSync } from "node:sqlite";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signUp } from "../kit/account.ts";
import { databasePath, runSql } from "../kit/data-directory.ts";
import { send } from "../kit/http.ts";
import { startServerProcess } from "../kit/server-process.ts";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const DAY = 24 * 3_600_000;

describe("a fault of the server", () => {
  it("is 500 Internal error with a request id, and never the message [D1-server-error-500]", async () => {
    const database = new DatabaseSync(await databasePath(service().dataDirectory));
    database.exec("ALTER TABLE folders RENAME TO folders_elsewhere");
    const answer = await service().ask("GET", "/api/folders");
    database.exec("ALTER TABLE folders_elsewhere RENAME TO folders");
    database.close();
    expect(expectError(answer, 500, "internal")).toBe("Internal error");
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect([...answer.headers.values()].join()).not.toContain("folders");
    expectStatus(await service().ask("GET", "/api/folders"), 200);
  });
});

describe("the trash", () => {
  it("is purged 30 days after a file went there, and not before [D5-trash-purge]", async () => {
    const directory = await mkdtemp(join(tmpdir(), "coffer-purge-"));
    const variables = { SERVICE_ENV: "development", SERVICE_DATA_DIR: directory };
    try {
      const { key, younger, older } = await trashTwoFiles(variables);
      const age = "UPDATE files SET trashed_at = ? WHERE id = ?";
      await runSql(directory, age, Date.now() - 30 * DAY + 3_600_000, younger);
      await runSql(directory, age, Date.now() - 30 * DAY - 1, older);
      await using server = await startServerProcess(variables);
      const inTrash = async (): Promise<unknown[]> =>
        listIn(fieldsAt(await send(server.baseUrl, "/api/trash", { key }), 200), "files").map((file) => file["id"]);
      await expect.poll(inTrash, { timeout: 60_000 }).toEqual([younger]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

async function trashTwoFiles(
  variables: Readonly<Record<string, string>>,
): Promise<{ key: string; younger: string; older: string }> {
  await using server = await startServerProcess(variables);
  const { apiKey: key } = await signUp(server.baseUrl);
  const ids: string[] = [];
  for (const name of ["younger", "older"]) {
    const call = { method: "POST", key, body: new Uint8Array(3) };
    const file = objectIn(fieldsAt(await send(server.baseUrl, `/api/files?name=${name}`, call), 201), "file");
    ids.push(textIn(file, "id"));
    expectStatus(await send(server.baseUrl, `/api/files/${textIn(file, "id")}`, { method: "DELETE", key }), 200);
  }
  return { key, younger: ids[0] ?? "", older: ids[1] ?? "" };
}

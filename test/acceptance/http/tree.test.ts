import { describe, expect, it } from "vitest";
import { signUp } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn, TIMESTAMP } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService({ SERVICE_MAX_VAULTS: "5", SERVICE_MAX_API_KEYS: "4" });

async function makeFolder(name: string, parentId?: string): Promise<string> {
  const body = { name, ...(parentId === undefined ? {} : { parentId }) };
  return textIn(objectIn(fieldsAt(await service().ask("POST", "/api/folders", { body }), 201), "folder"), "id");
}

async function upload(name: string, folderId: string): Promise<string> {
  const path = `/api/files?name=${name}&folderId=${folderId}`;
  return textIn(objectIn(fieldsAt(await service().ask("POST", path, { body: new Uint8Array(3) }), 201), "file"), "id");
}

describe("folders", () => {
  it("are created, listed, read, changed and deleted [D5-folders-paths S1-folders-and-vaults]", async () => {
    const id = await makeFolder("first");
    const listed = listIn(fieldsAt(await service().ask("GET", "/api/folders?parentId=root"), 200), "folders");
    expect(listed.map((folder) => folder["id"])).toContain(id);
    expectStatus(await service().ask("GET", `/api/folders/${id}`), 200);
    const parentId = await makeFolder("parent");
    const changed = await service().ask("PATCH", `/api/folders/${id}`, { body: { name: "second", parentId } });
    expect(objectIn(fieldsAt(changed, 200), "folder")).toMatchObject({ id, name: "second", parentId });
    const cycle = { body: { parentId: id } };
    expectError(await service().ask("PATCH", `/api/folders/${parentId}`, cycle), 409, "folder_cycle");
    expectStatus(await service().ask("DELETE", `/api/folders/${id}`), 200);
  });

  it("go to the trash with all below them, and come back so [D5-folder-delete]", async () => {
    const top = await makeFolder("top");
    const below = await makeFolder("below", top);
    const files = [await upload("a", top), await upload("b", below)];
    expectStatus(await service().ask("DELETE", `/api/folders/${top}`), 200);
    const trashedAt = async (): Promise<unknown[]> => {
      const answers = await Promise.all(files.map((id) => service().ask("GET", `/api/files/${id}`)));
      return answers.map((answer) => objectIn(fieldsAt(answer, 200), "file")["trashedAt"]);
    };
    const times = await trashedAt();
    expect(new Set(times).size).toBe(1);
    expect(times[0]).not.toBeNull();
    expectStatus(await service().ask("POST", `/api/folders/${top}/restore`), 200);
    expect(await trashedAt()).toEqual([null, null]);
  });

  it("nest at most 32 deep [D2-folder-depth]", async () => {
    let parent = await makeFolder("depth 1");
    for (let depth = 2; depth <= 32; depth += 1) parent = await makeFolder(`depth ${depth}`, parent);
    const body = { name: "depth 33", parentId: parent };
    expectError(await service().ask("POST", "/api/folders", { body }), 400, "too_deep");
  });
});

describe("names", () => {
  it("are at most 255 bytes of UTF-8, in NFC [D2-names]", async () => {
    const named = async (name: string): Promise<unknown> => {
      const answer = await service().ask("POST", "/api/folders", { body: { name } });
      return objectIn(fieldsAt(answer, 201), "folder")["name"];
    };
    expect(await named("é".repeat(127))).toBe("é".repeat(127));
    expectError(
      await service().ask("POST", "/api/folders", { body: { name: "é".repeat(128) } }),
      400,
      "validation_failed",
    );
    expect(await named("e\u0301toile")).toBe("\u00e9toile");
    expectError(await service().ask("POST", "/api/folders", { body: { name: "\u00e9toile" } }), 409, "name_exists");
  });
});

describe("vaults", () => {
  it("are created, listed, read, changed and, when empty or forced, deleted [D5-vaults-paths D5-vault-delete]", async () => {
    const created = await service().ask("POST", "/api/vaults", { body: { name: "One", type: "public" } });
    const id = textIn(objectIn(fieldsAt(created, 201), "vault"), "id");
    const path = `/api/vaults/${id}`;
    expect(
      listIn(fieldsAt(await service().ask("GET", "/api/vaults"), 200), "vaults").map((vault) => vault["id"]),
    ).toContain(id);
    const renamed = await service().ask("PATCH", path, { body: { name: "Two" } });
    expect(objectIn(fieldsAt(renamed, 200), "vault")["name"]).toBe("Two");
    expect(objectIn(fieldsAt(await service().ask("GET", path), 200), "vault")["name"]).toBe("Two");
    const file = { body: new Uint8Array(3) };
    expectStatus(await service().ask("POST", `/api/files?name=a&vaultId=${id}`, file), 201);
    expectError(await service().ask("DELETE", path), 409, "vault_not_empty");
    const trashed = await service().ask("DELETE", `${path}?force=true`);
    expect(objectIn(fieldsAt(trashed, 200), "vault")["trashedAt"]).toEqual(expect.stringMatching(TIMESTAMP));
    const inTrash = listIn(fieldsAt(await service().ask("GET", "/api/trash?kind=vaults"), 200), "vaults");
    expect(inTrash.map((vault) => vault["id"])).toContain(id);
    expectStatus(await service().ask("DELETE", `${path}?permanent=true`), 204);
    expectError(await service().ask("GET", path), 404, "not_found");
  });
});

describe("the number of things", () => {
  it("of vaults and API keys in an account is limited, by environment [D2-vaults D2-api-keys D2-environment]", async () => {
    const { apiKey: key } = await signUp(service().server.baseUrl);
    const fill = async (path: string, body: (index: number) => object): Promise<number> => {
      for (let index = 0; index < 10; index += 1) {
        const answer = await service().ask("POST", path, { key, body: body(index) });
        if (answer.status === 201) continue;
        expectError(answer, 403, "limit_reached");
        return index;
      }
      return 10;
    };
    // The default vault and the key of dev-signup are there already.
    expect(await fill("/api/vaults", (index) => ({ name: `Vault ${index}`, type: "public" }))).toBe(4);
    expect(await fill("/api/auth/api-keys", (index) => ({ name: `key ${index}` }))).toBe(3);
    const limits = objectIn(objectIn(fieldsAt(await service().ask("GET", "/api/account"), 200), "account"), "limits");
    expect(limits).toMatchObject({ vaults: 5, apiKeys: 4, folderDepth: 32 });
  });
});

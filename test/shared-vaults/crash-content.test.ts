/** Acts on files, folders and whole vaults, cut off at their calls: the same call again ends where one without a cut would have. */
import { randomBytes } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Vault } from "@coffer/sdk";
import { exportVault, fileStore, uploadFile } from "@coffer/sdk/node";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Act, expectNoFaults, PATIENCE, readObject, readRows } from "../kit/crash-points.ts";
import { makeDirectory } from "../kit/directory.ts";
import { OFTEN_CUT, raiseGeneration, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const PART = 64 * 1024;
const LARGE = randomBytes(PART * 2 + 500);

const stack = sharedStack(OFTEN_CUT);
let owner: SharedPerson;
let reader: SharedPerson;
let vault: Vault;
let keptId: string;
const directory = makeDirectory();
let made = 0;

beforeAll(async () => {
  owner = stack.owner;
  reader = await stack.invite("reader");
});
// One that holds what a thousand cuts have made is slow to list, and slower to export.
beforeEach(async () => {
  vault = await newVault();
  keptId = await put("kept.txt");
});

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const named = (name: string): string => `${name} ${String((made += 1))}`;

async function newVault(): Promise<Vault> {
  const created = await owner.client.vaults.create({ name: named("vault"), type: "shared" });
  await owner.client.vaults.members.add(created.id, reader.signer.chainAddress);
  return created;
}

async function put(name: string, vaultId = vault.id, folderId?: string): Promise<string> {
  const place = folderId === undefined ? {} : { folderId };
  return (await owner.client.files.upload({ vaultId, name, body: encode(`content of ${name}`), ...place })).file.id;
}

async function read(fileId: string, person: SharedPerson = owner): Promise<Uint8Array> {
  return (await person.client.files.download(fileId)).bytes();
}

/** Whoever reads goes on reading. */
async function probe(): Promise<void> {
  for (const person of [owner, reader]) expect(await read(keptId, person)).toEqual(encode("content of kept.txt"));
}

/** The names of a place, and the contents of those among them that are wanted. */
async function listed(vaultId: string, folderId: string | null, wanted: (name: string) => boolean) {
  const found: string[] = [];
  const place = folderId ?? "root";
  for await (const { id, name } of owner.client.files.list({ vaultId, folderId: place })) {
    if (!wanted(name)) continue;
    const content = Buffer.from(await read(id))
      .toString("latin1")
      .slice(0, 40);
    found.push(`${unnumbered(name)}: ${content}`);
  }
  for await (const { name } of owner.client.folders.list({ vaultId, parentId: place }))
    if (wanted(name)) found.push(`${name}/`);
  return found.sort();
}

const unnumbered = (name: string): string => name.replace(/ \d+$/, "");

/** What the service has begun in the vault and not finished. */
function halfWritten(vaultId: string) {
  const uploads = "select count(*) from uploads where vault_id = ? and finished_file_id is null";
  const staged = "select count(*) from staged_names where vault_id = ?";
  const keys = "select count(*) from vault_keys where vault_id = ? and replaced_at is not null";
  return [uploads, staged, keys].map((query) => readRows(stack, query, vaultId)[0]);
}

const inVault = { actor: () => owner, probe };

interface Named {
  readonly name: string;
}

describe("an act on content that is cut off at any call", { timeout: PATIENCE }, () => {
  test("the first write of a vault publishes one key and makes one file", async () => {
    const first: Act<{ readonly written: Vault }> = {
      prepare: async () => ({ written: await newVault() }),
      actor: () => owner,
      run: (client, { written }) =>
        client.files.upload({ vaultId: written.id, name: "first.txt", body: encode("content of first.txt") }),
      state: async ({ written }) => [
        await listed(written.id, null, () => true),
        readRows(stack, "select generation from vault_keys where vault_id = ?", written.id),
        halfWritten(written.id),
      ],
      already: ["name_exists"],
    };
    await expectNoFaults(stack, first, 3);
  });

  test("an upload makes one file, small or in parts", async () => {
    const small: Act<Named> = {
      ...inVault,
      prepare: async () => ({ name: named("small") }),
      run: (client, { name }) => client.files.upload({ vaultId: vault.id, name, body: encode("small") }),
      state: async ({ name }) => [await listed(vault.id, null, (each) => each === name), halfWritten(vault.id)],
      already: ["name_exists"],
    };
    await expectNoFaults(stack, small, 2);
    const large: Act<Named & { readonly path: string }> = {
      ...small,
      prepare: async () => {
        const name = named("large");
        await writeFile(join(directory, name), LARGE);
        return { name, path: join(directory, name) };
      },
      run: (client, { path }, home) =>
        uploadFile(client, path, {
          vaultId: vault.id,
          partBytes: PART,
          store: fileStore(home),
          retries: 0,
        }),
      state: async ({ name }, home) => [
        await listed(vault.id, null, (each) => each === name),
        halfWritten(vault.id),
        await fileStore(home).tables("uploads"),
      ],
      already: [],
    };
    await expectNoFaults(stack, large, 3);
  });

  test("a replacement makes one version, and a new name is given once, also where the folder's names are outdated", async () => {
    interface Old extends Named {
      readonly fileId: string;
      readonly ifMatch: string;
      readonly folderId: string | null;
    }
    const replace: Act<Old> = {
      ...inVault,
      prepare: async () => {
        const name = named("old");
        const fileId = await put(name);
        const { tag = "" } = await owner.client.files.get(fileId);
        return { name, fileId, ifMatch: tag, folderId: null };
      },
      run: (client, { fileId, ifMatch }) =>
        client.files.replace(fileId, { vaultId: vault.id, body: encode("new"), ifMatch }),
      state: async ({ name, fileId }) => [
        await listed(vault.id, null, (each) => each === name),
        readRows(stack, "select count(*) from file_versions where file_id = ?", fileId),
        halfWritten(vault.id),
      ],
      already: ["precondition_failed"],
    };
    await expectNoFaults(stack, replace, 2);
    const rename: Act<Old> = {
      ...replace,
      prepare: async () => {
        const folder = await owner.client.folders.create({ vaultId: vault.id, name: named("folder") });
        const fileId = await put("old.txt", vault.id, folder.id);
        await put("beside.txt", vault.id, folder.id);
        await raiseGeneration(owner.client, vault.id);
        return { name: "new.txt", fileId, ifMatch: "", folderId: folder.id };
      },
      run: (client, { fileId, name }) => client.files.update(fileId, { name }, { vaultId: vault.id }),
      state: async ({ folderId }) => [await listed(vault.id, folderId, () => true), halfWritten(vault.id)],
      already: [],
    };
    await expectNoFaults(stack, rename, 2);
    const create: Act<Old> = {
      ...rename,
      run: (client, { folderId }) => client.folders.create({ vaultId: vault.id, name: "sub", parentId: folderId }),
      already: ["name_exists"],
    };
    await expectNoFaults(stack, create, 2);
  });

  test("a rotation leaves nothing of before, raises the floor once, and everything stays readable [E10]", async () => {
    interface Rotated {
      readonly rotated: Vault;
      readonly files: readonly string[];
    }
    const rotate: Act<Rotated> = {
      prepare: async () => {
        const rotated = await newVault();
        const folder = await owner.client.folders.create({ vaultId: rotated.id, name: "folder" });
        const files = [await put("top.txt", rotated.id), await put("in.txt", rotated.id, folder.id)];
        await raiseGeneration(owner.client, rotated.id);
        return { rotated, files };
      },
      actor: () => owner,
      // Each call begins anew once the last one has raised the floor: who lost the answer looks there first.
      run: async (client, { rotated }) => {
        const { floor } = await readObject(stack, rotated.chainObjectId);
        return floor === 1n ? client.vaults.rotate(rotated.id) : null;
      },
      state: async ({ rotated, files }) => {
        const { generation, floor, base } = await readObject(stack, rotated.chainObjectId);
        const kept = files.map((id) => readRows(stack, "select count(*) from file_versions where file_id = ?", id)[0]);
        return [generation, floor, base, kept, await listed(rotated.id, null, () => true), halfWritten(rotated.id)];
      },
      probe: async ({ files: [top = "", inner = ""] }) => {
        for (const person of [owner, reader]) {
          expect(await read(top, person)).toEqual(encode("content of top.txt"));
          expect(await read(inner, person)).toEqual(encode("content of in.txt"));
        }
      },
    };
    await expectNoFaults(stack, rotate, 3);
  });

  test("an export holds everything once, and nothing half written", async () => {
    // Where the machine keeps everything: a dead process holds no lock there.
    const out: Act<Named> = {
      ...inVault,
      prepare: async () => ({ name: "export" }),
      run: (client, { name }, home) => exportVault(client, vault.id, join(home, name)),
      state: async ({ name }, home) => (await readdir(join(home, name), { recursive: true })).sort(),
    };
    await expectNoFaults(stack, out, 2);
  });
});

/** A service that lies: what it says of a shared vault is held to what the client knows, and each lie is refused by its own name. */
import { type Client, type Middleware, toRequest } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { lyingAt, lyingLater, lyingOfFiles, shown, type Shown } from "../kit/lying-service.ts";
import { read, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack();
let owner: SharedPerson;
let vaultId: string;
let otherVaultId: string;
/** What the service said when everything was well: JSON of files and the stored bytes. */
const honest = { first: {}, old: {}, other: {} } as Record<"first" | "old" | "other", Shown>;

beforeAll(async () => {
  owner = stack.owner;
  const { client } = owner;
  vaultId = (await client.vaults.create({ name: "lied-about", type: "shared" })).id;
  otherVaultId = (await client.vaults.create({ name: "another", type: "shared" })).id;
  const first = await put(client, vaultId, "first.txt");
  const old = await put(client, vaultId, "old.txt");
  const other = await put(client, otherVaultId, "other.txt");
  for (const [name, id] of Object.entries({ first, old, other })) honest[name as "first"] = await shown(stack, id);
});

async function put(client: Client, vault: string, name: string): Promise<string> {
  return (await client.files.upload({ vaultId: vault, name, body: `content of ${name}` })).file.id;
}

/** Somebody who has used the vault before, and meets the lie now. */
async function meeting(...middleware: Middleware[]): Promise<Client> {
  const lies = lyingLater(...middleware);
  const client = owner.another({ retry: { limit: 0 }, middleware: lies.middleware });
  await read(client, honest.old.id);
  lies.isLying = true;
  return client;
}

const readFirst = (client: Client) => read(client, honest.first.id);

function flip(base64: string, at: number): string {
  const raw = Buffer.from(base64, "base64");
  raw[at] = (raw[at] ?? 0) ^ 1;
  return raw.toString("base64");
}

describe("what a service says of a file is refused", () => {
  const lies: Record<string, [expected: object, (file: Shown) => Shown]> = {
    "a changed version statement": [{ code: "damaged", step: "statement" }, (file) => edited(file, "version", 250)],
    "a changed signature of the entry": [{ code: "damaged", step: "entry" }, (file) => edited(file, "entry", 230)],
    "a changed name": [{ code: "damaged", step: "metadata" }, (file) => edited(file, "metadata", 80)],
    "another file's name": [
      { code: "damaged", step: "ids" },
      (file) => ({
        ...file,
        shared: { ...file.shared, entry: honest.old.shared.entry, metadata: honest.old.shared.metadata },
      }),
    ],
    "another file's version": [
      { code: "damaged", step: "ids" },
      (file) => ({ ...file, shared: { ...file.shared, version: honest.old.shared.version } }),
    ],
    "another vault's statements": [
      { code: "vault_changed", step: "pins" },
      (file) => ({ ...file, shared: honest.other.shared }),
    ],
    "another folder": [
      { code: "damaged", step: "entry" },
      (file) => ({ ...file, folderId: "0f0c1d9e-0000-4000-8000-0123456789ab" }),
    ],
    "no statements": [{ code: "not_encrypted" }, (file) => ({ ...file, shared: null as never, encrypted: false })],
  };

  test.each(Object.entries(lies))("%s", async (_, [expected, lie]) => {
    const client = await meeting(lyingOfFiles<Shown>((file) => (file.id === honest.first.id ? lie(file) : file)));
    await expect(readFirst(client)).rejects.toMatchObject(expected);
  });

  test("but not its digest of the stored bytes: they vouch for themselves", async () => {
    const client = await meeting(async (request, next, { endpointId }) => {
      const answer = await next(request);
      if (endpointId !== "files.content") return answer;
      const headers = new Headers(answer.headers);
      headers.set("repr-digest", `sha-256=:${Buffer.alloc(32).toString("base64")}:`);
      return new Response(answer.body, { status: answer.status, headers });
    });
    expect(await readFirst(client)).toBe("content of first.txt");
  });

  test("also by whoever replaces its content: no version follows another file's", async () => {
    const { version } = honest.old.shared;
    const client = await meeting(lyingOfFiles<Shown>((file) => ({ ...file, shared: { ...file.shared, version } })));
    const replaced = client.files.replace(honest.first.id, { vaultId, body: "after another file's" });
    await expect(replaced).rejects.toMatchObject({ code: "damaged", step: "ids" });
  });

  test("and of what was sent: no other file is taken for it, nor held to it from then on", async () => {
    const { id } = honest.other;
    const client = await meeting(lyingOfFiles<Shown>((file) => ({ ...file, id })));
    const sent = client.files.upload({ vaultId: otherVaultId, name: "sent.txt", body: "sent" });
    await expect(sent).rejects.toMatchObject({ code: "damaged", step: "ids" });
    expect(await read(client, id)).toBe("content of other.txt");
  });

  test("and when it is asked again: no other file is read, renamed or followed in the place of the one that was meant", async () => {
    const id = await put(owner.client, otherVaultId, "meant.txt");
    const before = await shown(stack, id);
    await owner.client.files.replace(id, { body: "newer" });
    // In its first answer about the file it says what the attack needs; then another file of the vault, which is true of that.
    const open = async (first: (file: Shown) => Shown) => {
      let asked = 0;
      const counting: Middleware = (request, next, { endpointId }) => {
        if (endpointId === "files.get") asked += 1;
        return next(request);
      };
      const lies = lyingLater(
        counting,
        lyingOfFiles<Shown>((file) => (file.id !== id ? file : asked < 2 ? first(file) : honest.other)),
      );
      const client = owner.another({ retry: { limit: 0 }, middleware: lies.middleware });
      expect(await read(client, id)).toBe("newer");
      lies.isLying = true;
      return client;
    };
    // A change asks once, and signs what follows that answer.
    const renaming = await open((file) => file);
    const renamed = await renaming.files.update(id, { name: "renamed" }, { vaultId: otherVaultId });
    expect([renamed.id, (await owner.another().files.get(id)).name]).toEqual([id, "renamed"]);
    expect((await owner.another().files.get(honest.other.id)).name).not.toBe("renamed");
    const looking = await open(() => honest.other);
    await expect(looking.files.get(id)).rejects.toMatchObject({ code: "contract_broken" });
    const reading = await open(() => before);
    await expect(read(reading, id)).rejects.toMatchObject({ code: "contract_broken" });
  });

  test("and in lists what cannot be trusted has no name, and hides no other [S16]", async () => {
    const client = await meeting(
      lyingOfFiles<Shown>((file) => (file.id === honest.first.id ? edited(file, "metadata", 80) : file)),
    );
    const { files } = await client.files.list({ vaultId });
    expect(files.map(({ name }) => name).sort()).toEqual(["", "old.txt"]);
  });
});

function edited(file: Shown, part: "version" | "entry" | "metadata", at: number): Shown {
  return { ...file, shared: { ...file.shared, [part]: flip(file.shared[part], at) } };
}

describe("what a service says of a vault", () => {
  test("is not believed: another object under the vault's id, whose files are not of it [S23]", async () => {
    const { chainObjectId } = await owner.client.vaults.get(otherVaultId);
    const lie = lyingAt("vaults.get", (said: { vault: object }) => ({ vault: { ...said.vault, chainObjectId } }));
    await expect(readFirst(owner.another({ middleware: [lie] }))).rejects.toMatchObject({ code: "vault_changed" });
  });

  test("a record that is not the creator's is replaced for writing, and refused for reading [S15]", async () => {
    const spoiled = lyingAt("vaultKeys.list", (said: { keys: { record: string }[] }) => ({
      ...said,
      keys: said.keys.map((key) => ({ ...key, record: flip(key.record, 60) })),
    }));
    const replaced: unknown[] = [];
    const watch: Middleware = async (request, next, { endpointId }) => {
      if (endpointId === "vaultKeys.publish")
        replaced.push(((await toRequest(request).clone().json()) as object & { replaces?: string }).replaces);
      return next(request);
    };
    const client = owner.another({ middleware: [spoiled, watch], retry: { limit: 0 } });
    await expect(readFirst(client)).rejects.toMatchObject({ code: "damaged", step: "record" });
    const folder = await owner.client.folders.create({ vaultId: otherVaultId, name: "empty" });
    const place = { vaultId: otherVaultId, folderId: folder.id };
    const { file } = await client.files.upload({ ...place, name: "by another key", body: "written" });
    expect(replaced).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    const reader = owner.another();
    expect([await read(reader, file.id), await read(reader, honest.other.id)]).toEqual([
      "written",
      "content of other.txt",
    ]);
  });
});

describe("what was true once is refused", () => {
  test("an older version under a newer name, whole or in part, to a client that has seen neither [S19]", async () => {
    const id = await put(owner.client, vaultId, "grown.txt");
    const { versionId, size, sha256, shared } = await shown(stack, id);
    await owner.client.files.replace(id, { body: "longer than it was before" });
    const older = (file: Shown): Shown => ({
      ...file,
      versionId,
      size,
      sha256,
      shared: { ...file.shared, version: shared.version },
    });
    const client = await meeting(lyingOfFiles<Shown>((file) => (file.id === id ? older(file) : file)));
    await expect(read(client, id)).rejects.toMatchObject({ code: "damaged" });
    const part = client.files.download(id, { range: { offset: 2, length: 3 } });
    await expect(part.then((download) => download.bytes())).rejects.toMatchObject({
      code: "damaged",
      step: "metadata",
    });
  });
});

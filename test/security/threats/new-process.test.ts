/** What a machine has learned holds in its next process: a hostile service gains nothing by waiting for one. */
import { parseEntryStatement } from "@coffer/crypto";
import { toRequest, type Client, type File, type Folder, type Middleware, type Vault } from "@coffer/sdk";
import { pinStore } from "@coffer/sdk/shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lyingAt, lyingLater, lyingOfFiles, lyingOnce, shown, watching } from "../../kit/lying-service.ts";
import { openMachine, type Machine } from "../../kit/machine.ts";
import { read, sharedStack } from "../../kit/shared-scene.ts";

const stack = sharedStack();
let machine: Machine;
let vault: Vault;
/** Shared too, with another object. */
let other: Vault;
let open: Vault;
let file: File;
let folder: Folder;
/** In the folder. */
let inside: File;
let foreign: File;
let publicFile: File;
const SECRET = "never in the clear";
beforeAll(async () => {
  machine = await openMachine(stack, stack.owner);
  const client = await machine.newProcess();
  vault = await client.vaults.create({ name: "known", type: "shared" });
  other = await client.vaults.create({ name: "another", type: "shared" });
  open = await client.vaults.create({ name: "open", type: "public" });
  folder = await client.folders.create({ vaultId: vault.id, name: "papers" });
  const put = async (place: { vaultId: string; folderId?: string }, name: string): Promise<File> =>
    (await client.files.upload({ ...place, name, body: `content of ${name}` })).file;
  file = await put({ vaultId: vault.id }, "contract.txt");
  inside = await put({ vaultId: vault.id, folderId: folder.id }, "inside.txt");
  foreign = await put({ vaultId: other.id }, "foreign.txt");
  publicFile = await put({ vaultId: open.id }, "leaflet.txt");
});
afterAll(async () => {
  await machine[Symbol.asyncDispose]();
});

/** What the service says of something that it calls public. */
const IN_PUBLIC = () => ({ vaultId: open.id, shared: null, encrypted: false });
const EVERYWHERE = ["get", "update", "delete", "restore", "upload", "replace", "create"];

/** The same lie about every file and folder that the service shows by itself. */
function lyingOfItems(change: (item: Record<string, unknown>) => object): Middleware[] {
  const about = (kind: string, name: string) =>
    EVERYWHERE.map((act) =>
      lyingAt(`${kind}.${act}`, (said: Record<string, Record<string, unknown>>) => ({
        ...said,
        ...(said[name] === undefined ? {} : { [name]: change(said[name]) }),
      })),
    );
  const beside: Middleware = async (request, next, { endpointId }) => {
    const answer = await next(request);
    if (endpointId !== "files.content") return answer;
    const headers = new Headers(answer.headers);
    headers.delete("coffer-file");
    return new Response(answer.body, { status: answer.status, headers });
  };
  return [...about("files", "file"), ...about("folders", "folder"), beside];
}

type Acts = Readonly<Record<string, (client: Client) => PromiseLike<unknown>>>;
type Processes = Pick<Machine, "newProcess">;

interface Refusing {
  readonly on?: Processes;
  readonly refusal?: RegExp;
}

/** In the place of new processes of the machine: such as have no disk, and have looked around before the service began to lie. */
const running: Processes = {
  newProcess: async ({ middleware = [] } = {}) => {
    const lies = lyingLater(...middleware);
    const client = stack.owner.another({ retry: { limit: 0 }, middleware: lies.middleware });
    await client.files.list({ vaultId: vault.id });
    await client.folders.get(folder.id);
    lies.isLying = true;
    return client;
  },
};

/** A new process for each act, so that none of them learns from the one before. */
async function refuseEach(
  lies: readonly Middleware[],
  acts: Acts,
  { on = machine, refusal = /^(vault_changed|contract_broken|damaged|vault_required|shared_vault)$/ }: Refusing = {},
): Promise<void> {
  for (const [name, act] of Object.entries(acts)) {
    const sent: string[] = [];
    const client = await on.newProcess({ middleware: [watching(sent), ...lies] });
    const outcome = await act(client).then(
      () => "done",
      (error: unknown) => (error as { code?: string }).code,
    );
    expect([name, outcome]).toEqual([name, expect.stringMatching(refusal)]);
    expect(
      sent.filter((text) => text.includes(SECRET)),
      name,
    ).toEqual([]);
  }
}

/** All that a client does with a file or folder that is named by its id alone. */
const BY_ID_ALONE: Acts = {
  "files.get": (client) => client.files.get(file.id),
  "files.download": async (client) => (await client.files.download(file.id)).bytes(),
  "files.download of a part": async (client) =>
    (await client.files.download(file.id, { range: { offset: 1, length: 3 } })).bytes(),
  "files.replace": (client) => client.files.replace(file.id, { body: SECRET }),
  "files.update": (client) => client.files.update(file.id, { name: SECRET }),
  "files.restore": (client) => client.files.restore(file.id, { name: SECRET }),
  "folders.get": (client) => client.folders.get(folder.id),
  "folders.update": (client) => client.folders.update(folder.id, { name: SECRET }),
  "folders.restore": (client) => client.folders.restore(folder.id, { name: SECRET }),
};

/** Where the caller names a vault that the service told. */
const IN_A_WRONG_VAULT: Acts = {
  "files.upload": (client) =>
    client.files.upload({ vaultId: open.id, folderId: folder.id, name: SECRET, body: SECRET }),
  "files.list": (client) => client.files.list({ vaultId: open.id, folderId: folder.id, name: SECRET }),
  "files.replace": (client) => client.files.replace(file.id, { vaultId: open.id, body: SECRET }),
};

/** What is put into a folder, or looked for there, by its id alone goes to the vault that the disk knows: the service is not asked. */
async function putByFolder(lies: readonly Middleware[], on: Processes = machine): Promise<void> {
  const sent: string[] = [];
  const begin = () => on.newProcess({ middleware: [watching(sent), ...lies] });
  await (await begin()).files.list({ folderId: folder.id, name: SECRET }).then(null, () => undefined);
  await (await begin()).folders.list({ parentId: folder.id, name: SECRET }).then(null, () => undefined);
  const upload = { folderId: folder.id, name: `${SECRET}.txt`, body: SECRET };
  await (await begin()).files.upload(upload).catch(() => undefined);
  await (await begin()).folders.create({ parentId: folder.id, name: SECRET }).catch(() => undefined);
  expect(sent.filter((text) => text.includes(SECRET) || text.includes(`/folders/${folder.id} `))).toEqual([]);
  const { client } = stack.owner;
  const { files } = await client.files.list({ vaultId: vault.id, folderId: folder.id, name: upload.name });
  const { folders } = await client.folders.list({ vaultId: vault.id, parentId: folder.id });
  expect([files.length, folders.map(({ name }) => name)]).toEqual([1, [SECRET]]);
  for (const { id } of files) await client.files.delete(id);
  for (const { id } of folders) await client.folders.delete(id);
}

describe("in a new process of a machine that has used the vault, a hostile service", () => {
  test("is not believed that the vault is public, another object, another owner's or of another network [S23]", async () => {
    const object = other.chainObjectId;
    for (const change of [
      { type: "public", chainObjectId: null, generation: null, plainNames: null },
      { chainObjectId: object },
      { id: open.id, type: "public", chainObjectId: null },
    ]) {
      const lie = lyingAt("vaults.get", (said: { vault: object }) => ({ vault: { ...said.vault, ...change } }));
      const sent: string[] = [];
      const client = await machine.newProcess({ middleware: [watching(sent), lie] });
      const put = await client.files.upload({ vaultId: vault.id, name: SECRET, body: SECRET });
      expect(sent.filter((text) => text.includes(SECRET))).toEqual([]);
      expect((await stack.owner.client.files.get(put.file.id)).name).toBe(SECRET);
      await client.files.delete(put.file.id);
      await expect(client.vaults.get(vault.id)).rejects.toMatchObject({
        code: expect.stringMatching(/vault_changed|contract_broken/) as string,
      });
    }
    const network = { ...stack.network, chainId: "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S" };
    const elsewhere = await machine.newProcess({ shared: { network } });
    await expect(elsewhere.files.list({ vaultId: vault.id })).rejects.toMatchObject({
      code: expect.stringMatching(/vault_changed|network_changed/) as string,
    });
  });

  test("has nothing read or sent by its id alone where it shows the file or folder in a public vault [S26 S29]", async () => {
    const lies = lyingOfItems((item) => ({ ...item, ...IN_PUBLIC() }));
    const named: Acts = { "files.download": (client) => client.files.download(file.id, { vaultId: vault.id }) };
    for (const on of [machine, running]) {
      await refuseEach(lies, { ...BY_ID_ALONE, ...named }, { on, refusal: /^vault_changed$/ });
      await refuseEach(lies, IN_A_WRONG_VAULT, { on, refusal: /^vault_changed$/ });
      await putByFolder(lies, on);
    }
    const inLists = lyingOfFiles<File>((said) => ({ ...said, ...IN_PUBLIC() }));
    const { files } = await (await machine.newProcess({ middleware: [inLists] })).files.list();
    expect(files.find(({ id }) => id === file.id)).toMatchObject({ name: "", unreadable: "vault_changed" });
  });

  test("nor where it shows another one in its place, of a public vault or of another shared one [S26]", async () => {
    for (const shownInstead of [await shown(stack, publicFile.id), await shown(stack, foreign.id)]) {
      const lies = lyingOfItems((item) =>
        "parentId" in item ? { ...item, vaultId: shownInstead["vaultId"] } : shownInstead,
      );
      for (const on of [machine, running]) {
        await refuseEach(lies, BY_ID_ALONE, { on });
        await putByFolder(lies, on);
      }
    }
  });

  test("nor by the first answer alone, where those that follow are true [S26]", async () => {
    const once = (endpoint: string): Middleware =>
      lyingOnce(endpoint, (said: Record<string, object>) =>
        Object.fromEntries(Object.entries(said).map(([name, item]) => [name, { ...item, ...IN_PUBLIC() }])),
      );
    for (const [endpoint, names] of [
      ["files.get", ["files.get", "files.replace", "files.update", "files.restore"]],
      ["folders.get", ["folders.get", "folders.update"]],
    ] as const)
      for (const name of names)
        await refuseEach([once(endpoint)], {
          [name]: BY_ID_ALONE[name] ?? (() => Promise.reject(new Error("no such act"))),
        });
  });

  test("has nothing sent by an id that the disk does not know, wherever it shows the file or folder [S26]", async () => {
    const stranger = await stack.signUp("stranger");
    const trap = await stranger.client.vaults.create({ name: "trap", type: "shared" });
    await stranger.client.vaults.members.add(trap.id, stack.owner.signer.chainAddress);
    const acts: Acts = {
      "files.replace": (client) => client.files.replace(file.id, { body: SECRET }),
      "files.update": (client) => client.files.update(file.id, { name: SECRET }),
      "files.restore": (client) => client.files.restore(file.id, { name: SECRET }),
      "files.upload": (client) => client.files.upload({ folderId: folder.id, name: SECRET, body: SECRET }),
      "files.upload without a place": (client) => client.files.upload({ name: SECRET, body: SECRET }),
      "files.list": (client) => client.files.list({ folderId: folder.id, name: SECRET }),
      "folders.create": (client) => client.folders.create({ parentId: folder.id, name: SECRET }),
      "folders.create without a place": (client) => client.folders.create({ name: SECRET }),
      "folders.create at the top": (client) => client.folders.create({ name: SECRET, parentId: null }),
      "folders.update": (client) => client.folders.update(folder.id, { name: SECRET }),
      "folders.restore": (client) => client.folders.restore(folder.id, { name: SECRET }),
    };
    // Another machine of the same person has met the vaults, and nothing that lies in them; a third one has met nothing.
    await using meeting = await openMachine(stack, stack.owner);
    for (const { id } of [vault, other, open]) await (await meeting.newProcess()).vaults.checkAccess(id);
    const fresh: Processes = {
      newProcess: async (options) => stack.owner.another({ retry: { limit: 0 }, ...options }),
    };
    for (const on of [meeting, fresh])
      for (const vaultId of [vault.id, other.id, trap.id, open.id]) {
        const lies = lyingOfItems((item) => ({ ...item, ...(vaultId === open.id ? IN_PUBLIC() : { vaultId }) }));
        await refuseEach(lies, acts, { on, refusal: /^vault_required$/ });
      }
    const honest = stack.owner.another();
    // Reading it does not make the service's word the caller's.
    expect(await read(honest, file.id)).toBe("content of contract.txt");
    await expect(honest.files.replace(file.id, { body: SECRET })).rejects.toMatchObject({
      code: "vault_required",
      nextStep: expect.stringContaining("vaultId") as unknown,
    });
  });

  test("nor by the second answer, which is asked for where the first one is an older one", async () => {
    const before = await shown(stack, inside.id);
    await (await machine.newProcess()).files.update(inside.id, { name: "newer.txt" });
    let asked = 0;
    const lie = lyingAt("files.get", (said: { file: object }) => {
      asked += 1;
      return { file: asked === 1 ? before : { ...said.file, vaultId: open.id } };
    });
    await refuseEach([lie], { "files.get": (client) => client.files.get(inside.id) });
    expect(asked).toBe(2);
    await (await machine.newProcess()).files.update(inside.id, { name: "inside.txt" });
  });

  test("passes nothing off as changed that is as it was before [S29]", async () => {
    const before = await shown(stack, inside.id);
    const lies = ["files.update", "files.get"].map((endpoint) => lyingAt(endpoint, () => ({ file: before })));
    const changed = (await machine.newProcess({ middleware: lies })).files.update(inside.id, { name: "changed.txt" });
    await expect(changed).rejects.toMatchObject({ code: "rolled_back" });
    await (await machine.newProcess()).files.update(inside.id, { name: "inside.txt" });
  });

  test("has nothing moved by a new name, nor by bringing it back [S29]", async () => {
    const moved = () =>
      lyingOnce("files.get", (said: { file: object }) => ({ file: { ...said.file, folderId: null } }));
    const signed: (string | null)[] = [];
    const noting: Middleware = async (request, next, { endpointId }) => {
      if (endpointId === "files.update" || endpointId === "files.restore") {
        const { shared } = (await toRequest(request).clone().json()) as { shared?: { entry: string } };
        if (shared !== undefined) signed.push(parseEntryStatement(Buffer.from(shared.entry, "base64")).folderId);
      }
      return next(request);
    };
    const renaming = await machine.newProcess({ middleware: [moved(), noting] });
    // The client sees in the entry that it is a lie, and signs nothing; once the service is honest, the file is where it was.
    const rename = () => renaming.files.update(inside.id, { name: "renamed.txt" });
    await expect(rename()).rejects.toMatchObject({ code: "damaged" });
    expect(signed).toEqual([]);
    const renamed = await rename();
    await renaming.files.delete(inside.id);
    const restoring = await machine.newProcess({ middleware: [moved(), noting] });
    const back = await restoring.files.restore(inside.id, { name: "inside.txt" });
    expect([renamed.folderId, back.folderId, ...signed]).toEqual(Array(4).fill(folder.id));
  });

  test("shuts no vault by calling its object another vault at a first meeting [S23]", async () => {
    const unmet = await stack.owner.client.vaults.create({ name: "unmet", type: "shared" });
    const lie = lyingAt("vaults.get", (said: { vault: Vault }) =>
      said.vault.id === unmet.id ? { vault: { ...said.vault, chainObjectId: vault.chainObjectId } } : said,
    );
    const client = await machine.newProcess({ middleware: [lie] });
    const put = (by: Client) => by.files.upload({ vaultId: unmet.id, name: SECRET, body: SECRET });
    await expect(put(client)).rejects.toMatchObject({ code: "vault_changed" });
    const next = await machine.newProcess();
    expect((await next.files.get(file.id)).name).toBe("contract.txt");
    expect((await put(next)).file.vaultId).toBe(unmet.id);
  });

  test("changes no pin by answering the creation of another vault with its id [S23]", async () => {
    const { origin } = new URL(stack.baseUrl);
    const before = await pinStore(machine.store).list(origin);
    for (const { id } of [vault, open])
      for (const type of ["shared", "public"] as const) {
        const lie = lyingAt("vaults.create", (said: { vault: Vault }) => ({ vault: { ...said.vault, id } }));
        const client = await machine.newProcess({ middleware: [lie] });
        const made = client.vaults.create({ name: `in place of ${id}, ${type}`, type });
        await expect(made).rejects.toMatchObject({ code: "vault_changed" });
        expect(await pinStore(machine.store).list(origin)).toEqual(before);
      }
  });

  test("changes no pin that its user has set while it took its time at a first meeting", async () => {
    const late = await stack.owner.client.vaults.create({ name: "late", type: "shared" });
    const told = { chainObjectId: late.chainObjectId ?? "", ownerAddress: stack.owner.signer.chainAddress };
    const trusting = await machine.newProcess();
    const slow: Middleware = async (request, next, { endpointId }) => {
      const answer = await next(request);
      if (endpointId !== "vaults.get") return answer;
      await trusting.vaults.trust(late.id, told);
      const said = (await answer.json()) as { vault: Vault };
      return Response.json({ vault: { ...said.vault, type: "public", chainObjectId: null } });
    };
    const sent: string[] = [];
    const client = await machine.newProcess({ middleware: [watching(sent), slow] });
    const put = client.files.upload({ vaultId: late.id, name: SECRET, body: SECRET });
    await expect(put).rejects.toMatchObject({ code: "vault_changed" });
    expect(sent.filter((text) => text.includes(SECRET))).toEqual([]);
    const pin = await pinStore(machine.store).load(new URL(stack.baseUrl).origin, late.id);
    expect(pin).toMatchObject({ shared: true, chainObjectId: late.chainObjectId });
    expect((await client.files.upload({ vaultId: late.id, name: SECRET, body: SECRET })).file.name).toBe(SECRET);
    expect(sent.filter((text) => text.includes(SECRET))).toEqual([]);
  });

  test("changes no pin by any of it, in no answer and no list [S23]", async () => {
    const { origin } = new URL(stack.baseUrl);
    const pins = pinStore(machine.store);
    const before = await pins.list(origin);
    const said: Vault = { ...open, id: vault.id, name: "known" };
    const answering = ["vaults.get", "vaults.create", "vaults.update"];
    const lies = [
      ...answering.map((endpoint) => lyingAt(endpoint, () => ({ vault: said }))),
      lyingAt("vaults.list", (list: { vaults: Vault[] }) => ({ ...list, vaults: [said, ...list.vaults] })),
    ];
    for (const act of [
      (client: Client) => client.vaults.get(open.id),
      (client: Client) => client.vaults.list(),
      (client: Client) => client.vaults.create({ name: "new public", type: "public" }),
      (client: Client) => client.vaults.create({ name: "new shared", type: "shared" }),
      (client: Client) => client.vaults.update(open.id, { name: "open" }),
      (client: Client) => client.files.list(),
      (client: Client) => client.files.list({ vaultId: crypto.randomUUID() }),
      (client: Client) => client.files.upload({ vaultId: crypto.randomUUID(), name: SECRET, body: SECRET }),
      (client: Client) => client.vaults.checkAccess(open.id),
    ]) {
      const sent: string[] = [];
      await Promise.resolve(act(await machine.newProcess({ middleware: [watching(sent), ...lies] }))).catch(
        () => undefined,
      );
      expect(await pins.list(origin)).toEqual(before);
      expect(sent.filter((text) => text.includes(SECRET))).toEqual([]);
    }
  });
});

/** What a machine has learned holds in its next process: a hostile service gains nothing by waiting for one. */
import { parseEntryStatement } from "@coffer/crypto";
import {
  chainKeySigner,
  generateChainKey,
  type Client,
  type File,
  type Folder,
  type Middleware,
  type Vault,
} from "@coffer/sdk";
import { filePins } from "@coffer/sdk/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lyingAt } from "../kit/lying-service.ts";
import { openMachine, type Machine } from "../kit/machine.ts";
import { openSharedStack, type SharedStack } from "../kit/shared-stack.ts";

let stack: SharedStack;
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
const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);

beforeAll(async () => {
  stack = await openSharedStack();
  machine = await openMachine(stack, stack.owner);
  const client = await machine.newProcess();
  vault = await client.vaults.create({ name: "known", type: "shared" });
  other = await client.vaults.create({ name: "another", type: "shared" });
  open = await client.vaults.create({ name: "open", type: "public" });
  folder = await client.folders.create({ vaultId: vault.id, name: "papers" });
  const put = async (place: { vaultId: string; folderId?: string }, name: string): Promise<File> =>
    (await client.files.upload({ ...place, name, body: bytes(`content of ${name}`) })).file;
  file = await put({ vaultId: vault.id }, "contract.txt");
  inside = await put({ vaultId: vault.id, folderId: folder.id }, "inside.txt");
  foreign = await put({ vaultId: other.id }, "foreign.txt");
  publicFile = await put({ vaultId: open.id }, "leaflet.txt");
});
afterAll(async () => {
  await machine[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

/** As the service has it, with its statements. */
async function shown(kind: "files" | "folders", id: string): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${stack.owner.apiKey}` };
  const answer = (await (await fetch(`${stack.baseUrl}/api/${kind}/${id}`, { headers })).json()) as object;
  return Object.values(answer)[0] as Record<string, unknown>;
}

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

/** Everything that leaves. */
function watching(sent: string[]): Middleware {
  return async (request, next) => {
    const body = Buffer.from(await request.clone().arrayBuffer()).toString("latin1");
    sent.push(`${request.method} ${decodeURIComponent(request.url)} ${body}`);
    return next(request);
  };
}

/** A new process for each act, so that none of them learns from the one before. */
async function refuseEach(
  lies: readonly Middleware[],
  acts: Readonly<Record<string, (client: Client) => PromiseLike<unknown>>>,
  on: Machine = machine,
): Promise<void> {
  for (const [name, act] of Object.entries(acts)) {
    const sent: string[] = [];
    const client = await on.newProcess({ middleware: [watching(sent), ...lies] });
    const outcome = await act(client).then(
      () => "done",
      (error: unknown) => (error as { code?: string }).code,
    );
    expect([name, outcome]).toEqual([
      name,
      expect.stringMatching(/^(vault_changed|contract_broken|damaged|vault_required|shared_vault)$/),
    ]);
    expect(
      sent.filter((text) => text.includes(SECRET)),
      name,
    ).toEqual([]);
  }
}

/** All that a client does with a file or folder that is named by its id alone. */
const BY_ID_ALONE: Readonly<Record<string, (client: Client) => PromiseLike<unknown>>> = {
  "files.get": (client) => client.files.get(file.id),
  "files.download": async (client) => (await client.files.download(file.id)).bytes(),
  "files.download of a part": async (client) =>
    (await client.files.download(file.id, { range: { offset: 1, length: 3 } })).bytes(),
  "files.replace": (client) => client.files.replace(file.id, { body: bytes(SECRET) }),
  "files.update": (client) => client.files.update(file.id, { name: SECRET }),
  "files.restore": (client) => client.files.restore(file.id, { name: SECRET }),
  "folders.get": (client) => client.folders.get(folder.id),
  "folders.update": (client) => client.folders.update(folder.id, { name: SECRET }),
  "folders.restore": (client) => client.folders.restore(folder.id, { name: SECRET }),
};

/** What is put into a folder, or looked for there, by its id alone goes to the vault that the disk knows: the service is not asked. */
async function putByFolder(lies: readonly Middleware[]): Promise<void> {
  const sent: string[] = [];
  const begin = () => machine.newProcess({ middleware: [watching(sent), ...lies] });
  await (await begin()).files.list({ folderId: folder.id, name: SECRET }).then(null, () => undefined);
  await (await begin()).folders.list({ parentId: folder.id, name: SECRET }).then(null, () => undefined);
  const upload = { folderId: folder.id, name: `${SECRET}.txt`, body: bytes(SECRET) };
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
  test("is not believed that the vault is public, another object, another owner's or of another network", async () => {
    const object = other.chainObjectId;
    for (const change of [
      { type: "public", chainObjectId: null, generation: null, plainNames: null },
      { chainObjectId: object },
      { id: open.id, type: "public", chainObjectId: null },
    ]) {
      const lie = lyingAt("vaults.get", (said: { vault: object }) => ({ vault: { ...said.vault, ...change } }));
      const sent: string[] = [];
      const client = await machine.newProcess({ middleware: [watching(sent), lie] });
      const put = await client.files.upload({ vaultId: vault.id, name: SECRET, body: bytes(SECRET) });
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

  test("has nothing read or sent by its id alone where it shows the file or folder in a public vault", async () => {
    const lies = lyingOfItems((item) => ({ ...item, vaultId: open.id, shared: null, encrypted: false }));
    await refuseEach(lies, BY_ID_ALONE);
    await putByFolder(lies);
  });

  test("nor where it shows another one in its place, of a public vault or of another shared one", async () => {
    for (const shownInstead of [await shown("files", publicFile.id), await shown("files", foreign.id)]) {
      const lies = lyingOfItems((item) =>
        "parentId" in item ? { ...item, vaultId: shownInstead["vaultId"] } : shownInstead,
      );
      await refuseEach(lies, BY_ID_ALONE);
      await putByFolder(lies);
    }
  });

  test("nor by the first answer alone, where those that follow are true", async () => {
    const once = (endpoint: string): Middleware => {
      let left = 1;
      const lie = lyingAt(endpoint, (said: Record<string, object>) =>
        Object.fromEntries(
          Object.entries(said).map(([name, item]) => [
            name,
            { ...item, vaultId: open.id, shared: null, encrypted: false },
          ]),
        ),
      );
      return (request, next, context) =>
        context.endpointId === endpoint && left-- > 0 ? lie(request, next, context) : next(request);
    };
    for (const [endpoint, names] of [
      ["files.get", ["files.get", "files.replace", "files.update", "files.restore"]],
      ["folders.get", ["folders.get", "folders.update"]],
    ] as const)
      for (const name of names)
        await refuseEach([once(endpoint)], {
          [name]: BY_ID_ALONE[name] ?? (() => Promise.reject(new Error("no such act"))),
        });
  });

  test("has nothing sent by an id that the disk does not know, wherever it shows the file or folder", async () => {
    // Another machine of the same person has met the vaults, and nothing that lies in them.
    await using stranger = await openMachine(stack, stack.owner);
    const meeting = await stranger.newProcess();
    for (const { id } of [vault, other, open]) await meeting.vaults.checkAccess(id);
    const acts: Readonly<Record<string, (client: Client) => PromiseLike<unknown>>> = {
      "files.replace": (client) => client.files.replace(file.id, { body: bytes(SECRET) }),
      "files.update": (client) => client.files.update(file.id, { name: SECRET }),
      "files.upload": (client) => client.files.upload({ folderId: folder.id, name: SECRET, body: bytes(SECRET) }),
      "files.upload without a place": (client) => client.files.upload({ name: SECRET, body: bytes(SECRET) }),
      "files.list": (client) => client.files.list({ folderId: folder.id, name: SECRET }),
      "folders.create": (client) => client.folders.create({ parentId: folder.id, name: SECRET }),
      "folders.create without a place": (client) => client.folders.create({ name: SECRET }),
      "folders.update": (client) => client.folders.update(folder.id, { name: SECRET }),
    };
    for (const vaultId of [vault.id, other.id, open.id])
      await refuseEach(
        lyingOfItems((item) => ({
          ...item,
          vaultId,
          ...(vaultId === open.id ? { shared: null, encrypted: false } : {}),
        })),
        acts,
        stranger,
      );
  });

  test("nor by the second answer, which is asked for where the first one is an older one", async () => {
    const before = await shown("files", inside.id);
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

  test("passes nothing off as changed that is as it was before", async () => {
    const before = await shown("files", inside.id);
    const lies = ["files.update", "files.get"].map((endpoint) => lyingAt(endpoint, () => ({ file: before })));
    const changed = (await machine.newProcess({ middleware: lies })).files.update(inside.id, { name: "changed.txt" });
    await expect(changed).rejects.toMatchObject({ code: "rolled_back" });
    await (await machine.newProcess()).files.update(inside.id, { name: "inside.txt" });
  });

  test("hides no entry of a list behind a bad one, and passes none of another place off", async () => {
    const truth = await shown("files", file.id);
    const elsewhere = { ...truth, vaultId: open.id, shared: null, encrypted: false, name: "invoice.txt" };
    const bad = [
      elsewhere,
      { ...(await shown("files", foreign.id)), vaultId: vault.id },
      await shown("files", publicFile.id),
    ];
    const adding = lyingAt("files.list", ({ files, ...said }: { files: { id: string }[] }) => ({
      ...said,
      files: [...bad, ...files.filter(({ id }) => id !== file.id)],
    }));
    for (const place of [{}, { folderId: "root" }]) {
      const client = await machine.newProcess({ middleware: [adding] });
      const { files } = await client.files.list({ vaultId: vault.id, ...place });
      expect(files.slice(0, 3).map(({ name }) => name)).toEqual(["", "", ""]);
      expect(files.slice(3).map(({ name }) => name)).toEqual("folderId" in place ? [] : ["inside.txt"]);
    }
    const misnaming = lyingAt("files.list", ({ files, ...said }: { files: { id: string }[] }) => ({
      ...said,
      files: files.map((one) => (one.id === file.id ? { ...elsewhere, vaultId: vault.id } : one)),
    }));
    const client = await machine.newProcess({ middleware: [misnaming] });
    const { files } = await client.files.list({ vaultId: vault.id });
    expect(files.map(({ name }) => name).sort()).toEqual(["", "inside.txt"]);
  });

  test("has nothing moved by a new name, nor by bringing it back", async () => {
    const moved = (): Middleware => {
      let left = 1;
      const lie = lyingAt("files.get", (said: { file: object }) => ({ file: { ...said.file, folderId: null } }));
      return (request, next, context) =>
        context.endpointId === "files.get" && left-- > 0 ? lie(request, next, context) : next(request);
    };
    const signed: (string | null)[] = [];
    const noting: Middleware = async (request, next, { endpointId }) => {
      if (endpointId === "files.update" || endpointId === "files.restore") {
        const { shared } = (await request.clone().json()) as { shared?: { entry: string } };
        if (shared !== undefined) signed.push(parseEntryStatement(Buffer.from(shared.entry, "base64")).folderId);
      }
      return next(request);
    };
    const renaming = await machine.newProcess({ middleware: [moved(), noting] });
    await renaming.files.update(inside.id, { name: "renamed.txt" });
    await renaming.files.delete(inside.id);
    const restoring = await machine.newProcess({ middleware: [moved(), noting] });
    await restoring.files.restore(inside.id, { name: "inside.txt" });
    expect(signed).toEqual([folder.id, folder.id]);
  });

  test("shuts no vault by calling its object another vault at a first meeting", async () => {
    const unmet = await stack.owner.client.vaults.create({ name: "unmet", type: "shared" });
    const lie = lyingAt("vaults.get", (said: { vault: Vault }) =>
      said.vault.id === unmet.id ? { vault: { ...said.vault, chainObjectId: vault.chainObjectId } } : said,
    );
    const client = await machine.newProcess({ middleware: [lie] });
    const put = (by: Client) => by.files.upload({ vaultId: unmet.id, name: SECRET, body: bytes(SECRET) });
    await expect(put(client)).rejects.toMatchObject({ code: "vault_changed" });
    const next = await machine.newProcess();
    expect((await next.files.get(file.id)).name).toBe("contract.txt");
    expect((await put(next)).file.vaultId).toBe(unmet.id);
  });

  test("changes no pin by answering the creation of another vault with its id", async () => {
    const { origin } = new URL(stack.baseUrl);
    const before = await filePins(machine.pinPath).list(origin);
    const lie = lyingAt("vaults.create", (said: { vault: Vault }) => ({ vault: { ...said.vault, id: vault.id } }));
    for (const type of ["shared", "public"] as const) {
      const client = await machine.newProcess({ middleware: [lie] });
      const made = client.vaults.create({ name: `in its place, ${type}`, type });
      await expect(made).rejects.toMatchObject({ code: "vault_changed" });
      expect(await filePins(machine.pinPath).list(origin)).toEqual(before);
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
    const put = client.files.upload({ vaultId: late.id, name: SECRET, body: bytes(SECRET) });
    await expect(put).rejects.toMatchObject({ code: "vault_changed" });
    expect(sent.filter((text) => text.includes(SECRET))).toEqual([]);
    const pin = await filePins(machine.pinPath).load(new URL(stack.baseUrl).origin, late.id);
    expect(pin).toMatchObject({ shared: true, chainObjectId: late.chainObjectId });
  });

  test("changes no pin by any of it, in no answer and no list", async () => {
    const { origin } = new URL(stack.baseUrl);
    const pins = filePins(machine.pinPath);
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
      (client: Client) => client.vaults.checkAccess(open.id),
    ]) {
      await Promise.resolve(act(await machine.newProcess({ middleware: lies }))).catch(() => undefined);
      expect(await pins.list(origin)).toEqual(before);
    }
  });
});

describe("in the first process after an invite was redeemed", () => {
  test("the service makes of the vault that the invite tells neither another object nor a public one", async () => {
    const { text } = await stack.owner.client.invites.create({ name: "told", vaultIds: [vault.id] });
    const agent = await stack.invite("agent");
    await using told = await openMachine(stack, agent);
    const { origin } = new URL(stack.baseUrl);
    const redeeming = await told.newProcess({ credentials: null });
    await redeeming.invites.redeem(text, await chainKeySigner((await generateChainKey()).privateKey));
    await stack.owner.client.vaults.members.add(vault.id, agent.signer.chainAddress);
    for (const change of [{ type: "public", chainObjectId: null }, { chainObjectId: other.chainObjectId }]) {
      const sent: string[] = [];
      const lie = lyingAt("vaults.get", (said: { vault: object }) => ({ vault: { ...said.vault, ...change } }));
      const client = await told.newProcess({ middleware: [watching(sent), lie] });
      const { file: put } = await client.files.upload({ vaultId: vault.id, name: SECRET, body: bytes(SECRET) });
      expect(sent.filter((text_) => text_.includes(SECRET))).toEqual([]);
      await client.files.delete(put.id);
    }
    expect((await filePins(told.pinPath).load(origin, vault.id))?.chainObjectId).toBe(vault.chainObjectId);
  });
});

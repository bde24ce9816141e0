/** A service whose answers are of something else than was asked for: no pin changes, and what lies in a shared vault stays in it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, type Client, type File, type Folder, type Middleware, type PinStore, type Vault } from "@coffer/sdk";
import { openSharedVaults } from "@coffer/sdk/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lyingAt, lyingOfFiles } from "../kit/lying-service.ts";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";

let stack: SharedStack;
let owner: SharedPerson;
let directory: string;
let secret: Vault;
let open: Vault;
let file: File;
let folder: Folder;

const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);
const CLEAR = { body: bytes("words in the clear"), name: "name in the clear" };

beforeAll(async () => {
  stack = await openSharedStack();
  owner = stack.owner;
  directory = await mkdtemp(join(tmpdir(), "coffer-pins-"));
  const { client } = await newProcess();
  secret = await client.vaults.create({ name: "kept", type: "shared" });
  open = await client.vaults.create({ name: "open", type: "public" });
  file = (await client.files.upload({ vaultId: secret.id, name: "kept.txt", body: bytes("of the members") })).file;
  folder = await client.folders.create({ vaultId: secret.id, name: "kept folder" });
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

interface Process {
  readonly client: Client;
  readonly pins: PinStore;
  /** All that was sent to the service. */
  readonly sent: readonly string[];
}

/** What each process still has to write of what it has seen. */
const unwritten: (() => Promise<void>)[] = [];
const flush = () => Promise.all(unwritten.map((write) => write()));

let machines = 0;
const newMachine = (): string => join(directory, `machine-${String((machines += 1))}`);

/** The owner in a new process, on the same machine as before or on another one. */
async function newProcess(
  middleware: readonly Middleware[] = [],
  machine = join(directory, "machine"),
  person: Pick<SharedPerson, "another" | "privateKey"> = owner,
): Promise<Process> {
  await flush();
  const networkFile = join(directory, "network.json");
  await writeFile(networkFile, JSON.stringify(stack.network));
  const settings = { chainPrivateKey: new Secret(person.privateKey), networkFile };
  const { pins, seen } = (await openSharedVaults(settings, join(machine, "vault-pins.json"))) ?? {};
  assert.ok(pins !== undefined && seen !== undefined, "what outlives the process");
  const sent: string[] = [];
  const watch: Middleware = async (request, next) => {
    // What another process would find on the disk by now.
    await flush();
    sent.push(`${request.url} ${JSON.stringify([...request.headers])} ${await request.clone().text()}`);
    return next(request);
  };
  const noting: typeof seen = {
    open: async (object) => {
      const memory = await seen.open(object);
      unwritten.push(() => memory.flush());
      return memory;
    },
  };
  const shared = { pins, seen: noting };
  const client = person.another({ retry: { limit: 0 }, middleware: [watch, ...middleware], shared });
  return { client, pins, sent };
}

const pinOf = ({ pins }: Process, vault: Vault) => pins.load(new URL(stack.baseUrl).origin, vault.id);

/** Says that every file and folder lies in the clear in that vault. */
function inPublic(vaultId: () => string): Middleware[] {
  const lie = <Item extends object>(item: Item) => ({ ...item, vaultId: vaultId(), shared: null, encrypted: false });
  return [
    lyingOfFiles<File>((said) => lie(said)),
    lyingAt("folders.get", ({ folder: said }: { folder: Folder }) => ({ folder: lie(said) })),
    lyingAt("folders.list", (said: { folders: Folder[] }) => ({ ...said, folders: said.folders.map(lie) })),
  ];
}

const asPublic =
  (id: string) =>
  ({ vault }: { vault: Vault }) => ({
    vault: { ...vault, id, type: "public", chainObjectId: null },
  });

function expectNothingClear({ sent }: Process): void {
  expect(sent.filter((text) => /(words|name)(%20|\+| )in(%20|\+| )the/.test(text))).toEqual([]);
}

describe("no answer replaces a pin", () => {
  test("one to a read of another vault", async () => {
    const lied = await newProcess([lyingAt("vaults.get", asPublic(secret.id))]);
    const before = await pinOf(lied, secret);
    expect(before).toMatchObject({ shared: true, chainObjectId: secret.chainObjectId });
    for (const read of [
      () => lied.client.vaults.get(randomUUID()),
      () => lied.client.files.list({ vaultId: randomUUID() }),
      () => lied.client.files.upload({ vaultId: randomUUID(), ...CLEAR }),
    ])
      await expect(read()).rejects.toMatchObject({
        code: expect.stringMatching(/contract_broken|not_found/) as unknown,
      });
    expect(await pinOf(lied, secret)).toEqual(before);
    expectNothingClear(lied);
  });

  test("a list that names a vault which nobody has asked for: it pins none at all", async () => {
    const invented = randomUUID();
    const told = { chainObjectId: secret.chainObjectId ?? "", ownerAddress: owner.signer.chainAddress };
    // The vault that the list names, and the one that the answer is of.
    const one = await newProcess(
      [
        async (request, next, { endpointId }) =>
          endpointId === "vaults.get" ? Response.json(asPublic(secret.id)({ vault: secret })) : next(request),
        lyingOfFiles<File>((said) => ({ ...said, vaultId: invented, shared: null, encrypted: false })),
      ],
      newMachine(),
    );
    await one.client.vaults.trust(secret.id, told);
    const before = await pinOf(one, secret);
    await expect(Promise.resolve(one.client.files.list())).rejects.toMatchObject({ code: "contract_broken" });
    expect(await pinOf(one, secret)).toEqual(before);
    const machine = newMachine();
    const other = await newProcess([], machine);
    await other.client.files.list();
    await other.client.files.get(file.id);
    expect(await other.pins.list(new URL(stack.baseUrl).origin)).toEqual([]);
    await other.client.files.list({ vaultId: secret.id });
    expect(await pinOf(other, secret)).toMatchObject({ chainObjectId: secret.chainObjectId });
  });

  test("the answer to a creation", async () => {
    const known = await newProcess();
    await known.client.files.list({ vaultId: open.id });
    for (const vault of [secret, open]) {
      const lied = await newProcess([
        lyingAt("vaults.create", () => ({ vault: { ...vault, type: "public", chainObjectId: null } })),
      ]);
      const before = await pinOf(lied, vault);
      const made = lied.client.vaults.create({ name: `new ${vault.name}`, type: "public" });
      await expect(made).rejects.toMatchObject({ code: "vault_changed" });
      expect(await pinOf(lied, vault)).toEqual(before);
    }
  });

  test("another description of a vault that is pinned is not passed on either", async () => {
    const { vault: described } = asPublic(secret.id)({ vault: secret });
    const inAnyCase = (endpoint: string, said: object): Middleware[] => [
      async (request, next, { endpointId }) => (endpointId === endpoint ? Response.json(said) : next(request)),
    ];
    const lied = await newProcess([
      lyingAt("vaults.get", asPublic(secret.id)),
      lyingAt("vaults.list", (said: { vaults: Vault[] }) => ({
        ...said,
        vaults: said.vaults.map((vault) => (vault.id === secret.id ? { ...vault, type: "public" } : vault)),
      })),
      ...inAnyCase("trash.list", { files: [], folders: [], vaults: [described], nextCursor: null }),
      ...inAnyCase("vaults.delete", { vault: described }),
      ...inAnyCase("vaults.restore", { vault: described }),
    ]);
    const { client } = lied;
    for (const act of [
      () => client.vaults.get(secret.id),
      () => Promise.resolve(client.vaults.list()),
      () => Promise.resolve(client.trash.vaults()),
      () => client.vaults.delete(secret.id),
      () => client.vaults.restore(secret.id),
    ])
      await expect(act()).rejects.toMatchObject({ code: "vault_changed" });
  });

  test("and a running process takes up what was trusted in another one", async () => {
    const machine = newMachine();
    const lied = await newProcess([lyingAt("vaults.get", asPublic(secret.id))], machine);
    await expect(Promise.resolve(lied.client.files.list({ vaultId: secret.id }))).rejects.toMatchObject({
      code: "vault_changed",
    });
    const told = { chainObjectId: secret.chainObjectId ?? "", ownerAddress: owner.signer.chainAddress };
    await (await newProcess([], machine)).client.vaults.trust(secret.id, told);
    await lied.client.files.upload({ vaultId: secret.id, ...CLEAR });
    expectNothingClear(lied);
  });
});

describe("in a process that has just begun, on a machine that knows the items", () => {
  test("nothing of a shared vault goes anywhere else, by its id alone", async () => {
    const lies = inPublic(() => open.id);
    const attempts: ((client: Client) => Promise<unknown>)[] = [
      (client) => client.files.get(file.id),
      (client) => client.files.download(file.id),
      (client) => client.files.replace(file.id, CLEAR),
      (client) => client.files.update(file.id, { name: CLEAR.name }),
      (client) => client.files.restore(file.id, { name: CLEAR.name }),
      (client) => client.files.upload({ vaultId: open.id, folderId: folder.id, ...CLEAR }),
      (client) => Promise.resolve(client.files.list({ vaultId: open.id, folderId: folder.id, name: CLEAR.name })),
      (client) => client.folders.update(folder.id, { name: CLEAR.name }),
      (client) => client.folders.restore(folder.id, { name: CLEAR.name }),
      // Also where the caller was told so by the service.
      (client) => client.files.replace(file.id, { vaultId: open.id, ...CLEAR }),
    ];
    for (const attempt of attempts) {
      const lied = await newProcess(lies);
      await expect(attempt(lied.client)).rejects.toMatchObject({ code: "vault_changed" });
      expectNothingClear(lied);
    }
    // Where a folder lies the service is not asked: what is put there goes to its vault.
    const putting = await newProcess(lies);
    const upload = putting.client.files.upload({ folderId: folder.id, ...CLEAR });
    await expect(upload).rejects.toMatchObject({ code: "contract_broken" });
    const finding = putting.client.files.list({ folderId: folder.id, name: CLEAR.name });
    await expect(Promise.resolve(finding)).rejects.toMatchObject({ code: "damaged" });
    const made = await putting.client.folders.create({ parentId: folder.id, name: CLEAR.name });
    expect([made.vaultId, made.name]).toEqual([secret.id, CLEAR.name]);
    expectNothingClear(putting);
    expect(putting.sent.filter((text) => text.startsWith(`${stack.baseUrl}/api/folders/${folder.id} `))).toEqual([]);
    const listing = await newProcess(lies);
    const { files } = await listing.client.files.list();
    expect(files.find(({ id }) => id === file.id)).toMatchObject({ name: "", unreadable: "vault_changed" });
    expect(await (await (await newProcess()).client.files.download(file.id)).bytes()).toEqual(bytes("of the members"));
  }, 60_000);
});

describe("on a machine that knows nothing of an item", () => {
  const acts: ((client: Client, place: { vaultId?: string }) => Promise<unknown>)[] = [
    (client, place) => client.files.replace(file.id, { ...place, ...CLEAR }),
    (client, place) => client.files.update(file.id, { name: CLEAR.name }, place),
    (client, place) => client.files.restore(file.id, { name: CLEAR.name }, place),
    (client, place) => client.files.upload({ ...place, folderId: folder.id, ...CLEAR }),
    (client, place) => Promise.resolve(client.files.list({ ...place, folderId: folder.id, name: CLEAR.name })),
    (client, place) => client.folders.create({ ...place, parentId: folder.id, name: CLEAR.name }),
    (client, place) => client.folders.update(folder.id, { name: CLEAR.name }, place),
    (client, place) => client.folders.restore(folder.id, { name: CLEAR.name }, place),
  ];
  const required = { code: "vault_required", nextStep: expect.stringContaining("vaultId") as unknown };

  test("its id alone is not enough, whatever vault the service shows it in", async () => {
    const stranger = await stack.signUp("stranger");
    const theirs = await stranger.client.vaults.create({ name: "trap", type: "shared" });
    await stranger.client.vaults.members.add(theirs.id, owner.signer.chainAddress);
    for (const vaultId of [open.id, theirs.id])
      for (const act of acts) {
        const lied = await newProcess(
          inPublic(() => vaultId),
          newMachine(),
        );
        await expect(act(lied.client, {})).rejects.toMatchObject(required);
        expectNothingClear(lied);
      }
    const honest = await newProcess([], newMachine());
    await expect(honest.client.files.replace(file.id, CLEAR)).rejects.toMatchObject(required);
    // Reading it does not make the service's word the caller's.
    await honest.client.files.download(file.id);
    await expect(honest.client.files.replace(file.id, CLEAR)).rejects.toMatchObject(required);
  }, 60_000);

  test("there is no default vault", async () => {
    const lied = await newProcess();
    const { client } = lied;
    await expect(client.files.upload(CLEAR)).rejects.toMatchObject(required);
    await expect(client.folders.create({ name: CLEAR.name })).rejects.toMatchObject(required);
    await expect(client.folders.create({ name: CLEAR.name, parentId: null })).rejects.toMatchObject(required);
    expectNothingClear(lied);
  });

  test("with its vault it is written, and with it once in a public vault it is known from then on", async () => {
    const machine = newMachine();
    const first = await newProcess([], machine);
    const made = await first.client.files.upload({ vaultId: open.id, name: "public.txt", body: bytes("public") });
    const { id } = made.file;
    // The service has chosen that id: it may be the id of anything.
    await expect(first.client.files.replace(id, { body: bytes("2") })).rejects.toMatchObject(required);
    await first.client.files.replace(id, { vaultId: open.id, body: bytes("2") });
    await first.client.files.get(id);
    const second = await newProcess([], machine);
    await second.client.files.replace(id, { body: bytes("3") });
    const renamed = await second.client.files.update(id, { name: "still public.txt" });
    expect([renamed.name, renamed.vaultId]).toEqual(["still public.txt", open.id]);
    // Its user can take that back, in every process.
    await second.client.vaults.forgetSeen(open.id, { id });
    await expect(second.client.files.replace(id, { body: bytes("4") })).rejects.toMatchObject(required);
    const third = await newProcess([], machine);
    await third.client.files.replace(id, { vaultId: open.id, body: bytes("4") });
    await third.client.vaults.forgetSeen(open.id);
    await expect(third.client.files.replace(id, { body: bytes("5") })).rejects.toMatchObject(required);
  });

  test("what was named in a vault that was taken for public counts no more once its user has trusted it", async () => {
    const machine = newMachine();
    const lied = await newProcess([lyingAt("vaults.get", asPublic(secret.id)), ...inPublic(() => secret.id)], machine);
    await lied.client.files.restore(file.id, {}, { vaultId: secret.id }).catch(() => undefined);
    await lied.client.files.get(file.id);
    expect(await readdir(join(machine, "vault-seen"))).toHaveLength(1);
    const told = { chainObjectId: secret.chainObjectId ?? "", ownerAddress: owner.signer.chainAddress };
    await lied.client.vaults.trust(secret.id, told);
    const honest = await newProcess([], machine);
    await expect(honest.client.files.replace(file.id, { body: bytes("6") })).rejects.toMatchObject(required);
  });

  test("an id that the service gives out for something new is not one that lies elsewhere", async () => {
    const lied = await newProcess([
      lyingAt("files.upload", ({ file: said }: { file: File }) => ({ file: { ...said, id: file.id } })),
      lyingAt("folders.create", ({ folder: said }: { folder: Folder }) => ({ folder: { ...said, id: folder.id } })),
    ]);
    const made = lied.client.files.upload({ vaultId: open.id, name: "new.txt", body: bytes("new") });
    await expect(made).rejects.toMatchObject({ code: "vault_changed" });
    const created = lied.client.folders.create({ vaultId: open.id, name: "new" });
    await expect(created).rejects.toMatchObject({ code: "vault_changed" });
  });
});

/** An account with vaults of every kind, a machine that has used them, and strangers beside it: all of it was served once. */
import { locateVault, openChain, sealVaultKeyWrap, toVaultView, type SealKeyWrap } from "@coffer/chain";
import { vaultKeysGroup } from "@coffer/contract";
import { openVaultKeys, parseRecord, type SealedVaultKey, type VaultKeyRecord } from "@coffer/crypto";
import type { Client, Vault } from "@coffer/sdk";
import { openMachine, type Machine } from "../kit/machine.ts";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";
import type { Draw } from "./draw.ts";
import { openLiar, type Liar } from "./liar.ts";
import { noteItem, type Truth } from "./truth.ts";

export interface World extends AsyncDisposable {
  readonly stack: SharedStack;
  readonly liar: Liar;
  readonly owner: SharedPerson;
  readonly truth: Truth;
  readonly machine: Machine;
  /** Pinned on this machine: two for content, one for acts on its allowlist, a public one. */
  readonly vaults: { readonly mine: Vault; readonly theirs: Vault; readonly spare: Vault; readonly open: Vault };
  /** In the public vault. */
  readonly open: { readonly fileIds: string[]; readonly folderIds: string[] };
  readonly keyIds: string[];
  readonly webhookIds: string[];
  readonly memberAddress: string;
  /** The same person in a new process of the same machine. */
  newProcess(): Promise<Client>;
  /** Opens the record, for what is made with its key. */
  openRecord(vaultId: string, record: VaultKeyRecord): Promise<void>;
}

export async function openWorld(draw: Draw): Promise<World> {
  const disposables = new AsyncDisposableStack();
  try {
    const stack = disposables.use(await openSharedStack());
    const machine = disposables.use(await openMachine(stack, stack.owner));
    const liar = disposables.use(await openLiar(() => stack.baseUrl, draw));
    return await build(stack, liar, machine, draw, disposables.move());
  } catch (error) {
    await disposables.disposeAsync();
    throw error;
  }
}

async function build(
  stack: SharedStack,
  liar: Liar,
  machine: Machine,
  draw: Draw,
  disposables: AsyncDisposableStack,
): Promise<World> {
  const { owner } = stack;
  const keyWrap = openKeyWrap(stack);
  const newProcess = (): Promise<Client> =>
    machine.newProcess({ baseUrl: liar.baseUrl, timeouts: { totalMs: 20_000 }, shared: { keyWrap: () => keyWrap } });
  const truth: Truth = { items: new Map(), vaults: new Map(), open: new Set() };
  const client = await newProcess();
  const mine = await client.vaults.create({ name: draw.word("v"), type: "shared" });
  const spare = await client.vaults.create({ name: draw.word("v"), type: "shared" });
  const open = await client.vaults.create({ name: draw.word("v"), type: "public" });
  await client.files.list({ vaultId: open.id });
  truth.open.add(open.id);
  await outlive(stack, client, truth, mine, draw);
  await fillShared(client, truth, mine.id, draw);
  const theirs = await meetStranger(stack, liar, client, truth, draw);
  for (const vault of [mine, theirs, spare]) noteVault(truth, vault);
  const agent = await stack.invite("agent");
  // Calls may end the keys that they name, and with the client's own one nobody would be lied to any more.
  const keys = [await client.apiKeys.create({ name: "one" }), await client.apiKeys.create({ name: "two" })];
  const world: World = {
    stack,
    liar,
    machine,
    owner,
    truth,
    newProcess,
    vaults: { mine, theirs, spare, open },
    open: await fillOpen(client, open.id, draw),
    keyIds: keys.map(({ id }) => id),
    webhookIds: await makeWebhooks(client),
    memberAddress: agent.signer.chainAddress,
    openRecord: (vaultId, record) => openRecord(stack, keyWrap, truth, vaultId, record),
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  };
  for (const { id } of [mine, theirs]) await learnKeys(world, id);
  return world;
}

function noteVault({ vaults }: Truth, { id, chainObjectId }: Vault): void {
  vaults.set(id, { id, object: (chainObjectId ?? "").slice(2), keys: new Map() });
}

/** Puts a file there, and reads it. */
async function put(
  client: Client,
  truth: Truth | null,
  place: { readonly vaultId: string; readonly folderId?: string },
  draw: Draw,
): Promise<string> {
  const [name, content] = [draw.word("n"), draw.word("c")];
  const { file } = await client.files.upload({ ...place, name, body: Buffer.from(content) });
  await (await client.files.download(file.id, { vaultId: place.vaultId })).bytes();
  if (truth !== null)
    noteItem(truth, file.id, { kind: "file", vaultId: place.vaultId, name, content, folderId: place.folderId ?? null });
  return file.id;
}

/** Makes a folder at the top, and looks at it. */
async function make(client: Client, truth: Truth | null, vaultId: string, draw: Draw): Promise<string> {
  const name = draw.word("n");
  const folder = await client.folders.create({ vaultId, name });
  await client.folders.get(folder.id);
  if (truth !== null) noteItem(truth, folder.id, { kind: "folder", vaultId, name, folderId: null });
  return folder.id;
}

async function fillShared(client: Client, truth: Truth, vaultId: string, draw: Draw): Promise<void> {
  const folderIds = [await make(client, truth, vaultId, draw), await make(client, truth, vaultId, draw)];
  for (const folderId of folderIds) await put(client, truth, { vaultId, folderId }, draw);
  const fileIds = [await put(client, truth, { vaultId }, draw), await put(client, truth, { vaultId }, draw)];
  await client.files.delete(await put(client, truth, { vaultId }, draw));
  await client.folders.delete(await make(client, truth, vaultId, draw));
  await client.trash.list();
  for (const fileId of fileIds) {
    const [name, content] = [draw.word("n"), draw.word("c")];
    await client.files.update(fileId, { name });
    await client.files.replace(fileId, { vaultId, body: Buffer.from(content) });
    await (await client.files.download(fileId)).bytes();
    truth.items.get(fileId)?.names.add(name);
    truth.items.get(fileId)?.contents.add(content);
  }
}

/** Leaves behind records, statements and names of a generation that is over, and of a member who was removed. */
async function outlive(
  stack: SharedStack,
  client: Client,
  truth: Truth,
  { id: vaultId }: Vault,
  draw: Draw,
): Promise<void> {
  const gone = await stack.invite("gone");
  await client.vaults.members.add(vaultId, gone.signer.chainAddress);
  const fileId = await put(gone.client, truth, { vaultId }, draw);
  await (await client.files.download(fileId)).bytes();
  await client.vaults.members.remove(vaultId, gone.signer.chainAddress);
  await client.vaults.rotate(vaultId);
  await client.files.list({ vaultId });
}

/** Another account, whose things were all served once: of one of its vaults this machine's user is a member. */
async function meetStranger(stack: SharedStack, liar: Liar, client: Client, truth: Truth, draw: Draw): Promise<Vault> {
  const stranger = (await stack.signUp("stranger")).another({ baseUrl: liar.baseUrl });
  const theirs = await stranger.vaults.create({ name: draw.word("v"), type: "shared" });
  const foreign = await stranger.vaults.create({ name: draw.word("v"), type: "shared" });
  const { account } = await client.account.get();
  await stranger.vaults.members.add(theirs.id, account.chainAddress ?? "");
  for (const [vaultId, known] of [
    [theirs.id, truth],
    [foreign.id, null],
  ] as const) {
    const folderId = await make(stranger, known, vaultId, draw);
    for (const place of [{ vaultId }, { vaultId, folderId }]) await put(stranger, known, place, draw);
    await stranger.files.list({ vaultId });
    await stranger.folders.list({ vaultId });
    await stranger.vaults.get(vaultId);
  }
  await stranger.account.get();
  await client.files.list({ vaultId: theirs.id });
  await client.folders.list({ vaultId: theirs.id });
  return client.vaults.get(theirs.id);
}

async function fillOpen(client: Client, vaultId: string, draw: Draw): Promise<World["open"]> {
  const folderId = await make(client, null, vaultId, draw);
  const fileIds = [await put(client, null, { vaultId }, draw), await put(client, null, { vaultId, folderId }, draw)];
  return { fileIds, folderIds: [folderId] };
}

async function makeWebhooks(client: Client): Promise<string[]> {
  const made = [1, 2].map((port) =>
    client.webhooks.create({ url: `http://127.0.0.1:${String(port)}/`, events: ["invite.created"] }),
  );
  return (await Promise.all(made)).map(({ webhook }) => webhook.id);
}

/** Key servers are honest here, and slow: what they opened once is not asked for by each process again. */
function openKeyWrap({ owner, network }: SharedStack): SealKeyWrap {
  const chain = openChain(network);
  const wrap = sealVaultKeyWrap({
    client: chain.client,
    network,
    signer: { ...owner.signer, signTransaction: () => Promise.reject(new Error("sends nothing")) },
    vaultObjects: {
      locate: async (vault) =>
        locateVault(await chain.readVault(`0x${Buffer.from(vault).toString("hex")}`), owner.signer.chainAddress),
    },
  });
  const opened = new Map<string, Uint8Array>();
  return {
    ...wrap,
    wrap: async (key, place) => {
      const sealed = await wrap.wrap(key, place);
      opened.set(nameOf({ sealedKey: sealed, place }), Uint8Array.from(key));
      return sealed;
    },
    unwrap: async (items) => {
      const missing = items.filter((item) => !opened.has(nameOf(item)));
      const keys = missing.length === 0 ? [] : await wrap.unwrap(missing);
      for (const [at, item] of missing.entries()) opened.set(nameOf(item), keys[at] ?? new Uint8Array(0));
      return items.map((item) => Uint8Array.from(opened.get(nameOf(item)) ?? []));
    },
    close: () => undefined,
  };
}

function nameOf({ sealedKey, place: { vault, generation, creator } }: SealedVaultKey): string {
  const parts = [sealedKey, vault, creator].map((bytes) => Buffer.from(bytes).toString("hex"));
  return `${parts.join(" ")} ${String(generation)}`;
}

async function openRecord(
  { network }: SharedStack,
  wrap: SealKeyWrap,
  { vaults }: Truth,
  vaultId: string,
  record: VaultKeyRecord,
): Promise<void> {
  const vault = vaults.get(vaultId);
  if (vault === undefined) return;
  const object = await openChain(network).readVault(`0x${vault.object}`, { maxAge: 0 });
  const [opened] = await openVaultKeys(toVaultView(object), [record], wrap);
  if (opened !== undefined) vault.keys.set(Buffer.from(record.keyId).toString("hex"), opened.key);
}

/** What members made for the vault's current generation, as the honest service has it. */
export async function learnKeys(world: World, vaultId: string): Promise<void> {
  const { client } = world.owner;
  const vault = await client.vaults.get(vaultId);
  const { keys } = await client.call(vaultKeysGroup.list, { params: { vaultId } });
  for (const { record, generation } of keys)
    if (generation === vault.generation)
      await world.openRecord(vaultId, parseRecord(Uint8Array.from(Buffer.from(record, "base64"))));
}

/** A service whose answers are of something else than was asked for: no pin changes, and what lies in a shared vault stays in it. */
import { randomUUID } from "node:crypto";
import type { File, Folder, Middleware, Vault } from "@coffer/sdk";
import { pinStore } from "@coffer/sdk/shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lyingAt, lyingOfFiles, watching } from "../kit/lying-service.ts";
import { openMachine, type Machine } from "../kit/machine.ts";
import { sharedStack } from "../kit/shared-scene.ts";

const stack = sharedStack();
let machine: Machine;
let secret: Vault;
let open: Vault;
let file: File;
let folder: Folder;

beforeAll(async () => {
  machine = await openMachine(stack, stack.owner);
  const client = await machine.newProcess();
  secret = await client.vaults.create({ name: "kept", type: "shared" });
  open = await client.vaults.create({ name: "open", type: "public" });
  file = (await client.files.upload({ vaultId: secret.id, name: "kept.txt", body: "of the members" })).file;
  folder = await client.folders.create({ vaultId: secret.id, name: "kept folder" });
});
afterAll(() => machine[Symbol.asyncDispose]());

const newMachine = () => openMachine(stack, stack.owner);
const pinsOf = ({ store }: Machine) => pinStore(store).list(new URL(stack.baseUrl).origin);
const told = () => ({ chainObjectId: secret.chainObjectId ?? "", ownerAddress: stack.owner.signer.chainAddress });
const inAnyCase =
  (endpoint: string, said: object): Middleware =>
  async (request, next, { endpointId }) =>
    endpointId === endpoint ? Response.json(said) : next(request);
const required = { code: "vault_required" };

const asPublic =
  (id: string) =>
  ({ vault }: { vault: Vault }) => ({
    vault: { ...vault, id, type: "public", chainObjectId: null },
  });

describe("no answer replaces a pin", () => {
  test("a list that names a vault which nobody has asked for: it pins none at all [S23]", async () => {
    const invented = randomUUID();
    // The vault that the list names, and the one that the answer is of.
    const lies = [
      inAnyCase("vaults.get", asPublic(secret.id)({ vault: secret })),
      lyingOfFiles<File>((said) => ({ ...said, vaultId: invented, shared: null, encrypted: false })),
    ];
    await using lied = await newMachine();
    const one = await lied.newProcess({ middleware: lies });
    await one.vaults.trust(secret.id, told());
    const before = await pinsOf(lied);
    await expect(Promise.resolve(one.files.list())).rejects.toMatchObject({ code: "contract_broken" });
    expect([before.length, await pinsOf(lied)]).toEqual([1, before]);
    await using honest = await newMachine();
    const other = await honest.newProcess();
    await other.files.list();
    await other.files.get(file.id);
    expect(await pinsOf(honest)).toEqual([]);
    await other.files.list({ vaultId: secret.id });
    expect(await pinsOf(honest)).toMatchObject([{ chainObjectId: secret.chainObjectId }]);
  });

  test("another description of a vault that is pinned is not passed on either [S23]", async () => {
    const { vault: described } = asPublic(secret.id)({ vault: secret });
    const client = await machine.newProcess({
      middleware: [
        lyingAt("vaults.get", asPublic(secret.id)),
        lyingAt("vaults.list", (said: { vaults: Vault[] }) => ({
          ...said,
          vaults: said.vaults.map((vault) => (vault.id === secret.id ? { ...vault, type: "public" } : vault)),
        })),
        inAnyCase("trash.list", { files: [], folders: [], vaults: [described], nextCursor: null }),
        inAnyCase("vaults.delete", { vault: described }),
        inAnyCase("vaults.restore", { vault: described }),
      ],
    });
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
    await using own = await newMachine();
    const sent: string[] = [];
    const running = await own.newProcess({ middleware: [watching(sent), lyingAt("vaults.get", asPublic(secret.id))] });
    const listing = Promise.resolve(running.files.list({ vaultId: secret.id }));
    await expect(listing).rejects.toMatchObject({ code: "vault_changed" });
    await (await own.newProcess()).vaults.trust(secret.id, told());
    await running.files.upload({ vaultId: secret.id, name: "name in the clear", body: "words in the clear" });
    expect(sent.filter((text) => text.includes("in the clear"))).toEqual([]);
  });
});

describe("on a machine that knows nothing of an item", () => {
  test("with its vault it is written, and with it once in a public vault it is known from then on", async () => {
    await using own = await newMachine();
    const first = await own.newProcess();
    const { id } = (await first.files.upload({ vaultId: open.id, name: "public.txt", body: "public" })).file;
    // The service has chosen that id: it may be the id of anything.
    await expect(first.files.replace(id, { body: "2" })).rejects.toMatchObject(required);
    await first.files.replace(id, { vaultId: open.id, body: "2" });
    await first.files.get(id);
    const second = await own.newProcess();
    await second.files.replace(id, { body: "3" });
    const renamed = await second.files.update(id, { name: "still public.txt" });
    expect([renamed.name, renamed.vaultId]).toEqual(["still public.txt", open.id]);
    // Its user can take that back, in every process.
    await second.vaults.forgetSeen(open.id, { id });
    await expect(second.files.replace(id, { body: "4" })).rejects.toMatchObject(required);
    const third = await own.newProcess();
    await third.files.replace(id, { vaultId: open.id, body: "4" });
    await third.vaults.forgetSeen(open.id);
    await expect(third.files.replace(id, { body: "5" })).rejects.toMatchObject(required);
  });

  test("what was named in a vault that was taken for public counts no more once its user has trusted it", async () => {
    await using own = await newMachine();
    const shownThere = lyingOfFiles<File>((said) => ({ ...said, vaultId: secret.id, shared: null, encrypted: false }));
    const lied = await own.newProcess({ middleware: [lyingAt("vaults.get", asPublic(secret.id)), shownThere] });
    await lied.files.restore(file.id, {}, { vaultId: secret.id }).catch(() => undefined);
    await lied.files.get(file.id);
    await own.newProcess();
    expect(await own.store.tables("seen-")).toHaveLength(1);
    await lied.vaults.trust(secret.id, told());
    const honest = await own.newProcess();
    await expect(honest.files.replace(file.id, { body: "6" })).rejects.toMatchObject(required);
  });

  test("an id that the service gives out for something new is not one that lies elsewhere", async () => {
    const lied = await machine.newProcess({
      middleware: [
        lyingAt("files.upload", ({ file: said }: { file: File }) => ({ file: { ...said, id: file.id } })),
        lyingAt("folders.create", ({ folder: said }: { folder: Folder }) => ({ folder: { ...said, id: folder.id } })),
      ],
    });
    const made = lied.files.upload({ vaultId: open.id, name: "new.txt", body: "new" });
    await expect(made).rejects.toMatchObject({ code: "vault_changed" });
    const created = lied.folders.create({ vaultId: open.id, name: "new" });
    await expect(created).rejects.toMatchObject({ code: "vault_changed" });
  });
});

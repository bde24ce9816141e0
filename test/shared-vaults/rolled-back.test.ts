/** A service that shows what was true once, to a process that has just begun: what the machine has seen still counts. */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, toRequest } from "@coffer/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lyingOfFiles, shown, type Shown } from "../kit/lying-service.ts";
import { openMachine, type Machine } from "../kit/machine.ts";
import { read, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack();
let owner: SharedPerson;
let vaultId: string;
let chainObjectId: string;
let machines: Record<"here" | "elsewhere", Machine>;
/** A process that goes on, and one on a machine of its own. */
let first: OnePerson;
let elsewhere: OnePerson;

beforeAll(async () => {
  ({ owner } = stack);
  machines = { here: await openMachine(stack, owner), elsewhere: await openMachine(stack, owner) };
  const vault = await owner.client.vaults.create({ name: "remembered", type: "shared" });
  vaultId = vault.id;
  chainObjectId = vault.chainObjectId ?? "";
  first = await newProcess();
  elsewhere = await newProcess(machines.elsewhere);
});
afterAll(async () => {
  for (const machine of Object.values(machines)) await machine[Symbol.asyncDispose]();
});

interface OnePerson {
  readonly client: Client;
  /** What the service shows this process in place of the truth. */
  lies: readonly Shown[];
  /** In lists alone. */
  staleLists: boolean;
}

/** The same person in a new process, on the same machine or on another one: all that was seen before is on the disk. */
async function newProcess(machine = machines.here): Promise<OnePerson> {
  const person = { lies: [] as readonly Shown[], staleLists: false };
  const lie = lyingOfFiles<Shown>((file) => ({ ...file, ...person.lies.find(({ id }) => id === file.id) }));
  const client = await machine.newProcess({
    middleware: [
      (request, next, context) =>
        person.staleLists && context.endpointId !== "files.list" ? next(request) : lie(request, next, context),
    ],
  });
  await client.vaults.trust(vaultId, { chainObjectId, ownerAddress: owner.signer.chainAddress });
  return Object.assign(person, { client });
}

async function put(name: string): Promise<string> {
  return (await owner.client.files.upload({ vaultId, name, body: `content of ${name}` })).file.id;
}

describe("a process that has just begun", () => {
  test("refuses an older version and an older name, once another process of this machine has seen the newer [S18]", async () => {
    const id = await put("first-name");
    const before = await shown(stack, id);
    await owner.client.files.replace(id, { body: "newer content" });
    const replaced = await shown(stack, id);
    await owner.client.files.update(id, { name: "second-name" });
    expect(await read(first.client, id)).toBe("newer content");
    const second = await newProcess();
    second.lies = [before];
    await expect(read(second.client, id)).rejects.toMatchObject({ code: "rolled_back" });
    await expect(second.client.files.replace(id, { body: "x" })).rejects.toMatchObject({ code: "rolled_back" });
    const { files } = await second.client.files.list({ vaultId });
    expect(files.find((file) => file.id === id)).toMatchObject({ name: "", unreadable: "rolled_back" });
    second.lies = [replaced];
    await expect(second.client.files.get(id)).rejects.toMatchObject({ code: "rolled_back" });
    // The older content with the newest name.
    const newest = await shown(stack, id);
    second.lies = [{ ...newest, shared: { ...newest.shared, version: before.shared.version } }];
    await expect(read(second.client, id)).rejects.toMatchObject({ code: "rolled_back", step: "statement" });
    second.lies = [];
    expect(await read(second.client, id)).toBe("newer content");
    elsewhere.lies = [replaced];
    expect((await elsewhere.client.files.get(id)).name).toBe("first-name");
  });

  test("refuses the other of two histories: a second statement with the number of the one that was seen [S18]", async () => {
    const id = await put("forked");
    const forked: Shown["shared"][] = [];
    const withheld = owner.another({
      retry: { limit: 0 },
      middleware: [
        async (request, next, { endpointId }) => {
          if (endpointId !== "files.update") return next(request);
          forked.push(((await toRequest(request).json()) as { shared: Shown["shared"] }).shared);
          throw new TypeError("withheld");
        },
      ],
    });
    await expect(withheld.files.update(id, { name: "one history" }, { vaultId })).rejects.toThrow();
    await owner.client.files.update(id, { name: "other history" });
    const truth = await shown(stack, id);
    const fork = { ...truth, shared: { ...truth.shared, ...forked[0] } };
    elsewhere.lies = [fork];
    expect((await elsewhere.client.files.get(id)).name).toBe("one history");
    expect((await first.client.files.get(id)).name).toBe("other history");
    const second = await newProcess();
    second.lies = [fork];
    await expect(second.client.files.get(id)).rejects.toMatchObject({ code: "rolled_back", step: "entry" });
  });

  test("takes the older state after the user has said so: of one file, or of the vault [S22]", async () => {
    const [id, second] = [await put("restored"), await put("restored-too")];
    const before = [await shown(stack, id), await shown(stack, second)];
    for (const each of [id, second]) await owner.client.files.update(each, { name: `newer ${randomUUID()}` });
    for (const each of [id, second]) await first.client.files.get(each);
    const { client } = Object.assign(await newProcess(), { lies: before });
    const failure: unknown = await client.files.get(id).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "rolled_back" });
    expect((failure as { nextStep: string }).nextStep).toContain("vaults.forgetSeen");
    await client.vaults.forgetSeen(vaultId, { id });
    expect((await client.files.get(id)).name).toBe("restored");
    await expect(client.files.get(second)).rejects.toMatchObject({ code: "rolled_back" });
    await client.vaults.forgetSeen(vaultId);
    expect((await client.files.get(second)).name).toBe("restored-too");
  });

  test("keeps no name and no key in what it remembers [S21]", async () => {
    for (const entry of await readdir(machines.here.directory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const content = await readFile(join(entry.parentPath, entry.name));
      for (const secret of ["first-name", "restored", "remembered", owner.apiKey, owner.privateKey])
        expect(content.includes(secret), `${entry.name}: ${secret}`).toBe(false);
    }
  });
});

describe("a list", () => {
  test("asks once more for what another process has changed since the service made it", async () => {
    const id = await put("listed");
    const before = await shown(stack, id);
    await elsewhere.client.files.update(id, { name: "renamed meanwhile" }, { vaultId });
    // Only what the list says is of a moment ago.
    elsewhere.staleLists = true;
    elsewhere.lies = [before];
    const { files } = await elsewhere.client.files.list({ vaultId });
    expect(files.find((file) => file.id === id)).toMatchObject({ name: "renamed meanwhile" });
  });
});

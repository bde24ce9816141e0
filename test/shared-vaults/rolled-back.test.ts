/** A service that shows what was true once, to a process that has just begun: what the machine has seen still counts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, type Client, type Middleware, type SeenMemory, type SeenStore } from "@coffer/sdk";
import { openSharedVaults } from "@coffer/sdk/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSharedStack, type SharedPerson, type SharedStack } from "../kit/shared-stack.ts";

let stack: SharedStack;
let owner: SharedPerson;
let directory: string;
let vaultId: string;
let chainObjectId: string;
/** A process that goes on, and one on a machine of its own. */
let first: OnePerson;
let elsewhere: OnePerson;

interface Shown {
  readonly id: string;
  readonly shared: Readonly<Record<"version" | "entry" | "metadata" | "nameIndex", string>>;
}

const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);

beforeAll(async () => {
  stack = await openSharedStack();
  owner = stack.owner;
  directory = await mkdtemp(join(tmpdir(), "coffer-seen-"));
  const vault = await owner.client.vaults.create({ name: "remembered", type: "shared" });
  vaultId = vault.id;
  chainObjectId = vault.chainObjectId ?? "";
  first = await newProcess();
  elsewhere = await newProcess(await mkdtemp(join(directory, "another-machine-")));
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

interface OnePerson {
  readonly client: Client;
  /** What the service shows this process in place of the truth. */
  lies: readonly Shown[];
  /** In lists alone. */
  staleLists: boolean;
  flush(): Promise<void>;
}

/** The same person in a new process, on the same machine or on another one. */
async function newProcess(state = directory): Promise<OnePerson> {
  const networkFile = join(directory, "network.json");
  await writeFile(networkFile, JSON.stringify(stack.network));
  const settings = { chainPrivateKey: new Secret(owner.privateKey), networkFile };
  const { pins, seen } = (await openSharedVaults(settings, join(state, "vault-pins.json"))) ?? {};
  assert.ok(pins !== undefined && seen !== undefined, "what outlives the process");
  const opened: SeenMemory[] = [];
  const open: SeenStore["open"] = async (object) => {
    const memory = await seen.open(object);
    opened.push(memory);
    return memory;
  };
  const lying: Middleware = (request, next, context) =>
    showing(person.staleLists && context.endpointId !== "files.list" ? [] : person.lies)(request, next, context);
  const person: OnePerson = {
    client: owner.another({ retry: { limit: 0 }, middleware: [lying], shared: { pins, seen: { open } } }),
    ...{ lies: [], staleLists: false },
    flush: async () => {
      await Promise.all(opened.map((memory) => memory.flush()));
    },
  };
  await person.client.vaults.trust(vaultId, { chainObjectId, ownerAddress: owner.signer.chainAddress });
  return person;
}

function showing(shown: readonly Shown[]): Middleware {
  const swap = <Item extends { readonly id: string }>(file: Item): object => ({
    ...file,
    ...shown.find(({ id }) => id === file.id),
  });
  return async (request, next, { endpointId }) => {
    const answer = await next(request);
    if (!endpointId.startsWith("files.") || !answer.ok || shown.length === 0) return answer;
    const headers = new Headers(answer.headers);
    const beside = headers.get("coffer-file");
    if (beside !== null) {
      const file = JSON.parse(Buffer.from(beside, "base64").toString()) as Shown;
      headers.set("coffer-file", Buffer.from(JSON.stringify(swap(file))).toString("base64"));
    }
    if (endpointId === "files.content") return new Response(answer.body, { status: answer.status, headers });
    headers.delete("content-length");
    const said = (await answer.json()) as { file?: Shown; files?: Shown[] };
    const lie =
      said.file === undefined ? { ...said, files: said.files?.map(swap) } : { ...said, file: swap(said.file) };
    return new Response(JSON.stringify(lie), { status: answer.status, headers });
  };
}

async function show(id: string): Promise<Shown> {
  const headers = { authorization: `Bearer ${owner.apiKey}` };
  const answer = await fetch(`${stack.baseUrl}/api/files/${id}`, { headers });
  return ((await answer.json()) as { file: Shown }).file;
}

async function put(name: string): Promise<string> {
  return (await owner.client.files.upload({ vaultId, name, body: bytes(`content of ${name}`) })).file.id;
}

async function read(client: Client, id: string): Promise<string> {
  return new TextDecoder().decode(await (await client.files.download(id)).bytes());
}

describe("a process that has just begun", () => {
  test("refuses an older version and an older name, once another process of this machine has seen the newer", async () => {
    const id = await put("first-name");
    const before = await show(id);
    await owner.client.files.replace(id, { body: bytes("newer content") });
    const replaced = await show(id);
    await owner.client.files.update(id, { name: "second-name" });
    expect(await read(first.client, id)).toBe("newer content");
    await first.flush();
    const second = await newProcess();
    second.lies = [before];
    await expect(read(second.client, id)).rejects.toMatchObject({ code: "rolled_back" });
    await expect(second.client.files.replace(id, { body: bytes("x") })).rejects.toMatchObject({ code: "rolled_back" });
    const { files } = await second.client.files.list({ vaultId });
    expect(files.find((file) => file.id === id)).toMatchObject({ name: "", unreadable: "rolled_back" });
    second.lies = [replaced];
    await expect(second.client.files.get(id)).rejects.toMatchObject({ code: "rolled_back" });
    // The older content with the newest name.
    const newest = await show(id);
    second.lies = [{ ...newest, shared: { ...newest.shared, version: before.shared.version } }];
    await expect(read(second.client, id)).rejects.toMatchObject({ code: "rolled_back", step: "statement" });
    second.lies = [];
    expect(await read(second.client, id)).toBe("newer content");
    elsewhere.lies = [replaced];
    expect((await elsewhere.client.files.get(id)).name).toBe("first-name");
  });

  test("refuses the other of two histories: a second statement with the number of the one that was seen", async () => {
    const id = await put("forked");
    const forked: Shown["shared"][] = [];
    const withheld = owner.another({
      retry: { limit: 0 },
      middleware: [
        async (request, next, { endpointId }) => {
          if (endpointId !== "files.update") return next(request);
          forked.push(((await request.json()) as { shared: Shown["shared"] }).shared);
          throw new TypeError("withheld");
        },
      ],
    });
    await expect(withheld.files.update(id, { name: "one history" }, { vaultId })).rejects.toThrow();
    await owner.client.files.update(id, { name: "other history" });
    const truth = await show(id);
    const fork = { ...truth, shared: { ...truth.shared, ...forked[0] } };
    elsewhere.lies = [fork];
    expect((await elsewhere.client.files.get(id)).name).toBe("one history");
    expect((await first.client.files.get(id)).name).toBe("other history");
    await first.flush();
    const second = await newProcess();
    second.lies = [fork];
    await expect(second.client.files.get(id)).rejects.toMatchObject({ code: "rolled_back", step: "entry" });
  });

  test("takes the older state after the user has said so: of one file, or of the vault", async () => {
    const [id, second] = [await put("restored"), await put("restored-too")];
    const before = [await show(id), await show(second)];
    for (const each of [id, second]) await owner.client.files.update(each, { name: `newer ${randomUUID()}` });
    for (const each of [id, second]) await first.client.files.get(each);
    await first.flush();
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

  test("keeps no name and no key in what it remembers", async () => {
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
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
    const before = await show(id);
    await elsewhere.client.files.update(id, { name: "renamed meanwhile" }, { vaultId });
    // Only what the list says is of a moment ago.
    elsewhere.staleLists = true;
    elsewhere.lies = [before];
    const { files } = await elsewhere.client.files.list({ vaultId });
    expect(files.find((file) => file.id === id)).toMatchObject({ name: "renamed meanwhile" });
  });
});

/** A file that goes to another vault: copied, encrypted anew for that vault's members, and then trashed (decision 0022). */
import { SdkError, type Client, type File, type Middleware, type Vault } from "@coffer/sdk";
import { beforeAll, expect, test } from "vitest";
import { sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack();
let owner: SharedPerson;
let member: SharedPerson;
let vaults: Record<"first" | "second", Vault>;

beforeAll(async () => {
  owner = stack.owner;
  member = await stack.invite("reader");
  const create = (name: string) => owner.client.vaults.create({ name, type: "shared" });
  vaults = { first: await create("first"), second: await create("second") };
  await owner.client.vaults.members.add(vaults.second.id, member.signer.chainAddress);
});

/** As the decision has it, made to be repeated: what lies there already must be the same content. */
async function move(client: Client, { id, name, contentType }: File, vaultId: string): Promise<void> {
  const body = await (await client.files.download(id)).bytes();
  try {
    await client.files.upload({ vaultId, name, contentType, body, ifAbsent: true });
  } catch (error) {
    if (!(error instanceof SdkError) || error.code !== "precondition_failed") throw error;
    const [there] = (await client.files.list({ vaultId, folderId: "root", name })).files;
    const content = there && (await (await client.files.download(there.id)).bytes());
    if (content === undefined || Buffer.compare(content, body) !== 0) throw error;
  }
  await client.files.delete(id);
}

async function contentsOf(client: Client, vaultId: string): Promise<string[]> {
  const contents: string[] = [];
  for await (const { id, name } of client.files.list({ vaultId }))
    contents.push(`${name}: ${Buffer.from(await (await client.files.download(id)).bytes()).toString()}`);
  return contents.sort();
}

test("opens to the members of the other vault, and lies in the trash of the first one", async () => {
  const { first, second } = vaults;
  const input = { vaultId: first.id, name: "plan.txt", contentType: "text/plain", body: Buffer.from("the plan") };
  const { file } = await owner.client.files.upload(input);
  await expect(owner.client.files.update(file.id, { folderId: null }, { vaultId: second.id })).rejects.toMatchObject({
    code: "vault_changed",
  });
  await move(owner.client, file, second.id);
  expect(await contentsOf(member.client, second.id)).toEqual(["plan.txt: the plan"]);
  expect(await contentsOf(owner.client, first.id)).toEqual([]);
  expect((await owner.client.files.list({ vaultId: first.id, trashed: true })).files.map(({ id }) => id)).toEqual([
    file.id,
  ]);
});

test("is whole in one of them or in both wherever it was cut off, and a repeat finishes", async () => {
  const { first, second } = vaults;
  for (const [at, last] of ["files.upload", "files.delete"].entries()) {
    const name = `cut-${String(at)}.txt`;
    const { file } = await owner.client.files.upload({ vaultId: first.id, name, body: Buffer.from(name) });
    const cut: Middleware = async (request, next, { endpointId }) => {
      if (endpointId === last && last === "files.delete") throw new TypeError("cut off");
      const answer = await next(request);
      if (endpointId === last) throw new TypeError("the answer is lost");
      return answer;
    };
    await expect(move(owner.another({ middleware: [cut], retry: { limit: 0 } }), file, second.id)).rejects.toThrow();
    expect(await contentsOf(owner.client, first.id)).toEqual([`${name}: ${name}`]);
    await move(owner.another(), file, second.id);
    expect((await contentsOf(member.client, second.id)).filter((content) => content.startsWith(name))).toHaveLength(1);
    expect(await contentsOf(owner.client, first.id)).toEqual([]);
  }
});

test("out of a public vault it is encrypted on its way", async () => {
  const open = await owner.client.vaults.create({ name: "open", type: "public" });
  const { file } = await owner.client.files.upload({
    vaultId: open.id,
    name: "open.txt",
    body: Buffer.from("was open"),
  });
  await move(owner.client, file, vaults.second.id);
  const [moved] = (await owner.client.files.list({ vaultId: vaults.second.id, folderId: "root", name: "open.txt" }))
    .files;
  expect(moved).toMatchObject({ encrypted: true, name: "open.txt" });
});

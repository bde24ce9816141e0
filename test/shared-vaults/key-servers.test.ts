/** Key servers that are down or behind: what still works, what does not, and what is left behind (nothing). */
import { readdir } from "node:fs/promises";
import { openChain } from "@coffer/chain";
import type { Middleware } from "@coffer/sdk";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

const stack = sharedStack();
let owner: SharedPerson;
let member: SharedPerson;
let vaultId: string;
let fileId: string;

const read = async (person: SharedPerson, id: string, client = person.another()): Promise<string> =>
  new TextDecoder().decode(await (await client.files.download(id)).bytes());

beforeAll(async () => {
  owner = stack.owner;
  member = await stack.invite("member");
  vaultId = (await owner.client.vaults.create({ name: "guarded", type: "shared" })).id;
  await owner.client.vaults.members.add(vaultId, member.signer.chainAddress);
  fileId = (await owner.client.files.upload({ vaultId, name: "before", body: "before" })).file.id;
});
afterEach(() => {
  for (const index of [0, 1, 2]) Object.assign(stack.localnet.faults.keyServer(index), { down: false, stale: false });
  stack.localnet.faults.node.stale = false;
});

function down(...indexes: number[]): void {
  for (const index of indexes) stack.localnet.faults.keyServer(index).down = true;
}

/** What an upload that failed could leave behind: rows, bytes, a changed vault object. */
async function remains(): Promise<unknown> {
  const { files } = await owner.client.files.list({ vaultId });
  const stored = await readdir(stack.dataDirectory, { recursive: true });
  const object = (await owner.client.vaults.get(vaultId)).chainObjectId ?? "";
  const { version } = await openChain(stack.network).readVault(object, { maxAge: 0 });
  return { files: files.map(({ id, versionId }) => [id, versionId]), stored: stored.sort(), version };
}

describe("key servers", () => {
  test("what the chain says of them is asked for while the service still sends the keys", async () => {
    const known = Promise.withResolvers<null>();
    let reads = 0;
    // The package, the vault, and the objects of the key servers twice.
    const carry: typeof fetch = (input, init) => {
      if (String(input instanceof Request ? input.url : input).endsWith("/BatchGetObjects") && (reads += 1) === 4)
        known.resolve(null);
      return fetch(input, init);
    };
    const late: Middleware = async (request, next) => {
      const answer = await next(request);
      if (request.url.includes("/keys")) await known.promise;
      return answer;
    };
    const client = member.another({ shared: { fetch: carry }, middleware: [late] });
    expect(await read(member, fileId, client)).toBe("before");
  });

  test.each([0, 1, 2])("server %i of three is down: everything works", async (index) => {
    down(index);
    expect(await read(member, fileId)).toBe("before");
    const vault = await owner.client.vaults.create({ name: `with-two-${String(index)}`, type: "shared" });
    const { file } = await owner.another().files.upload({ vaultId: vault.id, name: "new", body: "new" });
    expect(await read(owner, file.id)).toBe("new");
  });

  test("two are down: the error names them, and nothing is half written [K3]", async () => {
    const before = await remains();
    down(0, 2);
    const failure = await read(member, fileId).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "key_servers_unavailable", retryable: true });
    const message = (failure as Error).message;
    expect(message).toMatch(/key server 1 of 3 \S+ cannot be reached/);
    expect(message).toMatch(/key server 3 of 3 \S+ cannot be reached/);
    const moved = (await owner
      .another()
      .files.upload({ vaultId, name: "x", body: "x" })
      .catch((error: unknown) => error)) as Error;
    expect(moved).toMatchObject({ code: "key_servers_unavailable" });
    expect(await remains()).toEqual(before);
  });
});

/** Several changes at once in shared vaults: each signed by itself, and all of them or none (encryption design §9.3). */
import type { File as SaidFile } from "@coffer/contract";
import { SdkError, type Client, type File, type FileCommitChange, type Middleware, type Vault } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { lyingAt } from "../kit/lying-service.ts";
import { raiseGeneration, read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";

const stack = sharedStack(UNLIMITED);

let owner: Client;
let vaultId: string;
beforeAll(async () => {
  owner = stack.owner.client;
  vaultId = (await owner.vaults.create({ name: "commits", type: "shared" })).id;
});

let made = 0;
async function newFile(
  name = `file ${String((made += 1))}`,
  body = "before",
  place: object = { vaultId },
): Promise<File> {
  return (await owner.files.upload({ vaultId, name, body, ...place })).file;
}

const change = ({ id, tag }: File, what: Omit<FileCommitChange, "id" | "ifMatch">): FileCommitChange => ({
  id,
  ifMatch: tag ?? "",
  ...what,
});

const failureOf = (work: Promise<unknown>): Promise<SdkError> =>
  work.then(
    () => {
      throw new Error("it was not refused");
    },
    (error: unknown) => {
      if (error instanceof SdkError) return error;
      throw error;
    },
  );

/** Runs `before` with each request of that endpoint, as long as it wants to. */
function meeting(endpoint: string, before: (at: number) => Promise<unknown>): Middleware {
  let at = 0;
  return async (request, next, { endpointId }) => {
    if (endpointId === endpoint) await before((at += 1));
    return next(request);
  };
}

/** What is held in the vault, as its account's owner counts it: room that nobody else has. */
function counting(): { readonly middleware: Middleware; readonly calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    middleware: (request, next, { endpointId }) => {
      calls.push(endpointId);
      return next(request);
    },
  };
}

describe.each([false, true])("a shared vault with plain names: %s", (plainNames) => {
  let vault: Vault;
  beforeAll(async () => {
    vault = await owner.vaults.create({ name: `plain ${String(plainNames)}`, type: "shared", plainNames });
  });

  test("takes versions, names, places and trashings together, and names that are swapped [D5-commit-shared]", async () => {
    const place = { vaultId: vault.id };
    const folder = await owner.folders.create({ ...place, name: "there" });
    const files = [];
    for (const name of ["a", "b", "c", "d", "e"]) files.push(await newFile(name, name, place));
    const [a, b, c, d, e] = files as [File, File, File, File, File];
    const large = new Uint8Array(5 * 1024 * 1024 + 7).map((_, at) => at % 251);
    const committed = await owner.files.commit(vault.id, [
      change(a, { body: "new a", contentType: "text/x-new" }),
      change(b, { name: "c" }),
      change(c, { name: "b", body: "swapped, with content" }),
      change(d, { trash: true }),
      change(e, { folderId: folder.id, name: "É", body: large }),
    ]);
    expect(committed.map(({ file, bytes }) => [file.id, file.name, file.folderId, bytes])).toEqual([
      [a.id, "a", null, 5],
      [b.id, "c", null, null],
      [c.id, "b", null, 21],
      [d.id, "d", null, null],
      [e.id, "É", folder.id, large.length],
    ]);
    const other = stack.owner.another();
    for (const { file } of committed)
      expect(await other.files.get(file.id)).toMatchObject({ tag: file.tag, name: file.name, size: file.size });
    expect(await read(other, a.id)).toBe("new a");
    expect(await read(other, c.id)).toBe("swapped, with content");
    expect(Buffer.compare(await (await other.files.download(e.id)).bytes(), large)).toBe(0);
    expect((await other.files.list({ ...place, folderId: "root", name: "b" })).files.map(({ id }) => id)).toEqual([
      c.id,
    ]);
    expect((await other.files.get(d.id)).trashedAt).not.toBeNull();
    // the new tags go on
    const [first] = committed;
    if (first === undefined) throw new Error("no file");
    await owner.files.commit(vault.id, [change(first.file, { name: "a2" })]);
  });
});

test("of two committers over the same 20 files one wins each round as a whole [D5-commit-race]", async () => {
  const pair = [stack.owner.another(), stack.owner.another()] as const;
  let files: File[] = [];
  for (let at = 0; at < 20; at += 1) files.push(await newFile());
  for (let round = 0; round < 3; round += 1) {
    const settled = await Promise.allSettled(
      pair.map((client, who) => {
        const mine = `round ${String(round)} of ${String(who)}`;
        const all = files.map((file, at) =>
          change(file, at % 4 === 0 ? { body: mine } : { name: `${mine}, ${String(at)}` }),
        );
        return client.files.commit(vaultId, who === 0 ? all : all.toReversed());
      }),
    );
    const codes = settled.map((one) => (one.status === "fulfilled" ? "done" : (one.reason as { code?: string }).code));
    expect(codes.toSorted()).toEqual(["done", "precondition_failed"]);
    const winner = `round ${String(round)} of ${String(codes.indexOf("done"))}`;
    files = await Promise.all(files.map(({ id }) => owner.files.get(id)));
    for (const [at, file] of files.entries())
      if (at % 4 === 0) expect(await read(owner, file.id)).toBe(winner);
      else expect(file.name).toBe(`${winner}, ${String(at)}`);
  }
});

test("the loser learns which file it was and its verified tag; nothing of the commit is stored or held [D5-commit-condition]", async () => {
  const [a, b] = [await newFile(), await newFile()];
  const { middleware, calls } = counting();
  const rename = meeting("files.commit", async (at) => {
    if (at === 1) await stack.owner.another().files.update(b.id, { name: "somebody was faster" }, { vaultId });
  });
  const slow = stack.owner.another({ middleware: [middleware, rename] });
  const refusal = await failureOf(
    slow.files.commit(vaultId, [change(a, { body: "mine" }), change(b, { name: "mine" })]),
  );
  const now = await owner.files.get(b.id);
  expect(refusal).toMatchObject({ code: "precondition_failed", itemId: b.id, currentTag: now.tag });
  expect(await owner.files.get(a.id)).toMatchObject({ tag: a.tag });
  expect(calls.filter((id) => id === "uploads.terminate")).toHaveLength(1);
  // A tag that is old already costs no byte.
  calls.length = 0;
  expect(
    await failureOf(slow.files.commit(vaultId, [change(a, { body: "mine" }), change(b, { name: "mine" })])),
  ).toMatchObject({
    code: "precondition_failed",
    itemId: b.id,
    currentTag: now.tag,
  });
  expect(calls).not.toContain("uploads.create");
});

test("a generation that moved meanwhile is cured in the next round, and after three the holds are freed [D5-commit-rounds]", async () => {
  const [a, b, c] = [await newFile(), await newFile(), await newFile()];
  const changes = () => [
    change(a, { body: "after" }),
    change(b, { name: `${b.name} after` }),
    change(c, { trash: true }),
  ];
  const { middleware, calls } = counting();
  const always = meeting("files.commit", () => raiseGeneration(owner, vaultId));
  const never = await failureOf(
    stack.owner.another({ middleware: [middleware, always] }).files.commit(vaultId, changes()),
  );
  expect(never.code).toBe("generation_moved");
  expect(calls.filter((id) => id === "files.commit")).toHaveLength(3);
  expect(calls.filter((id) => id === "uploads.create")).toHaveLength(3);
  expect(calls.filter((id) => id === "uploads.terminate")).toHaveLength(3);
  const [a2, b2, c2] = await Promise.all([a, b, c].map(({ id }) => owner.files.get(id)));
  if (a2 === undefined || b2 === undefined || c2 === undefined) throw new Error("no file");
  expect([await read(owner, a.id), b2.name, c2.trashedAt]).toEqual(["before", b.name, null]);
  const once = meeting("files.commit", async (at) => {
    if (at === 1) await raiseGeneration(owner, vaultId);
  });
  const committed = await stack.owner
    .another({ middleware: [once] })
    .files.commit(vaultId, [
      change(a2, { body: "after" }),
      change(b2, { name: `${b.name} after` }),
      change(c2, { trash: true }),
    ]);
  expect(committed.map(({ file }) => file.name)).toEqual([a.name, `${b.name} after`, c.name]);
  expect(await read(owner, a.id)).toBe("after");
});

test("a folder whose names are under an earlier key comes under the current one before a byte is sent [D5-commit-rounds]", async () => {
  const folder = await owner.folders.create({ vaultId, name: "old names" });
  const place = { vaultId, folderId: folder.id };
  const [a, b, beside] = [
    await newFile("a", "a", place),
    await newFile("b", "b", place),
    await newFile("c", "c", place),
  ];
  await raiseGeneration(owner, vaultId);
  const { middleware, calls } = counting();
  const client = stack.owner.another({ middleware: [middleware] });
  const committed = await client.files.commit(vaultId, [
    change(a, { body: "a2", name: "b" }),
    change(b, { name: "a" }),
  ]);
  expect(committed.map(({ file }) => file.name)).toEqual(["b", "a"]);
  expect(calls.filter((id) => id === "files.commit")).toHaveLength(1);
  expect(calls.indexOf("folderNames.stage")).toBeLessThan(calls.indexOf("uploads.create"));
  expect((await owner.files.get(beside.id)).name).toBe("c");
  // into a folder that nobody looked at: the service's refusal brings it along
  const other = await owner.folders.create({ vaultId, name: "other names" });
  await newFile("x", "x", { vaultId, folderId: other.id });
  await raiseGeneration(owner, vaultId);
  const [moved] = await client.files.commit(vaultId, [
    change(await owner.files.get(beside.id), { folderId: other.id, body: "moved" }),
  ]);
  expect(moved?.file).toMatchObject({ folderId: other.id, name: "c", size: 5 });
});

test.each([true, false])(
  "is done once, whichever answer is lost; the service knows Idempotency-Keys: %s [D5-commit-lost-answer]",
  async (isKeyed) => {
    for (let lostAt = 0; ; lostAt += 1) {
      const [a, b, c] = [await newFile(), await newFile(), await newFile()];
      let at = 0;
      const lose: Middleware = async (request, next) => {
        if (!isKeyed) request.headers.delete("idempotency-key");
        const answer = await next(request);
        at += 1;
        if (at - 1 === lostAt) throw new TypeError("fetch failed");
        return answer;
      };
      const client = stack.owner.another({ middleware: [lose], retry: { baseDelayMs: 1, maxDelayMs: 2 } });
      const committed = await client.files.commit(vaultId, [
        change(a, { body: "one" }),
        change(b, { name: `${b.name} renamed` }),
        change(c, { body: "two", name: `${c.name} renamed` }),
      ]);
      expect(
        committed.map(({ file }) => file.name),
        `answer ${String(lostAt)}`,
      ).toEqual([a.name, `${b.name} renamed`, `${c.name} renamed`]);
      for (const { id } of [a, c]) expect((await owner.files.versions(id)).versions).toHaveLength(2);
      expect([await read(owner, a.id), await read(owner, c.id)]).toEqual(["one", "two"]);
      if (at <= lostAt) break;
    }
  },
);

test("a service that answers with other files, other statements or a file that stays is not believed", async () => {
  const [a, b] = [await newFile(), await newFile()];
  const lies: readonly ((said: { files: SaidFile[] }) => unknown)[] = [
    ({ files }) => ({ files: files.toReversed() }),
    ({ files }) => ({ files: files.slice(1) }),
    ({ files }) => ({ files: files.map((file) => ({ ...file, trashedAt: null })) }),
  ];
  for (const lie of lies) {
    const [file, other] = [await owner.files.get(a.id), await newFile()];
    const client = stack.owner.another({ middleware: [lyingAt("files.commit", lie)] });
    const refused = await failureOf(
      client.files.commit(vaultId, [change(file, { body: "mine" }), change(other, { trash: true })]),
    );
    expect(["contract_broken", "damaged"]).toContain(refused.code);
  }
  // Content for a vault that the service names in the place of another goes nowhere.
  const elsewhere = await owner.vaults.create({ name: `elsewhere ${String((made += 1))}`, type: "public" });
  expect((await failureOf(owner.files.commit(elsewhere.id, [change(b, { body: "secret" })]))).code).toBe(
    "vault_changed",
  );
});

test("a member of another account commits, and an agent that is no member does not", async () => {
  const member = await stack.signUp("committer");
  await owner.vaults.members.add(vaultId, member.signer.chainAddress);
  await member.client.vaults.setSigningKey(vaultId);
  const [a, b] = [await newFile(), await newFile()];
  const seen = [await member.client.files.get(a.id), await member.client.files.get(b.id)];
  expect(seen.map(({ tag }) => tag)).toEqual([a.tag, b.tag]);
  const committed = await member.client.files.commit(vaultId, [
    change(a, { body: "by the member" }),
    change(b, { trash: true }),
  ]);
  expect(committed[0]?.file.updatedBy).toMatchObject({ chainAddress: member.signer.chainAddress, verified: true });
  expect(await read(owner, a.id)).toBe("by the member");
  const agent = await stack.invite("no member");
  expect(["not_a_member", "signing_key_missing"]).toContain(
    (await failureOf(agent.client.files.commit(vaultId, [change(await owner.files.get(a.id), { body: "no" })]))).code,
  );
});

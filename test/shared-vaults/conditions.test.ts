/** Of two writers who name the same state of a file or folder of a shared vault, one wins (encryption design §9.3). */
import { createHash } from "node:crypto";
import type { File } from "@coffer/contract";
import { type Client, type Middleware, type Vault, toRequest } from "@coffer/sdk";
import { storeText, toFailure, type Task } from "@coffer/tasks";
import { beforeAll, describe, expect, test } from "vitest";
import { lyingAt, lyingOfFiles, shown } from "../kit/lying-service.ts";
import { read, sharedStack, UNLIMITED } from "../kit/shared-scene.ts";

const stack = sharedStack(UNLIMITED);
const ROUNDS = 12;

let owner: Client;
let vault: Vault;
let vaultId: string;
beforeAll(async () => {
  owner = stack.owner.client;
  vault = await owner.vaults.create({ name: "conditions", type: "shared" });
  vaultId = vault.id;
});

/** Two processes of the owner, whose first change of a round is sent when both have one: each has looked before either writes. */
function meeting(): { readonly pair: readonly [Client, Client]; readonly next: () => void } {
  let waiting: (() => void)[] = [];
  let hasMet = new Set<number>();
  const middleware =
    (who: number): Middleware =>
    async (request, send) => {
      if (request.method !== "GET" && request.method !== "HEAD" && !hasMet.has(who)) {
        hasMet.add(who);
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === 2) for (const go of waiting) go();
        });
      }
      return send(request);
    };
  const one = (who: number) => stack.owner.another({ middleware: [middleware(who)] });
  return {
    pair: [one(0), one(1)],
    next: () => {
      waiting = [];
      hasMet = new Set();
    },
  };
}

/** What each of both was told: "done", or the code of the refusal. */
async function both(
  { pair, next }: ReturnType<typeof meeting>,
  act: (client: Client, mine: string) => Promise<unknown>,
): Promise<string[]> {
  next();
  const told = await Promise.all(
    pair.map(async (client, who) => {
      try {
        await act(client, `writer ${String(who)}`);
        return "done";
      } catch (error) {
        return (error as { code?: string }).code ?? String(error);
      }
    }),
  );
  return told.sort();
}

const ONE_WINS = Array.from({ length: ROUNDS }, () => ["done", "precondition_failed"]);

async function rounds(work: (round: number) => Promise<string[]>): Promise<string[][]> {
  const told: string[][] = [];
  for (let round = 0; round < ROUNDS; round += 1) told.push(await work(round));
  return told;
}

let made = 0;
async function newFile(body = "before", folderId?: string) {
  made += 1;
  const name = `file ${String(made)}.txt`;
  const place = folderId === undefined ? {} : { folderId };
  return (await owner.files.upload({ vaultId, name, body, ...place })).file;
}

const taskOf = (client: Client): Task => ({
  signal: new AbortController().signal,
  progress: () => undefined,
  client: () => Promise.resolve(client),
  clientFor: () => Promise.resolve(client),
  chainAddress: () => Promise.resolve(stack.owner.signer.chainAddress),
});

describe("two writers who name the same state: one wins, the other is told so", () => {
  test("with expectedVersion of the tools, as a version and as a tag [S36]", async () => {
    const at = meeting();
    for (const field of ["versionId", "tag"] as const)
      expect(
        await rounds(async () => {
          const file = await newFile();
          const wish = { vaultId, folder: null, name: file.name, ifExists: "version" } as const;
          const told = await both(at, async (client, mine) => {
            const task = taskOf(client);
            try {
              await storeText(task, new TextEncoder().encode(mine), { ...wish, expectedVersion: file[field] });
            } catch (error) {
              throw toFailure(error, task.signal);
            }
          });
          expect(await owner.files.versions(file.id)).toMatchObject({ versions: { length: 2 } });
          return told;
        }),
      ).toEqual(ONE_WINS);
  });

  test("replace [S36]", async () => {
    const at = meeting();
    const told = await rounds(async () => {
      const { id, tag } = await newFile();
      return both(at, (client, body) => client.files.replace(id, { vaultId, body, ifMatch: tag }));
    });
    expect(told).toEqual(ONE_WINS);
  });

  test("replace, also where neither wrote what it follows: nobody signs over what it has not read [S36]", async () => {
    const at = meeting();
    const told = await rounds(async () => {
      const { id } = await newFile();
      return both(at, (client, body) => client.files.replace(id, { vaultId, body }));
    });
    expect(told).toEqual(ONE_WINS);
    const { id } = await newFile();
    const newest = await both(at, (client, body) => client.files.replace(id, { vaultId, body, ifMatch: "*" }));
    expect(newest).toEqual(["done", "done"]);
    expect((await owner.files.versions(id)).versions).toHaveLength(3);
  });

  test("append: what was read, and more [S36]", async () => {
    const at = meeting();
    const told = await rounds(async () => {
      const { id } = await newFile();
      const told = await both(at, async (client, line) => {
        const before = await client.files.download(id);
        const text = new TextDecoder().decode(await before.bytes());
        await client.files.replace(id, { vaultId, body: `${text}\n${line}`, ifMatch: before.tag ?? undefined });
      });
      expect(await read(owner, id)).toMatch(/^before\nwriter [01]$/);
      return told;
    });
    expect(told).toEqual(ONE_WINS);
  });

  test("rename and move, of files and folders [S36]", async () => {
    const at = meeting();
    const { id: folderId } = await owner.folders.create({ vaultId, name: "there" });
    const told = await rounds(async (round) => {
      const { id, tag: ifMatch } = await newFile();
      const moves = round % 2 === 0 ? {} : { folderId };
      return both(at, (client, mine) =>
        client.files.update(id, { name: `${id} ${mine}`, ...moves }, { vaultId, ifMatch }),
      );
    });
    expect(told).toEqual(ONE_WINS);
    const ofFolders = await rounds(async (round) => {
      const { id, tag: ifMatch } = await owner.folders.create({ vaultId, name: `folder ${String(round)}` });
      return both(at, (client, mine) => client.folders.update(id, { name: `${id} ${mine}` }, { vaultId, ifMatch }));
    });
    expect(ofFolders).toEqual(ONE_WINS);
  });

  test("a rename, and a replacement of the content [S36]", async () => {
    const at = meeting();
    const told = await rounds(async () => {
      const { id, tag: ifMatch } = await newFile();
      return both(at, (client, mine) =>
        mine === "writer 0"
          ? client.files.update(id, { name: `${id} renamed` }, { vaultId, ifMatch })
          : client.files.replace(id, { vaultId, body: mine, ifMatch }),
      );
    });
    expect(told).toEqual(ONE_WINS);
  });

  test("restore: under another name, of a kept version, and under the old entry after a rename [S36]", async () => {
    const at = meeting();
    const named = await rounds(async () => {
      const { id, tag: ifMatch } = await newFile();
      await owner.files.delete(id);
      return both(at, (client, mine) => client.files.restore(id, { name: `${id} ${mine}` }, { vaultId, ifMatch }));
    });
    for (const codes of named) expect(codes).toContain("done");
    for (const codes of named) expect(codes).not.toEqual(["done", "done"]);
    const versions = await rounds(async () => {
      const { id, versionId } = await newFile();
      const { file } = await owner.files.replace(id, { vaultId, body: "after" });
      return both(at, (client) => client.files.restoreVersion(id, versionId, { vaultId, ifMatch: file.tag }));
    });
    expect(versions).toEqual(ONE_WINS);
    const file = await newFile();
    await owner.files.update(file.id, { name: `${file.id} renamed` }, { vaultId });
    const trashing = owner.files.delete(file.id, { ifMatch: file.tag });
    await expect(trashing).rejects.toMatchObject({ code: "precondition_failed" });
    await owner.files.delete(file.id);
    const restoring = owner.files.restore(file.id, {}, { vaultId, ifMatch: file.tag });
    await expect(restoring).rejects.toMatchObject({ code: "precondition_failed" });
    const { tag } = await owner.files.get(file.id);
    expect(await owner.files.restore(file.id, {}, { vaultId, ifMatch: tag })).toMatchObject({ trashedAt: null, tag });
  });

  test("batches: each item under its own condition [S36]", async () => {
    const at = meeting();
    const { id: folderId } = await owner.folders.create({ vaultId, name: "batches" });
    const told = await rounds(async () => {
      const [one, other] = [await newFile(), await newFile()];
      const both = [one, other].map(({ id, tag }) => ({ id, ifMatch: tag }));
      at.next();
      const outcomes = await Promise.all(at.pair.map((client) => client.files.moveMany(both, folderId, { vaultId })));
      return outcomes
        .flat()
        .map(({ error }) => error?.code ?? "done")
        .sort();
    });
    for (const codes of told) expect(codes).toEqual(["done", "done", "precondition_failed", "precondition_failed"]);
    const [old, still] = [await newFile(), await newFile()];
    await owner.files.update(old.id, { name: `${old.id} renamed` }, { vaultId });
    const listed = [old, still].map(({ id, tag }) => ({ id, ifMatch: tag }));
    const codesOf = (outcomes: Awaited<ReturnType<Client["files"]["trashMany"]>>) =>
      outcomes.map(({ error }) => error?.code ?? "done");
    expect(codesOf(await owner.files.trashMany(listed))).toEqual(["precondition_failed", "done"]);
    await owner.files.delete(old.id);
    expect(codesOf(await owner.files.restoreMany(listed))).toEqual(["precondition_failed", "done"]);
  });
});

/** A client whose first change loses its answer, after it was done and `between` came; the service may be one that knows no Idempotency-Key. */
function losing(between: () => Promise<unknown>, { isKeyed = true, lies = [] as Middleware[] } = {}): Client {
  let isLost = false;
  const lose: Middleware = async (request, send) => {
    if (!isKeyed) request.headers.delete("idempotency-key");
    const answer = await send(request);
    if (isLost || request.method === "GET") return answer;
    isLost = true;
    await between();
    throw new TypeError("fetch failed");
  };
  return stack.owner.another({ middleware: [...lies, lose], retry: { baseDelayMs: 1, maxDelayMs: 2 } });
}

const versionsOf = async (id: string): Promise<string[]> => {
  const texts: string[] = [];
  for (const { versionId } of (await owner.files.versions(id)).versions)
    texts.push(await read(owner, id, { versionId }));
  return texts;
};
const replacing =
  (id: string, ...bodies: string[]) =>
  async () => {
    for (const body of bodies) await owner.files.replace(id, { vaultId, body });
  };
const renaming =
  (id: string, ...names: string[]) =>
  async () => {
    for (const name of names) await owner.files.update(id, { name: `${id} ${name}` }, { vaultId });
  };
/** The list ends after its first row. */
const hiding = (endpoint: string, list: "versions" | "entries"): Middleware =>
  lyingAt(endpoint, (said: Record<string, unknown[]>) => ({
    ...said,
    [list]: said[list]?.slice(0, 1),
    nextCursor: null,
  }));

describe("after a lost answer", () => {
  test.for([true, false])(
    "a change counts as stored if it is the current one or an ancestor of it; the service keeps the key's answer: %s [S36]",
    async (isKeyed) => {
      for (const ifMatch of [undefined, "*"]) {
        const { id } = await newFile();
        const others = losing(replacing(id, "theirs", "and theirs"), { isKeyed });
        const { file, bytes } = await others.files.replace(id, { vaultId, body: "mine", ifMatch });
        expect({ name: file.name, bytes }).toEqual({ name: (await owner.files.get(id)).name, bytes: 4 });
        expect(await versionsOf(id)).toEqual(["and theirs", "theirs", "mine", "before"]);
        const named = await newFile();
        const renamed = losing(renaming(named.id, "theirs", "and theirs"), { isKeyed });
        await renamed.files.update(named.id, { name: `${named.id} mine` }, { vaultId, ifMatch });
        const { entries } = await owner.files.entries(named.id);
        expect(entries.map(({ name }) => name.replace(`${named.id} `, ""))).toEqual([
          ...["and theirs", "theirs", "mine", named.name],
        ]);
        const { id: folderId } = await owner.folders.create({ vaultId, name: crypto.randomUUID() });
        const moved = await newFile();
        const back = losing(() => owner.files.moveMany([moved.id], null, { vaultId }), { isKeyed });
        const outcomes = await back.files.moveMany([{ id: moved.id, ifMatch }], folderId, { vaultId });
        expect([outcomes, (await owner.files.get(moved.id)).folderId]).toEqual([[{ id: moved.id, error: null }], null]);
      }
    },
  );

  test("nothing is done again where the service does not show whether it was: the outcome is unknown [S36]", async () => {
    const { id } = await newFile();
    const lies = [hiding("files.versions", "versions"), hiding("files.entries", "entries")];
    const content = losing(replacing(id, "theirs", "and theirs"), { isKeyed: false, lies });
    const replaced = content.files.replace(id, { vaultId, body: "mine", ifMatch: "*" });
    await expect(replaced).rejects.toMatchObject({ perhapsDone: true });
    expect(await versionsOf(id)).toEqual(["and theirs", "theirs", "mine", "before"]);
    const names = losing(renaming(id, "theirs", "and theirs"), { isKeyed: false, lies });
    const renamed = names.files.update(id, { name: `${id} mine` }, { vaultId, ifMatch: "*" });
    await expect(renamed).rejects.toMatchObject({ perhapsDone: true });
    expect((await owner.files.get(id)).name).toBe(`${id} and theirs`);
  });

  test("a change that was not stored is done, or refused by its condition [S36]", async () => {
    const [one, other] = [await newFile(), await newFile()];
    /** The request is lost, and not only its answer. */
    const unsent = (between: () => Promise<unknown>): Client => {
      let isLost = false;
      const lose: Middleware = async (request, send) => {
        if (isLost || request.method === "GET") return send(request);
        isLost = true;
        await between();
        throw new TypeError("fetch failed");
      };
      return stack.owner.another({ middleware: [lose], retry: { baseDelayMs: 1, maxDelayMs: 2 } });
    };
    const late = unsent(replacing(one.id, "theirs")).files.replace(one.id, { vaultId, body: "mine", ifMatch: one.tag });
    await expect(late).rejects.toMatchObject({ code: "precondition_failed", perhapsDone: false });
    expect(await versionsOf(one.id)).toEqual(["theirs", "before"]);
    await unsent(replacing(other.id, "theirs")).files.replace(other.id, { vaultId, body: "mine", ifMatch: "*" });
    expect(await versionsOf(other.id)).toEqual(["mine", "theirs", "before"]);
  });
});

describe("a service that lies about conditions", () => {
  test("cannot put a change after another state: it may tell two writers that they are done, and is found out [S36]", async () => {
    const { id, tag: ifMatch } = await newFile();
    const isDone: Middleware = async (outgoing, send) => {
      const request = toRequest(outgoing);
      const sent = request.clone();
      const answer = await send(request);
      if (request.method !== "PUT" || answer.ok) return answer;
      const bytes = Buffer.from(await sent.arrayBuffer());
      const now = await shown(stack, id);
      const header = (name: string) => sent.headers.get(name) ?? "";
      const shared = {
        version: header("coffer-version"),
        entry: header("coffer-entry"),
        metadata: header("coffer-metadata"),
        nameIndex: header("coffer-name-index"),
      };
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      return Response.json({ file: { ...now, size: bytes.length, sha256, shared } });
    };
    const before = await shown<File>(stack, id);
    let isLying = true;
    const stale = lyingOfFiles<File>((said) => (isLying && said.id === id ? before : said));
    const deceived = stack.owner.another({ middleware: [isDone, stale] });
    await owner.files.replace(id, { vaultId, body: "theirs", ifMatch });
    // It shows the state that this writer named, too, and says that it has replaced that.
    await deceived.files.replace(id, { vaultId, body: "mine", ifMatch });
    isLying = false;
    await expect(read(deceived, id)).rejects.toMatchObject({ code: "rolled_back" });
    expect(await versionsOf(id)).toEqual(["theirs", "before"]);
  });

  test("cannot have a change follow what its caller has not seen, by showing another state under the expected version [S36]", async () => {
    const file = await newFile();
    await owner.files.replace(file.id, { vaultId, body: "theirs" });
    const lie = lyingOfFiles<File>((said) => (said.id === file.id ? { ...said, versionId: file.versionId } : said));
    const deceived = stack.owner.another({ middleware: [lie] });
    const wish = { vaultId, folder: null, name: file.name, ifExists: "version" } as const;
    for (const expectedVersion of [file.versionId, file.tag])
      await expect(
        storeText(taskOf(deceived), new TextEncoder().encode("mine"), { ...wish, expectedVersion }),
      ).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await versionsOf(file.id)).toEqual(["theirs", "before"]);
  });
});

describe("a file that this machine has changed while an answer about it was on its way is no older one", () => {
  let meanwhile: (() => Promise<unknown>) | null = null;
  const late: Middleware = async (request, send) => {
    const response = await send(request);
    const act = request.method === "GET" && /\/api\/files\/[0-9a-f-]{36}$/.test(request.url) ? meanwhile : null;
    if (act === null) return response;
    meanwhile = null;
    await act();
    return response;
  };
  let client: Client;
  beforeAll(() => {
    client = stack.owner.another({ middleware: [late] });
  });

  async function told(act: (file: { readonly id: string; readonly tag: string }) => Promise<unknown>): Promise<string> {
    const { id, tag = "" } = await newFile();
    await client.files.get(id);
    meanwhile = async () => {
      await client.files.replace(id, { vaultId, body: "newer" });
      await client.files.update(id, { name: `renamed ${id}` }, { vaultId });
    };
    try {
      await act({ id, tag });
      return "done";
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    } finally {
      expect(meanwhile).toBeNull();
    }
  }

  test.each<[string, Parameters<typeof told>[0], string]>([
    [
      "a version",
      ({ id, tag: ifMatch }) => client.files.replace(id, { vaultId, body: "mine", ifMatch }),
      "precondition_failed",
    ],
    [
      "a version of what is newest",
      ({ id }) => client.files.replace(id, { vaultId, body: "mine", ifMatch: "*" }),
      "done",
    ],
    [
      "a name",
      ({ id, tag: ifMatch }) => client.files.update(id, { name: `mine ${id}` }, { vaultId, ifMatch }),
      "precondition_failed",
    ],
    [
      "a commit",
      ({ id, tag: ifMatch }) => client.files.commit(vaultId, [{ id, ifMatch, name: `mine ${id}` }]),
      "precondition_failed",
    ],
    [
      "a commit of content",
      ({ id, tag: ifMatch }) => client.files.commit(vaultId, [{ id, ifMatch, body: "mine" }]),
      "precondition_failed",
    ],
    [
      "a move of many",
      async ({ id, tag: ifMatch }) => {
        const folder = await owner.folders.create({ vaultId, name: `folder of ${id}` });
        const [outcome] = await client.files.moveMany([{ id, ifMatch }], folder.id, { vaultId });
        if (outcome?.error != null) throw outcome.error;
      },
      "precondition_failed",
    ],
  ])("%s [S36]", async (_, act, outcome) => {
    expect(await told(act)).toBe(outcome);
  });
});

/** Several changes at once in public vaults, through the SDK against the service of the tests' engine. */
import { randomUUID } from "node:crypto";
import { SdkError, type Client, type FileCommitChange, type Middleware, type Progress } from "@coffer/sdk";
import { describe, expect, it } from "vitest";
import { serviceOfFile } from "../kit/service-here.ts";

const newAccount = serviceOfFile();
type File = Awaited<ReturnType<Client["files"]["get"]>>;

const encoded = (text: string): Uint8Array => new TextEncoder().encode(text);
const upload = async (client: Client, name: string, body = name): Promise<File> =>
  (await client.files.upload({ name, body })).file;
const read = async (client: Client, id: string): Promise<string> =>
  new TextDecoder().decode(await (await client.files.download(id)).bytes());
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

/** What the service was asked for. */
function counting(): { readonly middleware: Middleware; readonly calls: string[] } {
  const calls: string[] = [];
  const middleware: Middleware = (request, next) => {
    calls.push(`${request.method} ${new URL(request.url).pathname.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")}`);
    return next(request);
  };
  return { middleware, calls };
}

describe("commit", () => {
  it("makes versions, renames, moves and trashings at once; small contents take one request each [D5-commit]", async () => {
    const { client, connectWith } = await newAccount();
    const folder = await client.folders.create({ name: "f" });
    const files = [];
    for (const name of ["a", "b", "c", "d", "e"]) files.push(await upload(client, name));
    const [a, b, c, d, e] = files as [File, File, File, File, File];
    const { middleware, calls } = counting();
    const seen: Progress[] = [];
    const other = connectWith({ middleware: [middleware] });
    const committed = await other.files.commit(
      a.vaultId,
      [
        change(a, { body: "new a", contentType: "text/plain" }),
        change(b, { name: "c" }),
        change(c, { name: "b", folderId: null }),
        change(d, { trash: true }),
        change(e, { body: encoded("moved"), folderId: folder.id, name: "e2" }),
      ],
      { onProgress: (progress) => void seen.push(progress) },
    );
    expect(calls.filter((call) => call === "POST /api/uploads")).toHaveLength(2);
    expect(calls.filter((call) => call === "POST /api/files/commit")).toHaveLength(1);
    expect(calls.filter((call) => /PATCH|PUT|DELETE/.test(call))).toEqual([]);
    expect(committed.map(({ file, bytes }) => [file.id, file.name, bytes])).toEqual([
      [a.id, "a", 5],
      [b.id, "c", null],
      [c.id, "b", null],
      [d.id, "d", null],
      [e.id, "e2", 5],
    ]);
    expect(seen.at(-1)).toEqual({ bytes: 10, total: 10, storedBytes: 10 });
    for (const { file } of committed) expect(file).toEqual(await client.files.get(file.id));
    expect([await read(client, a.id), await read(client, e.id)]).toEqual(["new a", "moved"]);
    // the new tags are those of the next commit
    const again = committed.slice(0, 2).map(({ file }, at) => change(file, { name: `again ${String(at)}` }));
    expect((await client.files.commit(a.vaultId, again)).map(({ file }) => file.name)).toEqual(["again 0", "again 1"]);
    expect(await client.files.commit(a.vaultId, [])).toEqual([]);
  });

  it("sends large contents in parts, streams too, and compares what is stored [D5-held-upload]", async () => {
    const { client } = await newAccount();
    const [a, b, c] = [await upload(client, "a"), await upload(client, "b"), await upload(client, "c")];
    const large = new Uint8Array(100_000).map((_, at) => at % 251);
    const stream = new Blob([large]).stream();
    const unsized = new Blob(["short"]).stream();
    const committed = await client.files.commit(
      a.vaultId,
      [change(a, { body: large }), change(b, { body: stream, size: large.length }), change(c, { body: unsized })],
      { partBytes: 30_000 },
    );
    expect(committed.map(({ bytes }) => bytes)).toEqual([100_000, 100_000, 5]);
    expect(committed[0]?.sha256).toBe(committed[1]?.sha256);
    expect(Buffer.compare(await (await client.files.download(b.id)).bytes(), large)).toBe(0);
    const endless = new Blob([large]).stream();
    const refused = await failureOf(
      client.files.commit(a.vaultId, [change(a, { body: endless })], { partBytes: 10_000 }),
    );
    expect(refused).toMatchObject({ code: "invalid_request", itemId: a.id });
  });

  it("tells the loser which file, and its present tag; nothing is stored and nothing stays held [D5-commit-condition]", async () => {
    const { client, connectWith } = await newAccount();
    const [a, b] = [await upload(client, "a"), await upload(client, "b")];
    const now = await client.files.update(b.id, { name: "b of another" });
    const { middleware, calls } = counting();
    const refusal = await failureOf(
      connectWith({ middleware: [middleware] }).files.commit(a.vaultId, [
        change(a, { body: "new" }),
        change(b, { name: "b2" }),
      ]),
    );
    expect(refusal).toMatchObject({ code: "precondition_failed", itemId: b.id, currentTag: now.tag });
    expect(JSON.parse(JSON.stringify(refusal))).toMatchObject({ itemId: b.id });
    expect(calls.filter((call) => call.startsWith("DELETE /api/uploads"))).toHaveLength(1);
    expect(await client.files.get(a.id)).toEqual(a);
    const { account } = await client.account.get();
    expect(account.usage.bytes).toBe(2);
  });

  it("refuses what contradicts itself before anything is sent", async () => {
    const { client, connectWith } = await newAccount();
    const a = await upload(client, "a");
    const { middleware, calls } = counting();
    const other = connectWith({ middleware: [middleware] });
    const wrong: unknown[] = [
      [change(a, { name: "b" }), change(a, { trash: true })],
      [change(a, {})],
      [change(a, { trash: true, name: "b" })],
      [{ id: a.id, name: "b" }],
      [change(a, { size: 3 })],
      [{ ...change(a, { name: "b" }), ifmatch: "x" }],
      [{ ...change(a, {}), folderId: undefined, name: "b" }],
      [change(a, { body: { not: "bytes" } as never })],
      Array.from({ length: 101 }, () => ({ id: randomUUID(), ifMatch: "*", name: "b" })),
      [change(a, { body: new Blob([new Uint8Array(1)]).stream(), size: 256 * 1024 * 1024 + 1 })],
    ];
    for (const changes of wrong)
      expect(await failureOf(other.files.commit(a.vaultId, changes as FileCommitChange[]))).toMatchObject({
        code: "invalid_request",
      });
    expect(calls).toEqual([]);
  });

  it("is done once, whichever of its answers is lost [D5-commit-lost-answer]", async () => {
    for (let lostAt = 0; ; lostAt += 1) {
      const { client, connectWith } = await newAccount();
      const [a, b, c] = [await upload(client, "a"), await upload(client, "b"), await upload(client, "c")];
      let at = 0;
      const lose: Middleware = async (request, next) => {
        const answer = await next(request);
        at += 1;
        if (at - 1 === lostAt) throw new TypeError("fetch failed");
        return answer;
      };
      const other = connectWith({ middleware: [lose], retry: { baseDelayMs: 1, maxDelayMs: 2 } });
      const changes = [change(a, { body: "one" }), change(b, { body: "two", name: "b2" }), change(c, { trash: true })];
      const committed = await other.files.commit(a.vaultId, changes);
      expect(
        committed.map(({ file }) => file.name),
        `answer ${String(lostAt)}`,
      ).toEqual(["a", "b2", "c"]);
      for (const { id } of [a, b]) expect((await client.files.versions(id)).versions).toHaveLength(2);
      expect([await read(client, a.id), await read(client, b.id)]).toEqual(["one", "two"]);
      if (at <= lostAt) break;
    }
  });

  it("which its caller has named is found again by a repeat, also in another process [D5-commit-repeat]", async () => {
    const { client, connectWith } = await newAccount();
    const [a, b] = [await upload(client, "a"), await upload(client, "b")];
    const gone: Middleware = async (request, next) => {
      const answer = await next(request);
      if (new URL(request.url).pathname === "/api/files/commit") throw new TypeError("fetch failed");
      return answer;
    };
    const cut = connectWith({ middleware: [gone], retry: { limit: 1, baseDelayMs: 1, maxDelayMs: 2 } });
    const changes = () => [change(a, { body: "once" }), change(b, { name: "b2" })];
    const options = { idempotencyKey: `commit-${randomUUID()}` };
    expect((await failureOf(cut.files.commit(a.vaultId, changes(), options))).code).toBe("connection_failed");
    const committed = await client.files.commit(a.vaultId, changes(), options);
    expect(committed.map(({ file }) => file.name)).toEqual(["a", "b2"]);
    expect((await client.files.versions(a.id)).versions).toHaveLength(2);
  });

  it("frees what it held when it is aborted", async () => {
    const { client, connectWith } = await newAccount();
    const [a, b] = [await upload(client, "a"), await upload(client, "b")];
    const { middleware, calls } = counting();
    const controller = new AbortController();
    const abort: Middleware = (request, next) => {
      if (new URL(request.url).pathname === "/api/files/commit") controller.abort(new Error("enough"));
      return next(request);
    };
    const other = connectWith({ middleware: [middleware, abort] });
    const work = other.files.commit(a.vaultId, [change(a, { body: "one" }), change(b, { body: "two" })], {
      signal: controller.signal,
    });
    expect((await failureOf(work)).code).toBe("aborted");
    expect(calls.filter((call) => call.startsWith("DELETE /api/uploads"))).toHaveLength(2);
  });
});

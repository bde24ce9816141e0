import type { Middleware } from "../../http/transports.ts";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import type { Client } from "../../client.ts";
import { openService } from "../../connection/service.test-kit.ts";
import { downloadFile } from "./download-file.ts";
import { fileStore } from "../store/file-store.ts";
import { markOf, processMark, tagOf } from "../store/process-mark.ts";
import { uploadFile } from "./upload-file.ts";

async function connect(look: () => Promise<void> = () => Promise.resolve()): Promise<Client> {
  const middleware: Middleware[] = [
    async (request, next) => {
      const answer = await next(request);
      if (!request.url.endsWith("/content") || answer.body === null) return answer;
      const content = new Uint8Array(await answer.arrayBuffer());
      let sent = 0;
      const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
        if (sent > 0) await look();
        controller.enqueue(content.subarray(sent, sent === 0 ? 8 : undefined));
        sent += 8;
        if (sent > 8) controller.close();
      };
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), {
        status: answer.status,
        headers: answer.headers,
      });
    },
  ];
  return (await openService()).connect({ middleware });
}

it("a download removes what killed downloads of the same destination left, and nothing of a living process", async () => {
  const directory = makeDirectory();
  const during: string[] = [];
  const client = await connect(async () => {
    during.push(...(await readdir(directory)).filter((name) => !kept.includes(name) && name.startsWith(".coffer-")));
  });
  const temporary = (mark: string, destination: string): string =>
    `.coffer-${mark}-${tagOf(destination)}-${randomUUID()}.part`;
  const earlier = (pid: number): string => markOf(pid).replace(/-[0-9a-f]{12}-/, `-${tagOf("earlier")}-`);
  const foreign = `1-${tagOf("start")}-${tagOf("another machine")}`;
  const kept = [
    temporary(markOf(process.ppid), "copy"),
    temporary(processMark(), "copy"),
    temporary(earlier(4_194_399), "another"),
    temporary(foreign, "copy"),
    ".coffer-notes.part",
  ];
  const old = temporary(foreign, "copy");
  const gone = [temporary(markOf(4_194_399), "copy"), temporary(earlier(process.pid), "copy"), old];
  for (const name of [...kept, ...gone]) await writeFile(join(directory, name), "part");
  await utimes(join(directory, old), 1, 1);
  const { file } = await client.files.upload({ name: "a", body: new TextEncoder().encode("a content of two pieces") });
  await downloadFile(client, file.id, join(directory, "copy"));
  expect((await readdir(directory)).sort()).toEqual([...kept, "copy"].sort());
  // The name that a kill would have left is one that the next call knows.
  expect(during).toEqual([expect.stringMatching(`^\\.coffer-${processMark()}-${tagOf("copy")}-[0-9a-f-]{36}\\.part$`)]);
  await writeFile(join(directory, temporary(earlier(process.pid), "copy")), "part");
  await expect(downloadFile(client, file.id, join(directory, "copy"))).rejects.toMatchObject({
    code: "destination_exists",
  });
  expect((await readdir(directory)).sort()).toEqual([...kept, "copy"].sort());
});

it("a large upload goes on without a journal where none can be kept", async () => {
  const directory = makeDirectory();
  const client = await connect();
  const path = join(directory, "large.bin");
  await writeFile(path, "0123456789");
  const options = { partBytes: 4, ifAbsent: true };
  // A file where the directory should be: also root cannot make one there.
  const { bytes } = await uploadFile(client, path, { ...options, store: fileStore(join(path, "store")) });
  expect(bytes).toBe(10);
  await mkdir(join(directory, "store"));
  await expect(
    uploadFile(client, join(directory, "absent"), { ...options, store: fileStore(join(path, "store")) }),
  ).rejects.toMatchObject({ code: "ENOENT" });
  expect(await readFile(path, "utf8")).toBe("0123456789");
});

it("a large upload is refused where its journal is damaged, and sends nothing", async () => {
  const directory = makeDirectory();
  const { client, sent } = await openService();
  const { id: vaultId } = await client.vaults.create({ name: "damaged", type: "public" });
  const [path, store] = [join(directory, "large"), join(directory, "store")];
  await writeFile(path, Buffer.alloc(9 * 1024 * 1024));
  await fileStore(store)
    .table("uploads")
    .write([{ key: "an upload", value: Buffer.from("row") }]);
  const table = join(store, "uploads.table");
  const damaged = Buffer.from(await readFile(table));
  damaged[60] = (damaged[60] ?? 0) ^ 1;
  await writeFile(table, damaged);
  sent.length = 0;
  await expect(uploadFile(client, path, { vaultId, store: fileStore(store) })).rejects.toMatchObject({
    code: "configuration",
    message: expect.stringContaining(table),
  });
  expect([sent.length, await readFile(table)]).toEqual([0, damaged]);
});

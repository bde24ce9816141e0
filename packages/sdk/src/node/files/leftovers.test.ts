import type { Middleware } from "../../http/transports.ts";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import type { Client } from "../../client.ts";
import { openService } from "../../connection/service.test-kit.ts";
import { downloadFile } from "./download-file.ts";
import { processMark, tagOf } from "../store/process-mark.ts";
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
  const earlier = (pid: number): string => processMark(pid).replace(/-[0-9a-f]{12}-/, `-${tagOf("earlier")}-`);
  const foreign = `1-${tagOf("start")}-${tagOf("another machine")}`;
  const kept = [
    temporary(processMark(process.ppid), "copy"),
    temporary(processMark(), "copy"),
    temporary(earlier(4_194_399), "another"),
    temporary(foreign, "copy"),
    ".coffer-notes.part",
  ];
  const old = temporary(foreign, "copy");
  const gone = [temporary(processMark(4_194_399), "copy"), temporary(earlier(process.pid), "copy"), old];
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
  const { bytes } = await uploadFile(client, path, { ...options, journalDirectory: join(path, "journals") });
  expect(bytes).toBe(10);
  await mkdir(join(directory, "journals"));
  await expect(
    uploadFile(client, join(directory, "absent"), { ...options, journalDirectory: join(path, "journals") }),
  ).rejects.toMatchObject({ code: "ENOENT" });
  expect(await readFile(path, "utf8")).toBe("0123456789");
});

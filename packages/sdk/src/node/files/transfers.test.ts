import { createHash } from "node:crypto";
import {
  appendFile,
  link,
  mkdir,
  open as openHandle,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { openService } from "../../connection/service.test-kit.ts";
import type { Middleware } from "../../http/transports.ts";
import { downloadFile } from "./download-file.ts";
import { fileStore } from "../store/file-store.ts";
import { uploadFile } from "./upload-file.ts";

const PART = 32 * 1024;
const BYTES = Uint8Array.from({ length: PART * 6 + 5 }, (_, index) => (index * 31 + (index >> 8)) & 0xff);
const SHA256 = createHash("sha256").update(BYTES).digest("hex");

/** A fake with one account, clients of it, and a file in a directory of its own that goes in parts. */
async function open() {
  const directory = makeDirectory();
  const { fake, sent, connect } = await openService();
  const path = join(directory, "large.bin");
  await writeFile(path, BYTES);
  const storeDirectory = join(directory, "store");
  return {
    fake,
    path,
    storeDirectory,
    store: fileStore(storeDirectory),
    directory,
    /** Method and path of what was sent. */
    lines: () => sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`),
    forget: () => void (sent.length = 0),
    options: { partBytes: PART, store: fileStore(storeDirectory), retries: 0 },
    connect: (...middleware: Middleware[]) => connect({ retry: { baseDelayMs: 1, maxDelayMs: 2 }, middleware }),
  };
}

/** Fails every part from the given one on, as when the process or the network dies. */
function dieAtPart(part: number, before = () => Promise.resolve()): Middleware {
  return async (request, next) => {
    if (request.method !== "PATCH" || Number(request.headers.get("upload-offset")) < part * PART) return next(request);
    await before();
    throw new TypeError("fetch failed");
  };
}

const parts = (sent: readonly string[]): number => sent.filter((line) => line.startsWith("PATCH")).length;

describe("uploadFile", () => {
  it("goes on where an upload was cut off, and hashes the whole", async () => {
    const scene = await open();
    const { connect, fake, forget, lines, options, path } = scene;
    await expect(uploadFile(connect(dieAtPart(3)), path, options)).rejects.toMatchObject({ code: "connection_failed" });
    const table = join(scene.storeDirectory, "uploads.table");
    expect((await stat(table)).mode & 0o777).toBe(0o600);
    expect(await readFile(table, "latin1")).not.toContain("cof_");
    expect(fake.state.uploads.size).toBe(1);
    forget();
    const result = await uploadFile(connect(), path, options);
    expect(result).toMatchObject({ sha256: SHA256, bytes: BYTES.length });
    expect(lines().filter((line) => line === "POST /api/uploads")).toEqual([]);
    expect(parts(lines())).toBe(4);
    expect(await readdir(scene.storeDirectory)).toEqual([]);
  });

  it("has its session on disk before the first part is sent", async () => {
    const scene = await open();
    const { connect, fake, path, store, storeDirectory } = scene;
    const seen: string[] = [];
    const look: Middleware = async (request, next) => {
      if (request.method === "POST" || request.method === "PATCH") {
        const { rows } = await fileStore(storeDirectory).table("uploads").page({ limit: 2 });
        expect(rows).toHaveLength(1);
        const entry: { uploadId: string | null; idempotencyKey: string } = JSON.parse(
          new TextDecoder().decode(rows[0]?.value),
        );
        seen.push(
          entry.uploadId === null
            ? `${request.method} keyed ${String(entry.idempotencyKey === request.headers.get("idempotency-key"))}`
            : `${request.method} ${String(fake.state.uploads.has(entry.uploadId))}`,
        );
      }
      return next(request);
    };
    await uploadFile(connect(look), path, { partBytes: PART, store });
    expect(seen[0]).toBe("POST keyed true");
    expect(seen.slice(1)).toEqual(Array.from({ length: 7 }, () => "PATCH true"));
  });

  it("sends what is above 8 MiB in parts of 16 MiB, also beside another", async () => {
    const { connect, directory, store } = await open();
    const MEBIBYTE = 1024 * 1024;
    const send = async (mebibytes: number): Promise<number[]> => {
      const lengths: number[] = [];
      const look: Middleware = (request, next) => {
        if (request.method === "PATCH") lengths.push(Number(request.headers.get("content-length")) / MEBIBYTE);
        return next(request);
      };
      const path = join(directory, `${String(mebibytes)}.bin`);
      await writeFile(path, "");
      await truncate(path, mebibytes * MEBIBYTE);
      await uploadFile(connect(look), path, { store });
      return lengths;
    };
    expect(await send(64)).toEqual([16, 16, 16, 16]);
    const [one, other] = await Promise.all([send(65), send(66)]);
    expect([one, other]).toEqual([
      [16, 16, 16, 16, 1],
      [16, 16, 16, 16, 2],
    ]);
    expect([await send(9), await send(8)]).toEqual([[9], []]);
  });

  it("begins anew when the session is gone, or when the file is another, and frees the old one", async () => {
    const scene = await open();
    const { connect, fake, options, path } = scene;
    await expect(uploadFile(connect(dieAtPart(2)), path, options)).rejects.toThrow();
    fake.state.uploads.clear();
    await expect(uploadFile(connect(dieAtPart(2)), path, options)).rejects.toThrow();
    expect(fake.state.uploads.size).toBe(1);
    await utimes(path, 1, 1);
    expect((await uploadFile(connect(), path, options)).sha256).toBe(SHA256);
    expect([...fake.state.uploads.values()].every(({ fileId }) => fileId !== null)).toBe(true);
  });

  it("begins anew when the session's file has gone to the trash since", async () => {
    const scene = await open();
    const { connect, fake, options, path } = scene;
    const answerLost: Middleware = async (request, next) => {
      const answer = await next(request);
      if (answer.headers.has("file-id")) throw new TypeError("fetch failed");
      return answer;
    };
    await expect(uploadFile(connect(answerLost), path, options)).rejects.toMatchObject({ code: "connection_failed" });
    const client = connect();
    const [made] = (await client.files.list()).files;
    await client.files.delete(made?.id ?? "");
    const { file } = await uploadFile(client, path, options);
    expect(file.id).not.toBe(made?.id);
    expect(file.trashedAt).toBeNull();
    expect(fake.state.files.size).toBe(2);
  });

  it("can be repeated with its idempotencyKey after it was given up", async () => {
    const scene = await open();
    const { connect, path } = scene;
    const controller = new AbortController();
    const options = {
      partBytes: PART,
      store: scene.store,
      idempotencyKey: "one-upload",
    };
    const onProgress = ({ bytes }: { bytes: number }): void => {
      if (bytes > PART) controller.abort();
    };
    const aborted = uploadFile(connect(), path, { ...options, signal: controller.signal, onProgress });
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
    expect((await uploadFile(connect(), path, options)).sha256).toBe(SHA256);
  });

  it("stores nothing of a file that changes meanwhile", async () => {
    const scene = await open();
    const { connect, fake, path, store, storeDirectory } = scene;
    const change: Middleware = async (request, next) => {
      if (request.headers.get("upload-offset") === String(PART)) await writeFile(path, "x", { flag: "r+" });
      return next(request);
    };
    await expect(uploadFile(connect(change), path, { partBytes: PART, store })).rejects.toMatchObject({
      code: "source_changed",
      retryable: false,
    });
    expect([fake.state.files.size, fake.state.uploads.size]).toEqual([0, 0]);
    expect(await readdir(storeDirectory)).toEqual([]);
  });

  it("stores of a file that grows what there was when it was opened, and checks that it only grew", async () => {
    const { connect, fake, options, path } = await open();
    const grow: Middleware = async (request, next) => {
      if (request.method === "PATCH") await appendFile(path, "another line\n");
      return next(request);
    };
    const { bytes, sha256 } = await uploadFile(connect(grow), path, options);
    expect(sha256).toBe(SHA256);
    expect(bytes).toBeLessThan((await stat(path)).size);
    const kept = fake.state.uploads.size;
    const rewrite: Middleware = async (request, next) => {
      if (request.method === "PATCH") {
        await appendFile(path, "another line\n");
        await writeFile(path, "other", { flag: "r+" });
      }
      return next(request);
    };
    const changed = uploadFile(connect(rewrite), path, { ...options, name: "again" });
    await expect(changed).rejects.toMatchObject({ code: "source_changed" });
    expect([fake.state.files.size, fake.state.uploads.size]).toEqual([1, kept]);
  });

  it("reads the next part while one is on its way", async () => {
    const { connect, options, path } = await open();
    const handle = await openHandle(path);
    const read = vi.spyOn(handle, "read");
    const wait: Middleware = async (request, next) => {
      if (request.headers.get("upload-offset") === "0")
        await vi.waitFor(() => {
          expect(read.mock.calls.length).toBeGreaterThan(1);
        });
      return next(request);
    };
    expect(await uploadFile(connect(wait), path, { ...options, handle })).toMatchObject({ sha256: SHA256 });
  });

  it("an abort frees the session and forgets it", async () => {
    const scene = await open();
    const { connect, fake, path, store, storeDirectory } = scene;
    const controller = new AbortController();
    const options = {
      partBytes: PART,
      store,
      signal: controller.signal,
      onProgress: ({ bytes }: { bytes: number }) => bytes > PART && controller.abort(),
    };
    await expect(uploadFile(connect(), path, options)).rejects.toMatchObject({ code: "aborted" });
    expect([fake.state.files.size, fake.state.uploads.size]).toEqual([0, 0]);
    expect(await readdir(storeDirectory)).toEqual([]);
  });

  it("two at once of the same file and place do not share a session", async () => {
    const scene = await open();
    const { connect, lines, options, path } = scene;
    const results = await Promise.allSettled([
      uploadFile(connect(), path, options),
      uploadFile(connect(), path, options),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(results.find((result) => result.status === "rejected")?.reason).toMatchObject({ code: "name_exists" });
    expect(lines().filter((line) => line === "POST /api/uploads")).toHaveLength(2);
  });

  it("refuses what is no regular file", async () => {
    const scene = await open();
    const { connect } = scene;
    await expect(uploadFile(connect(), scene.directory)).rejects.toThrow();
    await expect(uploadFile(connect(), "/dev/null")).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("writes a version of a file, small or large", async () => {
    const scene = await open();
    const { connect, store } = scene;
    const path = join(scene.directory, "small.txt");
    await writeFile(path, "one");
    const { file } = await uploadFile(connect(), path, { store });
    expect(file.contentType).toBe("text/plain");
    const named = await uploadFile(connect(), path, { name: "page.pdf", store });
    const told = await uploadFile(connect(), path, { name: "b.pdf", contentType: "text/x-own", store });
    expect([named.file.contentType, told.file.contentType]).toEqual(["application/pdf", "text/x-own"]);
    await writeFile(path, BYTES);
    const next = await uploadFile(connect(), path, { fileId: file.id, partBytes: PART, store });
    expect(next.file).toMatchObject({ id: file.id, name: "small.txt", contentType: "text/plain", sha256: SHA256 });
  });
});

describe("downloadFile", () => {
  /** A file of the service, and an empty directory to load it into. */
  async function stored() {
    const service = await open();
    const { file } = await service.connect().files.upload({ name: "stored", body: BYTES });
    await rm(service.path);
    return { ...service, fileId: file.id };
  }

  it("never replaces what is there, not even what appears while it loads", async () => {
    const scene = await stored();
    const { connect, fileId, directory } = scene;
    const destination = join(directory, "copy");
    const race: Middleware = async (request, next) => {
      await writeFile(destination, "theirs");
      return next(request);
    };
    await expect(downloadFile(connect(race), fileId, destination)).rejects.toMatchObject({
      code: "destination_exists",
    });
    await expect(downloadFile(connect(), fileId, destination)).rejects.toMatchObject({ code: "destination_exists" });
    expect(await readFile(destination, "utf8")).toBe("theirs");
    await symlink("/nowhere", join(directory, "dangling"));
    await expect(downloadFile(connect(), fileId, join(directory, "dangling"))).rejects.toMatchObject({
      code: "destination_exists",
    });
    expect((await readdir(directory)).sort()).toEqual(["copy", "dangling"]);
  });

  it("with overwrite replaces the name and not what a link points to", async () => {
    const scene = await stored();
    const { connect, fileId, directory } = scene;
    const [theirs, destination] = [join(directory, "theirs"), join(directory, "copy")];
    await writeFile(theirs, "theirs");
    await link(theirs, destination);
    const result = await downloadFile(connect(), fileId, destination, { overwrite: true });
    expect(result).toEqual({ path: destination, bytes: BYTES.length, sha256: SHA256 });
    expect(await readFile(theirs, "utf8")).toBe("theirs");
    expect((await stat(destination)).mode & 0o777).toBe(0o600);
  });

  it("leaves nothing behind when bytes are wrong, the caller aborts, or there is no such file", async () => {
    const scene = await stored();
    const { connect, fake, fileId, directory } = scene;
    const destination = join(directory, "copy");
    const controller = new AbortController();
    const aborting = downloadFile(connect(), fileId, destination, {
      signal: controller.signal,
      onProgress: () => {
        controller.abort();
      },
    });
    await expect(aborting).rejects.toMatchObject({ code: "aborted" });
    const damage: Middleware = async (request, next) => {
      const response = await next(request);
      const bytes = new Uint8Array(await response.arrayBuffer());
      bytes[7] = (bytes[7] ?? 0) ^ 1;
      return new Response(bytes, { status: response.status, headers: response.headers });
    };
    await expect(downloadFile(connect(damage), fileId, destination)).rejects.toMatchObject({
      code: "integrity_failed",
    });
    fake.state.files.clear();
    await expect(downloadFile(connect(), fileId, destination)).rejects.toMatchObject({ code: "not_found" });
    await expect(downloadFile(connect(), fileId, join(directory, "no", "such", "directory"))).rejects.toThrow();
    expect(await readdir(directory)).toEqual([]);
    await mkdir(destination);
    await expect(downloadFile(connect(), fileId, destination)).rejects.toMatchObject({ code: "destination_exists" });
  });
});

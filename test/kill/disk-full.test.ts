import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { api } from "@coffer/contract";
import { expect, it } from "vitest";
import { receive } from "../conformance/judge.ts";
import { sameBytes, sampleBytes } from "../conformance/samples.ts";
import { renderRequest } from "../conformance/wire.ts";
import { signUp } from "./faults.ts";
import { countFiles, inspectData } from "./inspect.ts";
import { startServerProcess } from "./server-process.ts";

const run = promisify(execFile);
const SIZE_MIB = 48;
const BYTES = sampleBytes(3_000_000);

it("answers 507 on a full disk, keeps what it has, and deletes [D1-disk-full-507]", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "coffer-full-"));
  const refusal = await mountSmall(directory);
  if (refusal !== null) {
    await rm(directory, { recursive: true });
    context.skip(`no small file system can be mounted here (${refusal}); the blob store's suite simulates a full one`);
  }
  try {
    await fillAndEmpty(directory);
  } finally {
    await run("umount", [directory]);
    await rm(directory, { recursive: true });
  }
}, 90_000);

async function fillAndEmpty(directory: string): Promise<void> {
  await using server = await startServerProcess({ directory });
  const { baseUrl } = server;
  const key = await signUp(baseUrl);
  const upload = (name: string) =>
    fetch(renderRequest(baseUrl, api.files.upload, { query: { name }, headers: {}, body: BYTES }, { key }));
  const ids: string[] = [];
  let answer = await upload("0");
  for (; answer.status === 201; answer = await upload(String(ids.length)))
    ids.push(((await answer.json()) as { file: { id: string } }).file.id);

  expect(answer.status).toBe(507);
  expect(answer.headers.get("x-error-code")).toBe("disk_full");
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(Object.keys((await answer.json()) as object)).toEqual(["error"]);
  expect(ids.length).toBeGreaterThan(2);
  expect(countFiles(directory)).toBe(ids.length);
  expect(await inspectData(directory)).toEqual([]);

  const [first = "", ...others] = ids;
  const read = await receive(
    await fetch(renderRequest(baseUrl, api.files.content, { params: { fileId: first } }, { key })),
  );
  expect(sameBytes(read.body, BYTES)).toBe(true);
  for (const fileId of others) {
    const deleted = await fetch(
      renderRequest(baseUrl, api.files.delete, { params: { fileId }, query: { permanent: true } }, { key }),
    );
    expect(deleted.status).toBe(204);
  }
  // The bytes go a little later (jobs/blob-deletions.ts); the test's own limit ends the wait.
  for (let attempt = 0; (await upload(`again-${String(attempt)}`)).status !== 201; attempt += 1)
    await new Promise((resolve) => setTimeout(resolve, 250));
}

/** Mounts a tmpfs; answers why not where that is not allowed. */
async function mountSmall(directory: string): Promise<string | null> {
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${String(SIZE_MIB)}m`, "tmpfs", directory]);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n").at(-2) ?? error.message) : String(error);
  }
}

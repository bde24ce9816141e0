import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { connectionOf } from "../client.ts";
import { uploadFolder } from "../node/folders.ts";
import { openService } from "../test-service.ts";
import type { Middleware } from "../transports.ts";
import { Batching } from "./batching.ts";

/** Notes how many files each batch has. */
function counting(batches: number[]): Middleware {
  return async (request, next, { endpointId }) => {
    const response = await next(request);
    if (endpointId !== "files.batch") return response;
    const { results } = (await response.clone().json()) as { results: unknown[] };
    batches.push(results.length);
    return response;
  };
}

it.each([
  ["one batch takes as many as fit", 100, [100]],
  ["of more, each batch takes half of the last ones, so that the service has few left at the end", 130, [65, 33, 32]],
])("a folder's small files: %s", async (_, count, expected) => {
  const { client, connect } = await openService();
  const { id: vaultId } = await client.vaults.create({ name: "many", type: "public" });
  const base = makeDirectory();
  const root = join(base, "folder");
  mkdirSync(root);
  for (let at = 0; at < count; at += 1) writeFileSync(join(root, `file-${String(at)}`), String(at));
  const batches: number[] = [];
  const options = { vaultId, journalDirectory: join(base, "journals") };
  const { failed, files } = await uploadFolder(connect({ middleware: [counting(batches)] }), root, options);
  expect({ failed, files: files.length }).toEqual({ failed: [], files: count });
  expect(batches.toSorted((one, other) => other - one)).toEqual(expected);
});

it("begins the next file a turn of the event loop after a batch went, so that the batch is written meanwhile", async () => {
  const { client } = await openService();
  const { id: vaultId } = await client.vaults.create({ name: "many", type: "public" });
  const batching = new Batching(connectionOf(client), {});
  batching.expect(130);
  const adding: Promise<unknown>[] = [];
  const begin = async (): Promise<void> => {
    const slot = await batching.open();
    const name = `file-${String(adding.length)}`;
    const digest = new Uint8Array(createHash("sha256").update(name).digest());
    adding.push(
      slot.add({ kind: "file", vaultId, name }, { bytes: Buffer.from(name), digest }).finally(() => slot.leave()),
    );
  };
  const settle = async (): Promise<void> => {
    for (let at = 0; at < 100; at += 1) await Promise.resolve();
  };
  // The 65th fills the first batch.
  for (let at = 0; at < 65; at += 1) await begin();
  await settle();
  let hasBegun = false;
  const next = begin().then(() => (hasBegun = true));
  await settle();
  expect(hasBegun).toBe(false);
  await new Promise((resolve) => void setTimeout(resolve, 0));
  expect(hasBegun).toBe(true);
  await next;
  await Promise.all(adding);
});

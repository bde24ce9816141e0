import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import "../bulk.ts";
import { uploadFolder } from "../node/folders.ts";
import { openService } from "../test-service.ts";
import type { Middleware } from "../transports.ts";

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
])("%s", async (_, count, expected) => {
  const { client, connect } = await openService();
  const { id: vaultId } = await client.vaults.create({ name: "many", type: "public" });
  const many: number[] = [];
  const names = Array.from({ length: count }, (_, at) => `file-${String(at)}`);
  const outcomes = await connect({ middleware: [counting(many)] }).files.uploadMany(
    names.map((name) => ({ vaultId, name, body: name })),
  );
  expect(outcomes.map(({ result }) => result?.file.name)).toEqual(names);
  const base = makeDirectory();
  const root = join(base, "folder");
  mkdirSync(root);
  for (const name of names) writeFileSync(join(root, name), name);
  const folder: number[] = [];
  const { id: folderId } = await client.folders.create({ vaultId, name: "folder" });
  const options = { vaultId, folderId, journalDirectory: join(base, "journals") };
  const { failed, files } = await uploadFolder(connect({ middleware: [counting(folder)] }), root, options);
  expect({ failed, files: files.length }).toEqual({ failed: [], files: count });
  const falling = (batches: readonly number[]) => batches.toSorted((one, other) => other - one);
  expect({ many: falling(many), folder: falling(folder) }).toEqual({ many: expected, folder: expected });
});

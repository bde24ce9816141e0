import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { uploadFolder } from "../node/folders/index.ts";
import { fileStore } from "../node/store/file-store.ts";
import { openService } from "../connection/service.test-kit.ts";
import type { Middleware } from "../http/transports.ts";

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
  ["the rest of more goes in another one", 130, [100, 30]],
])("a folder's small files: %s", async (_, count, expected) => {
  const { client, connect } = await openService();
  const { id: vaultId } = await client.vaults.create({ name: "many", type: "public" });
  const base = makeDirectory();
  const root = join(base, "folder");
  mkdirSync(root);
  for (let at = 0; at < count; at += 1) writeFileSync(join(root, `file-${String(at)}`), String(at));
  const batches: number[] = [];
  const options = { vaultId, store: fileStore(join(base, "store")) };
  const { failed, files } = await uploadFolder(connect({ middleware: [counting(batches)] }), root, options);
  expect({ failed, files: files.length }).toEqual({ failed: [], files: count });
  expect(batches.toSorted((one, other) => other - one)).toEqual(expected);
});

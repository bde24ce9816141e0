import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { openService } from "../../connection/service.test-kit.ts";
import type { Middleware } from "../../http/transports.ts";
import { fileStore } from "../store/file-store.ts";
import { downloadFolder, uploadFolder } from "./index.ts";

/** More than an answer takes until it is the failure of a file. */
const STEPS = 60;
const CUT_OFF = { status: 400, headers: { "x-error-code": "malformed_request" } };

/** So many turns of the queue that promises use. */
async function passing(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) await Promise.resolve();
}

/** Answers what moves content with a failure, and aborts so many steps later. */
function cuttingOff(controller: AbortController, steps: number): Middleware {
  return async (request, next, { endpointId }) => {
    if (!/^files\.(upload|batch|content)/.test(endpointId)) return next(request);
    void passing(steps).then(() => controller.abort());
    return Response.json({ error: "cut off" }, CUT_OFF);
  };
}

it.each([
  ["upload", uploadFolder, ["aborted", "failed: malformed_request"]],
  // What it began is removed before it ends, so the abort always comes first.
  ["download", downloadFolder, ["aborted"]],
] as const)("a file that fails while the %s is aborted is not counted", async (way, move, ends) => {
  const { client, connect } = await openService();
  const base = makeDirectory();
  const root = join(base, "one");
  mkdirSync(root);
  writeFileSync(join(root, "a.txt"), "one");
  const options = {
    vaultId: (await client.vaults.create({ name: "one", type: "public" })).id,
    store: fileStore(join(base, "store")),
  };
  if (way === "download") await uploadFolder(client, root, options);
  const ended = new Set<string>();
  for (let steps = 0; steps < STEPS; steps += 1) {
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = (): void => expect(signal.aborted).toBe(false);
    const directory = way === "upload" ? root : join(base, `copy-${String(steps)}`);
    const moving = connect({ middleware: [cuttingOff(controller, steps)] });
    const [went] = await Promise.allSettled([move(moving, directory, { ...options, signal, onProgress })]);
    ended.add(went.status === "fulfilled" ? `failed: ${String(went.value.failed[0]?.code)}` : codeOf(went.reason));
  }
  expect([...ended]).toEqual(ends);
});

function codeOf(reason: unknown): string {
  return reason instanceof Error && "code" in reason ? String(reason.code) : String(reason);
}

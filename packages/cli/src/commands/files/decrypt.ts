import { existsSync } from "node:fs";
import { join } from "node:path";
import { foldersOfPerson, openFolder, untrusted } from "@coffer/tasks";
import type { SavedExport } from "@coffer/sdk/node";
import { argument, command, text, toggle } from "../../declarations.ts";
import { exitOfActs } from "../../exit-codes.ts";
import { CommandFailure } from "../../failure.ts";
import { done, type Document } from "../../result.ts";
import { sizeText } from "../../terminal/visible.ts";
import { localPaths } from "./local-paths.ts";

export default command({
  brief: "Decrypt an export into a folder, without the service",
  description:
    "It needs the chain, the key servers and your chain key. A repeat writes what is not there yet. A file that was altered is left out, named, and counts as failed.",
  examples: [{ line: "coffer decrypt team.export team", does: "files and folders under their names" }],
  flags: {
    overwrite: toggle("Replace what exists there"),
    allowUnsigned: toggle("Accept an export that nobody has signed: files may be missing in it"),
    acceptBelowFloor: toggle("Accept an export that is older than the last coffer vaults rotate VAULT"),
    object: text("Id of the vault's chain object; an export of another vault is refused", { placeholder: "0x…" }),
  },
  args: [
    argument("export", "Folder that coffer export made"),
    argument("dest", "Folder of this machine, made if missing"),
  ] as const,
  run: async (context, { acceptBelowFloor, allowUnsigned, object, overwrite }, [exportFolder, dest]) => {
    const { paths } = localPaths(context.world, [exportFolder, dest]);
    const [from = exportFolder, to = dest] = paths;
    await requireExport(from);
    const { openExport, openSharedVaults, saveExport } = await import("@coffer/sdk/node");
    const shared = await openSharedVaults(await context.settings());
    if (shared === null) throw new CommandFailure("shared_vault", {});
    context.redaction.register((await context.settings()).chainPrivateKey?.reveal());
    const { network, signer } = shared;
    const opened = await openExport(from, {
      network,
      signer,
      allowUnsigned,
      acceptBelowFloor,
      ...(object === undefined ? {} : { vaultObjectId: object }),
    });
    const line = context.progress("Decrypting");
    try {
      const saved = await saveExport(opened, to, {
        overwrite,
        signal: context.signal,
        onProgress: ({ bytes, totalBytes, files, totalFiles }) => {
          Object.assign(context.transferCount, { files, totalFiles });
          line.update(bytes, totalBytes, `${String(files)}/${String(totalFiles)}`);
        },
      });
      return reportOf(saved, opened);
    } finally {
      line.end();
      opened.close();
    }
  },
});

async function requireExport(path: string): Promise<void> {
  await using folder = await openFolder(foldersOfPerson([path], {}), path);
  const isExport = folder !== null && existsSync(join(folder.way, "manifest.json"));
  if (isExport) return;
  const name = untrusted(path).visible();
  throw new CommandFailure("file_not_found", {
    message: folder === null ? `There is no such folder: ${name}` : `There is no finished export in ${name}`,
    nextStep: "name the folder that coffer export made",
  });
}

function reportOf(
  { failed, files, trashed, unchanged }: SavedExport,
  {
    createdAt,
    exportedBy,
    exporterIsMember,
    vaultId,
  }: {
    readonly createdAt: number;
    readonly exportedBy: string | null;
    readonly exporterIsMember: boolean | null;
    readonly vaultId: string;
  },
): Document {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const exportedAt = new Date(createdAt).toISOString();
  return done(
    {
      vaultId,
      exportedBy,
      exporterIsMember,
      createdAt: exportedAt,
      decrypted: files.length,
      unchanged: unchanged.length,
      failed: failed.length,
      trashed,
      bytes,
      files,
      failures: failed,
    },
    [
      ...failed.map(({ message, path }) => untrusted(`failed: ${path}: ${message}`)),
      `Decrypted ${String(files.length)} files (${sizeText(bytes)}), unchanged ${String(unchanged.length)}, failed ${String(failed.length)}`,
      ...(trashed === 0 ? [] : [`Left out: ${String(trashed)} files that were in the trash`]),
      exportedBy === null
        ? "Nobody has signed that the export is whole"
        : `exported ${exportedAt} by ${exportedBy}${exporterIsMember === true ? "" : " (not a member now)"}`,
    ],
    { exit: exitOfActs(failed.length) },
  );
}

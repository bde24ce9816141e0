import { stat } from "node:fs/promises";
import { findVault, untrusted } from "@coffer/tasks";
import { argument, command, toggle } from "../../declarations.ts";
import { CommandFailure } from "../../failure.ts";
import { done } from "../../result.ts";
import { sizeText } from "../../terminal/visible.ts";
import { localPaths } from "./local-paths.ts";

export default command({
  brief: "Copy a shared vault out, encrypted, to open without the service",
  description:
    "It says how much there is, and leaves out the trash. A repeat brings the folder up to date. coffer decrypt opens it with your chain key and the key servers alone.",
  examples: [{ line: 'coffer export "Team" team.export', does: "everything that the vault holds now" }],
  flags: { trash: toggle("Also what lies in the trash. coffer decrypt leaves it out; the SDK reads it") },
  args: [
    argument("vault", "Name or id of the vault"),
    argument("dest", "Folder of this machine for this export alone; made if missing"),
  ] as const,
  run: async (context, { trash }, [vaultText, dest]) => {
    const { signal, task } = context;
    const vault = await findVault(task, vaultText.replace(/:$/, ""));
    if (vault.type === "public")
      throw new CommandFailure("public_vault", {
        message: "The vault is public: its files are not encrypted",
        nextStep: `coffer download ${vault.id}: FOLDER`,
        isUsage: true,
      });
    const { paths } = localPaths(context.world, [dest]);
    const destination = await stat(paths[0] ?? dest).catch(() => null);
    if (destination !== null && !destination.isDirectory())
      throw new CommandFailure("not_a_file", {
        message: "The destination is no folder",
        nextStep: "name another destination",
      });
    const { exportVault } = await import("@coffer/sdk/node");
    const line = context.progress("Exporting");
    let isSaid = false;
    try {
      const result = await exportVault(await context.client(), vault.id, paths[0] ?? dest, {
        signal,
        trash,
        onProgress: ({ bytes, files, totalBytes, totalFiles }) => {
          if (!isSaid) context.printNote(sizeLine(totalFiles, totalBytes, trash));
          isSaid = true;
          line.update(bytes, totalBytes, `${String(files)}/${String(totalFiles)}`);
        },
      });
      const { files, folders, signedBy, totalBytes, trashed } = result;
      return done({ vaultId: vault.id, path: paths[0], ...result }, [
        untrusted(
          `Exported ${vault.name}: ${String(files - trashed)} files, ${String(folders)} folders (${sizeText(totalBytes)})`,
        ),
        ...(trashed === 0 ? [] : [`and ${String(trashed)} files of the trash, which coffer decrypt leaves out`]),
        signedBy === null ? "Nobody signed it: open it with --allow-unsigned" : `signed by ${signedBy}`,
      ]);
    } finally {
      line.end();
    }
  },
});

const sizeLine = (files: number, bytes: number, trash: boolean): string =>
  `Exporting ${String(files)} files, ${sizeText(bytes)}${trash ? ", with the trash" : "; the trash stays out (--trash)"}`;

import { downloadOne, untrusted } from "@coffer/tasks";
import { argument, command, optionalArgument, toggle } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { sizeText } from "../../../terminal/visible.ts";
import { localPaths } from "../local-paths.ts";
import { fileAt, VAULT } from "../vault-paths.ts";
import { withProgress } from "../transfer-report.ts";
import { findVersionOf } from "./find-version.ts";

export default command({
  brief: "Download a version of a file",
  examples: [{ line: "coffer versions get Team:report.pdf 2 yesterday.pdf", does: "the second version" }],
  flags: { vault: VAULT, overwrite: toggle("Replace what exists here") },
  args: [
    argument("file", "VAULT:PATH or an id"),
    argument("version", "Number or id of the version"),
    optionalArgument("dest", "File or folder of this machine; the current folder without it"),
  ] as const,
  run: async (context, { overwrite, vault }, [fileText, version, dest = "."]) => {
    const { allowed, paths } = localPaths(context.world, [dest]);
    const file = await fileAt(context.task, fileText, vault);
    const versionId = await findVersionOf(context, file, version);
    const plan = { dest: paths[0] ?? dest, overwrite, skips: false, versionId, range: null, ciphertext: false };
    const { bytes, path, sha256 } = await withProgress(context, "Downloading", (task) =>
      downloadOne(task, allowed, file, plan),
    );
    return done({ path, bytes, sha256, fileId: file.id, versionId }, [
      untrusted(`Downloaded ${path} (${sizeText(bytes)})`),
      `sha256  ${sha256}`,
    ]);
  },
});

import { argument, command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { fileRow } from "../item-rows.ts";
import { fileAt, VAULT } from "../vault-paths.ts";
import { findVersionOf } from "./find-version.ts";

export default command({
  brief: "Make a version of a file its newest content again",
  description:
    "The content of now stays as a version, like every replaced one for as long as the vault keeps them (30 days).",
  examples: [{ line: "coffer versions restore Team:report.pdf 2", does: "the second version" }],
  flags: { vault: VAULT },
  args: [argument("file", "VAULT:PATH or an id"), argument("version", "Number or id of the version")] as const,
  run: async (context, { vault }, [fileText, version]) => {
    const { client, signal, task } = context;
    const file = await fileAt(task, fileText, vault);
    const versionId = await findVersionOf(context, file, version);
    const { files } = await client();
    const restored = await files.restoreVersion(file.id, versionId, {
      vaultId: file.vaultId,
      ifMatch: file.tag,
      signal,
    });
    const isSame = restored.versionId === file.versionId;
    return done({ file: fileRow(restored), restored: !isSame }, [
      isSame ? "The file has this content already" : `Restored: the newest version is ${restored.versionId}`,
    ]);
  },
});

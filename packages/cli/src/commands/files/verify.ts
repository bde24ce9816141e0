import { digestLocal, openSource, verifyFile, type Verification } from "@coffer/tasks";
import { argument, command, optionalArgument } from "../../declarations.ts";
import { exitOfVerdict } from "../../exit-codes.ts";
import { done, type Document } from "../../result.ts";
import { localPaths } from "./local-paths.ts";
import { fileAt, VAULT } from "./vault-paths.ts";
import { withProgress } from "./transfer-report.ts";

export default command({
  brief: "Check that a stored file is intact, and equal to a local one",
  description:
    "It reads all of the stored bytes. It exits with 1 when they are damaged, or when the local file differs.",
  examples: [
    { line: 'coffer verify "Team:report.pdf"', does: "intact?" },
    { line: "coffer verify Team:report.pdf report.pdf", does: "the same as this one?" },
  ],
  flags: { vault: VAULT },
  args: [
    argument("file", "VAULT:PATH or an id"),
    optionalArgument("path", "File of this machine to compare with"),
  ] as const,
  run: async (context, { vault }, [fileText, path]) => {
    const file = await fileAt(context.task, fileText, vault);
    const { allowed, paths } = localPaths(context.world, path === undefined ? [] : [path]);
    const [localPath] = paths;
    return await withProgress(context, "Verifying", async (task) => {
      await using source = localPath === undefined ? null : await openSource(allowed, localPath);
      const local = source === null ? null : await digestLocal(task, source);
      return reportOf(file.id, file.size, await verifyFile(task, file, local));
    });
  },
});

function reportOf(fileId: string, bytes: number, { equal, intact, local, sha256, stored }: Verification): Document {
  const sentence = !intact
    ? "DAMAGED: the stored bytes are not what was written"
    : equal === null
      ? "Intact"
      : equal
        ? "Intact, and equal to the local file"
        : "Intact, but the local file DIFFERS";
  return done(
    { fileId, intact, equal, bytes, sha256, stored: { bytes: stored.bytes, sha256: stored.sha256 }, local },
    [sentence, ...(sha256 === null ? [] : [`sha256  ${sha256}`])],
    { exit: exitOfVerdict(intact && equal !== false) },
  );
}

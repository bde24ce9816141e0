import { editText, segmentsOf, untrusted, type EditPlan, type Task } from "@coffer/tasks";
import { argument, command, text } from "../../declarations.ts";
import { usage } from "../../failure.ts";
import { done } from "../../result.ts";
import { sizeText } from "../../terminal/visible.ts";
import { plain } from "./item-rows.ts";
import { fileAt, resolveVaultPath, VAULT } from "./vault-paths.ts";

/** What one line adds: it is held in memory. */
const MOST_BYTES = 16 * 2 ** 20;

export default command({
  brief: "Append text to the end of a file",
  description:
    "Takes standard input, or --text with a line end. A missing file is made. Where somebody else changes the file meanwhile, the text goes to the end of their version: of several writers nothing is lost. The file has at most 16 MiB.",
  examples: [
    { line: 'coffer append Team:log.txt --text "backup done"', does: "a line" },
    { line: "coffer append Team:log.txt < dump.sql", does: "what a file holds, or a program writes" },
  ],
  flags: {
    vault: VAULT,
    text: text("The line to append; standard input without it", { placeholder: "TEXT" }),
    expectedVersion: text("Only append to a file that still has this version or tag, as coffer stat shows it", {
      placeholder: "VERSION",
    }),
  },
  args: [argument("file", "VAULT:PATH or an id")] as const,
  run: async (context, { expectedVersion, text: line, vault }, [fileText]) => {
    const { task, world, signal } = context;
    const plan = { ...(await placeOf(task, fileText, vault)), expectedVersion };
    const added = line === undefined ? await readText(world.stdin.pieces(signal)) : `${line}\n`;
    const { act, bytes, file, sha256 } = await editText(task, plan, { append: added });
    return done(
      {
        act: act === "created" ? act : "appended",
        appended: Buffer.byteLength(added),
        bytes,
        sha256,
        file: plain(file),
      },
      [
        untrusted(`${act === "created" ? "Created" : "Appended to"} ${file.name} (${sizeText(bytes)})`),
        `id      ${file.id}`,
        `sha256  ${sha256 ?? ""}`,
      ],
    );
  },
});

/** A path may name a file that is not there yet. */
async function placeOf(task: Task, fileText: string, vault: string | undefined): Promise<EditPlan> {
  const { path, vaultId } = await resolveVaultPath(task, fileText, vault);
  if (vaultId === null) {
    const file = await fileAt(task, fileText, vault);
    return { vaultId: file.vaultId, folder: file.folderId, name: file.name };
  }
  const names = segmentsOf(path);
  const name = names.pop();
  if (name === undefined) throw usage("The line names a vault, and no file in it", "coffer append VAULT:PATH");
  return { vaultId, folder: null, below: names, name };
}

async function readText(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let bytes = 0;
  let read = "";
  try {
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > MOST_BYTES) break;
      read += decoder.decode(piece, { stream: true });
    }
    if (bytes <= MOST_BYTES) return read + decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw usage("Standard input is no text in UTF-8", "coffer upload --stdin --name NAME stores any bytes");
  }
  throw usage("Standard input has more than 16 MiB", "coffer upload --stdin --name NAME stores any size");
}

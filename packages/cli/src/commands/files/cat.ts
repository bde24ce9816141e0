import { untrustedText } from "@coffer/tasks";
import { argument, command, text, toggle } from "../../declarations.ts";
import { CommandFailure, usage } from "../../failure.ts";
import { written } from "../../result.ts";
import { findVersionOf } from "./versions/find-version.ts";
import { fileAt, VAULT } from "./vault-paths.ts";
import { RANGE } from "./range-flag.ts";

export default command({
  brief: "Write the content of a file to standard output",
  description:
    "To a pipe or a file go the very bytes. On a terminal text is shown, with control characters spelled out.",
  examples: [
    { line: 'coffer cat "Team:notes.txt"', does: "on the terminal" },
    { line: "coffer cat Backups:dump.sql.gz | gunzip", does: "into a program" },
  ],
  flags: {
    vault: VAULT,
    range: RANGE,
    version: text("Version: its number or its id", { placeholder: "VERSION" }),
    force: toggle("Write the very bytes to a terminal, whatever they are"),
  },
  args: [argument("file", "VAULT:PATH or an id")] as const,
  run: async (context, { force, range, vault, version }, [fileText]) => {
    if (context.globals.json) throw usage("cat writes bytes, and no JSON", "coffer download --json FILE");
    const file = await fileAt(context.task, fileText, vault);
    const versionId = version === undefined ? {} : { versionId: await findVersionOf(context, file, version) };
    const client = await context.client();
    const { signal } = context;
    const rangeOption = range === undefined ? {} : { range: range.of(file.size) };
    const { stream } = await client.files.download(file.id, { signal, ...rangeOption, ...versionId });
    const { stdout } = context.world;
    const terminalText = stdout.isTerminal && !force ? readableText() : null;
    for await (const piece of stream) await stdout.write(terminalText === null ? piece : terminalText(piece));
    if (terminalText !== null) await stdout.write(terminalText(null));
    return written();
  },
});

/** Text for a terminal. Bytes that are no text end it: they could order the terminal about. null: the end. */
function readableText(): (piece: Uint8Array | null) => string {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return (piece) => {
    try {
      const text = piece === null ? decoder.decode() : decoder.decode(piece, { stream: true });
      if (!text.includes("\0")) return untrustedText(text).visible();
    } catch {
      // It fails as bytes with a NUL do.
    }
    throw new CommandFailure("not_text", {
      message: "This is no text, and a terminal may take its bytes for orders",
      nextStep: "pass --force to write it all the same, or send it to a file: coffer cat FILE > COPY",
    });
  };
}

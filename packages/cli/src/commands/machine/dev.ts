import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { command, count, text, toggle } from "../../declarations.ts";
import { exitOfProgram } from "../../exit-codes.ts";
import { CommandFailure } from "../../failure.ts";
import { written } from "../../result.ts";
import { shellWord } from "../../shell-word.ts";
import type { World } from "../../world.ts";

const START = join("dev", "devstack", "src", "start.ts");

export default command({
  brief: "Start the whole stack of a clone: service, local chain, key servers",
  description: "The same as npm start: it runs the main job once, prints what to paste, and stays up until Ctrl-C.",
  examples: [{ line: "coffer dev --port 8787", does: "inside a clone of the repository" }],
  flags: {
    port: count(
      "Port of the service; without it that of the data, and for new data 8787 or the next free one. 0 takes any",
      0,
    ),
    data: text("Directory for everything that is kept; .coffer in the clone without it", { placeholder: "DIR" }),
    folder: text("Folder whose files the main job moves", { placeholder: "DIR" }),
    once: toggle("End after the main job"),
  },
  run: async ({ world, globals }, { port, data, folder, once }) => {
    const clone = requireClone(world);
    const at = (directory: string): string => resolve(world.workingDirectory, directory);
    const own = join(clone, "node_modules", ".bin", "node");
    const code = await world.run({
      command: existsSync(own) ? own : world.self.command,
      args: [
        ...["--conditions=coffer-source", join(clone, START)],
        ...(port === undefined ? [] : ["--port", String(port)]),
        ...(data === undefined ? [] : ["--data", at(data)]),
        ...(folder === undefined ? [] : ["--folder", at(folder)]),
        ...(once ? ["--once"] : []),
        ...(globals.json ? ["--json"] : []),
      ],
      cwd: clone,
    });
    return written(exitOfProgram(code));
  },
});

/** The clone that the person is in. Another one is named, and not started: its stack keeps what it holds in it. */
function requireClone({ workingDirectory, self }: World): string {
  const clone = cloneAround(workingDirectory);
  if (clone !== null) return clone;
  const own = cloneAround(dirname(self.args.at(-1) ?? ""));
  throw new CommandFailure("not_found", {
    message: "The development stack is part of the repository, and this folder is in no clone of it",
    nextStep:
      own === null
        ? "clone the repository of Coffer and run npm start in it; a service of others needs coffer login"
        : `cd ${shellWord(own)} && npm start, or clone the repository of Coffer again`,
  });
}

function cloneAround(directory: string): string | null {
  for (let at = directory; ; at = dirname(at)) {
    if (isClone(at)) return at;
    if (at === dirname(at)) return null;
  }
}

function isClone(directory: string): boolean {
  if (!existsSync(join(directory, START))) return false;
  const { name } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { name?: string };
  return name === "coffer";
}

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { command, count, text, toggle } from "../../declarations.ts";
import { EXIT } from "../../exit-codes.ts";
import { CommandFailure } from "../../failure.ts";
import { written } from "../../result.ts";
import type { World } from "../../world.ts";

const START = join("packages", "devstack", "src", "start.ts");

export default command({
  brief: "Start the whole stack of a clone: service, local chain, key servers",
  description: "The same as npm start: it runs the main job once, prints what to paste, and stays up until Ctrl-C.",
  examples: [{ line: "coffer dev --port 8787", does: "inside a clone of the repository" }],
  flags: {
    port: count("Port of the service; 8787, or the next free one, without it. 0 takes any", 0),
    data: text("Directory for everything that is kept; .coffer in the clone without it", { placeholder: "DIR" }),
    folder: text("Folder whose files the main job moves", { placeholder: "DIR" }),
    once: toggle("End after the main job"),
  },
  run: async ({ world, globals }, { port, data, folder, once }) => {
    const clone = findClone(world);
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
    return written(Object.values(EXIT).find((each) => each === code) ?? EXIT.failed);
  },
});

/** The clone that the person is in, else the one that this program is part of. */
function findClone({ workingDirectory, self }: World): string {
  for (const from of [workingDirectory, dirname(self.args.at(-1) ?? "")])
    for (let at = from; ; at = dirname(at)) {
      if (isClone(at)) return at;
      if (at === dirname(at)) break;
    }
  throw new CommandFailure("not_found", {
    message: "The development stack is part of the repository, and this is no clone of it",
    nextStep: "clone the repository of Coffer and run npm start in it; a service of others needs coffer login",
  });
}

function isClone(directory: string): boolean {
  if (!existsSync(join(directory, START))) return false;
  const { name } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { name?: string };
  return name === "coffer";
}

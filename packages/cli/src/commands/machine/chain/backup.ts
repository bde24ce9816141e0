import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { requireChainKey } from "../../../chain-keys.ts";
import { command, optionalArgument, toggle } from "../../../declarations.ts";
import { CommandFailure, usage } from "../../../failure.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Copy the chain key to a file, or show it on a terminal",
  description: "The key opens the vaults of its address. Without a backup, a lost key is lost for good.",
  examples: [
    { line: "coffer chain backup /media/usb/coffer-key.txt", does: "a new file that only you can read" },
    { line: "coffer chain backup --reveal", does: "only on a terminal" },
  ],
  flags: { reveal: toggle("Show the key") },
  args: [optionalArgument("file", "A file that is not there yet")] as const,
  run: async (context, { reveal }, [file]) => {
    if (reveal === (file !== undefined)) throw usage("Name a file, or pass --reveal", "coffer chain backup FILE");
    const { privateKey, signer } = await requireChainKey(context);
    const { chainAddress } = signer;
    if (file === undefined) {
      if (!context.world.stdout.isTerminal || context.globals.json)
        throw new CommandFailure("reveal_refused", {
          message: "The key is shown on a terminal alone",
          nextStep: "coffer chain backup FILE",
        });
      return done({ chainAddress }, [privateKey.reveal()], { reveals: [privateKey.reveal()] });
    }
    const path = resolve(context.world.workingDirectory, file);
    const handle = await open(path, "wx", 0o600);
    try {
      await handle.writeFile(`${privateKey.reveal()}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return done({ chainAddress, file: path }, [
      `The key of ${chainAddress} is in ${path}. Keep it where nobody else reads it.`,
    ]);
  },
});

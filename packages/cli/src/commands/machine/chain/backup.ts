import { untrusted } from "@coffer/tasks";
import { open } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { requireChainKey } from "../../../chain-keys.ts";
import type { Context } from "../../../context.ts";
import { command, optionalArgument, toggle } from "../../../declarations.ts";
import { CommandFailure, usage } from "../../../failure.ts";
import { done, type Printable } from "../../../result.ts";
import { shellWord } from "../../../shell-word.ts";

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
      ...(await secondMachine(context, path)),
    ]);
  },
});

/** What this account's second machine runs: with the same key it opens the same vaults. */
async function secondMachine(context: Context, keyFile: string): Promise<Printable[]> {
  const { apiKey, baseUrl, networkFile } = await context.settings();
  if (baseUrl === null) return [];
  const line = (...words: string[]): string => `  coffer ${words.map(shellWord).join(" ")}`;
  const files = [keyFile, ...(networkFile === null ? [] : [networkFile])];
  const network = networkFile === null ? [] : ["--network-file", basename(networkFile)];
  const way = apiKey === null ? [] : ["--api-key-stdin"];
  return [
    `On a second machine, in a folder with ${files.length === 1 ? "a copy of it" : `copies of it and of ${networkFile ?? ""}`}:`,
    // With the name of the program there.
    untrusted(line("login", ...way, "--base-url", baseUrl, ...network)),
    untrusted(`${line("chain", "import", "--stdin")} < ${shellWord(basename(keyFile))}`),
    ...(apiKey === null ? [] : ["It asks for an API key: coffer api-keys create --name NAME makes one."]),
  ];
}

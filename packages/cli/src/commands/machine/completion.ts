import { argument, command } from "../../declarations.ts";
import { SCRIPTS } from "../../completion/scripts.ts";
import { usage } from "../../failure.ts";
import { done } from "../../result.ts";

const SHELLS = Object.keys(SCRIPTS);

export default command({
  brief: "Print the completion for a shell",
  description: `Shells: ${SHELLS.join(", ")}.`,
  examples: [
    { line: "coffer completion bash >> ~/.bashrc", does: "bash" },
    { line: "coffer completion zsh > ~/.zfunc/_coffer", does: "zsh, with ~/.zfunc in fpath" },
    { line: "coffer completion fish > ~/.config/fish/completions/coffer.fish", does: "fish" },
    { line: "coffer completion powershell >> $PROFILE", does: "PowerShell" },
  ],
  args: [argument("shell", SHELLS.join(", "), () => SHELLS)] as const,
  run: async (_context, _flags, [shell]) => {
    const script = SCRIPTS[shell];
    if (script === undefined)
      throw usage(`There is no completion for ${shell}`, `coffer completion ${SHELLS.join(", or ")}`);
    return done({ shell, script }, [script.trimEnd()]);
  },
});

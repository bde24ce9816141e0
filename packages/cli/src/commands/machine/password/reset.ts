import { command, optionalArgument, toggle } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { reachableProfile, readNewPassword, readSecret, anonymousClient } from "../../../profile-credentials.ts";

const TITLES = ["Token of the mail", "New password"] as const;

export default command({
  brief: "Set a new password with the token of a mail",
  description: "Every session ends.",
  examples: [
    { line: "coffer password reset", does: "asks for the token and the password" },
    { line: "coffer password reset --stdin < two-lines.txt", does: "the token, then the password" },
  ],
  flags: { stdin: toggle("Read token and password from two lines of standard input") },
  args: [optionalArgument("token", "Token of the mail; others can see it in the list of processes")] as const,
  run: async (context, { stdin }, [tokenText]) => {
    const selected = await reachableProfile(context);
    const lines = stdin
      ? (await context.readInput(...TITLES.slice(tokenText === undefined ? 0 : 1)))
          .split(/\r?\n/)
          .filter((line) => line !== "")
      : [];
    if (stdin && lines.length + (tokenText === undefined ? 0 : 1) !== 2)
      throw usage("Standard input needs the token and the password", "coffer password reset --help");
    const token = tokenText ?? lines[0] ?? (await readSecret(context, false, TITLES[0], "--stdin"));
    const newPassword = lines.at(-1) ?? (await readNewPassword(context, false, "--stdin"));
    for (const secret of [token, newPassword]) context.redaction.register(secret);
    const { message } = await (
      await anonymousClient(selected)
    ).auth.resetPassword({ token, newPassword }, { signal: context.signal });
    return done({ message }, [message, "Next: coffer login --email EMAIL"]);
  },
});

import { command, toggle } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { readNewPassword, readSecret } from "../../../profile-credentials.ts";

export default command({
  brief: "Change the password of the account",
  description: "Every other session ends.",
  examples: [
    { line: "coffer password change", does: "asks for both" },
    { line: "coffer password change --stdin < two-lines.txt", does: "the present one, then the new one" },
  ],
  flags: { stdin: toggle("Read the present and the new password from two lines of standard input") },
  run: async (context, { stdin }) => {
    const client = await context.client();
    const [currentPassword, newPassword] = stdin ? await readPasswords() : await askPasswords();
    await client.auth.changePassword({ currentPassword, newPassword }, { signal: context.signal });
    return done({ changed: true }, ["The password is changed. Other sessions have ended."]);

    async function askPasswords(): Promise<[string, string]> {
      const present = await readSecret(context, false, "Present password", "--stdin");
      return [present, await readNewPassword(context, false, "--stdin")];
    }

    async function readPasswords(): Promise<[string, string]> {
      const [present = "", next = ""] = (await context.readInput("Present password", "New password")).split(/\r?\n/);
      for (const each of [present, next]) context.redaction.register(each);
      if (present === "" || next === "")
        throw usage("Standard input needs two lines", "the present password, then the new one");
      return [present, next];
    }
  },
});

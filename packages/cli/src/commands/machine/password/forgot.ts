import { argument, command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { reachableProfile, anonymousClient } from "../../../profile-credentials.ts";

export default command({
  brief: "Ask for a mail with a link to a new password",
  examples: [{ line: "coffer password forgot me@example.com", does: "the answer is the same for every address" }],
  args: [argument("email", "E-mail address of the account")] as const,
  run: async (context, _flags, [email]) => {
    const { message } = await (
      await anonymousClient(await reachableProfile(context))
    ).auth.forgotPassword(email, { signal: context.signal });
    return done({ message }, [message, "Next: coffer password reset, with the token of the mail"]);
  },
});

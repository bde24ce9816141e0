import { command, optionalArgument } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { reachableProfile, anonymousClient } from "../../../profile-credentials.ts";

export default command({
  brief: "Ask for another mail to confirm the address",
  examples: [{ line: "coffer email resend me@example.com", does: "the former token ends" }],
  args: [optionalArgument("email", "Default: that of the account")] as const,
  run: async (context, _flags, [emailText]) => {
    const { signal } = context;
    const email = emailText ?? (await (await context.client()).account.get({ signal })).account.email;
    const { message } = await (
      await anonymousClient(await reachableProfile(context))
    ).auth.resendVerification(email, { signal });
    return done({ message }, [message, "Next: coffer email verify TOKEN"]);
  },
});

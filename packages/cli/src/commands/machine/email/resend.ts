import { command, optionalArgument } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { reachableProfile, visitor } from "../../../profile-credentials.ts";

export default command({
  brief: "Ask for another mail to confirm the address",
  examples: [{ line: "coffer email resend me@example.com", does: "the former token ends" }],
  args: [optionalArgument("email", "Default: that of the account")] as const,
  run: async (context, _flags, [given]) => {
    const { signal } = context;
    const email = given ?? (await (await context.client()).account.get({ signal })).account.email;
    const { message } = await (
      await visitor(await reachableProfile(context))
    ).auth.resendVerification(email, { signal });
    return done({ message }, [message, "Next: coffer email verify TOKEN"]);
  },
});

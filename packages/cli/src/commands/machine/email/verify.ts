import { argument, command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { reachableProfile, anonymousClient } from "../../../profile-credentials.ts";

export default command({
  brief: "Confirm the e-mail address with the token of a mail",
  examples: [{ line: "coffer email verify TOKEN", does: "once" }],
  args: [argument("token", "Token of the mail")] as const,
  run: async (context, _flags, [token]) => {
    const { message } = await (
      await anonymousClient(await reachableProfile(context))
    ).auth.verifyEmail(token, { signal: context.signal });
    return done({ message }, [message]);
  },
});

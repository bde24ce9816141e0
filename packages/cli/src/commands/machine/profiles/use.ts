import { argument, command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { setDefaultProfile } from "../../../default-profile.ts";

export default command({
  brief: "Make a profile the default one",
  examples: [{ line: "coffer profiles use work", does: "until another is used" }],
  args: [argument("name", "Name of the profile")] as const,
  run: async (context, _flags, [name]) => {
    await setDefaultProfile(context, name);
    return done({ defaultProfile: name }, [`The default profile is ${name}.`]);
  },
});

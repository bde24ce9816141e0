import { command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { selectedProfile } from "../../../profile-credentials.ts";

export default command({
  brief: "Print the path of the configuration",
  examples: [{ line: "coffer config path", does: "the file need not exist" }],
  run: async (context) => {
    const { configFile } = await selectedProfile(context);
    return done({ path: configFile }, [configFile]);
  },
});

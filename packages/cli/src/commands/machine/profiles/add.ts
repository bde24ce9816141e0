import { findProfile, saveProfile } from "@coffer/tasks";
import { argument, command, text } from "../../../declarations.ts";
import { CommandFailure, usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { networkFileAt } from "../../../profile-credentials.ts";

export default command({
  brief: "Add a profile for a service",
  examples: [
    {
      line: "coffer profiles add work --base-url https://coffer.example.com",
      does: "then sign in with --profile work",
    },
  ],
  flags: {
    networkFile: text("File of the operator that names chain and key servers; shared vaults need it", {
      placeholder: "FILE",
    }),
  },
  args: [argument("name", "Letters, digits, dots, dashes and underscores, with no dash first")] as const,
  run: async (context, { networkFile: network }, [name]) => {
    const { world, globals } = context;
    if (!/^[\w.][\w.-]{0,63}$/.test(name))
      throw usage(`${name} is no name for a profile`, "coffer profiles add --help");
    const selected = await findProfile({ env: world.env, profile: name, baseUrl: globals.baseUrl });
    if (selected.stored !== null)
      throw new CommandFailure("name_exists", {
        message: `There is a profile ${name}`,
        nextStep: "coffer profiles list",
      });
    if (selected.baseUrl === null) throw usage("The address of the service is missing", "pass --base-url URL");
    await saveProfile(selected, network === undefined ? {} : { networkFile: networkFileAt(context, network) });
    return done({ profile: name, baseUrl: selected.baseUrl, configFile: selected.configFile }, [
      `Added the profile ${name} for ${selected.baseUrl}.`,
      `Next: coffer login --profile ${name}`,
    ]);
  },
});

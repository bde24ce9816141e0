import { FIELDS, SECRETS, secretState } from "../../../config-fields.ts";
import { argument, command } from "../../../declarations.ts";
import { CommandFailure, usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { selectedProfile } from "../../../profile-credentials.ts";

export default command({
  brief: "Print one value of the configuration",
  description: "It says of a secret only whether it is set.",
  examples: [{ line: "coffer config get base-url", does: "the service of the profile" }],
  args: [argument("name", [...FIELDS, ...SECRETS].join(", "), () => [...FIELDS, ...SECRETS])] as const,
  run: async (context, _flags, [name]) => {
    const { stored, profile } = await selectedProfile(context);
    const { readConfig } = await import("@coffer/sdk/node");
    const values: Readonly<Record<string, string | null>> = {
      "base-url": stored?.baseUrl ?? null,
      "network-file": stored?.networkFile ?? null,
      "content-origins": stored?.contentOrigins?.join(" ") ?? null,
      "install-line": stored?.installLine ?? null,
      "default-profile": (await readConfig((await selectedProfile(context)).configFile))?.defaultProfile ?? null,
      "key-store": stored?.keyStore ?? null,
      ...secretState(stored),
    };
    if (!Object.hasOwn(values, name)) throw usage(`There is no value ${name}`, "coffer config get --help");
    const value = values[name] ?? null;
    if (value === null)
      throw new CommandFailure("not_found", {
        message: `${name} is not set in profile ${profile}`,
        nextStep: FIELDS.some((field) => field === name) ? `coffer config set ${name} VALUE` : "coffer login",
      });
    return done({ name, value }, [value]);
  },
});

import { secretState } from "../../../config-fields.ts";
import { command } from "../../../declarations.ts";
import { listing } from "../../../result.ts";
import { selectedProfile } from "../../../profile-credentials.ts";

export default command({
  brief: "List the values of the profile, but no secrets",
  examples: [{ line: "coffer config list --profile work", does: "of another profile" }],
  isList: true,
  run: async (context) => {
    const { stored, profile, configFile } = await selectedProfile(context);
    const values = {
      profile,
      "base-url": stored?.baseUrl ?? null,
      "network-file": stored?.networkFile ?? null,
      "content-origins": stored?.contentOrigins?.join(" ") ?? null,
      "install-line": stored?.installLine ?? null,
      "key-store": stored?.keyStore ?? null,
      ...secretState(stored),
    };
    const items = Object.entries(values).map(([name, value]) => ({ name, value }));
    return listing({
      name: "values",
      items,
      otherFields: { configFile },
      empty: "",
      columns: [
        { title: "name", of: ({ name }) => name },
        { title: "value", of: ({ value }) => value ?? "-" },
      ],
    });
  },
});

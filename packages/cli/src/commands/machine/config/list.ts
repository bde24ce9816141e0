import { secretState } from "../../../config-fields.ts";
import { command } from "../../../declarations.ts";
import { listing } from "../../../result.ts";
import { profileOf } from "../../../profile-credentials.ts";

export default command({
  brief: "List the values of the profile, but no secrets",
  examples: [{ line: "coffer config list --profile work", does: "of another profile" }],
  isList: true,
  run: async (context) => {
    const { former, profile, configFile } = await profileOf(context);
    const values = {
      profile,
      "base-url": former?.baseUrl ?? null,
      "network-file": former?.networkFile ?? null,
      "content-origins": former?.contentOrigins?.join(" ") ?? null,
      "install-line": former?.installLine ?? null,
      "key-store": former?.keyStore ?? null,
      ...secretState(former),
    };
    const items = Object.entries(values).map(([name, value]) => ({ name, value }));
    return listing({
      name: "values",
      items,
      rest: { configFile },
      empty: "",
      columns: [
        { title: "name", of: ({ name }) => name },
        { title: "value", of: ({ value }) => value ?? "-" },
      ],
    });
  },
});

import { secretState } from "../../../config-fields.ts";
import { command } from "../../../declarations.ts";
import { listing } from "../../../result.ts";
import { selectedProfile } from "../../../profile-credentials.ts";

export default command({
  brief: "List the profiles of this machine",
  examples: [{ line: "coffer profiles list", does: "the default one has a star" }],
  isList: true,
  run: async (context) => {
    const { readConfig } = await import("@coffer/sdk/node");
    const { configFile } = await selectedProfile(context);
    const config = await readConfig(configFile);
    const items = Object.entries(config?.profiles ?? {}).map(([name, profile]) => {
      const state = secretState(profile);
      const signedInBy = state["api-key"] !== null ? "api-key" : state.session !== null ? "session" : null;
      return {
        name,
        isDefault: name === config?.defaultProfile,
        baseUrl: profile.baseUrl,
        signedInBy,
        hasChainKey: state["chain-key"] !== null,
      };
    });
    return listing({
      name: "profiles",
      items,
      otherFields: { configFile },
      empty: "There are no profiles. Next: coffer login",
      columns: [
        { title: "", of: ({ isDefault }) => (isDefault ? "*" : "") },
        { title: "name", of: ({ name }) => name },
        { title: "service", of: ({ baseUrl }) => baseUrl },
        { title: "signed in by", of: ({ signedInBy }) => signedInBy ?? "-" },
        { title: "chain key", of: ({ hasChainKey }) => (hasChainKey ? "yes" : "-") },
      ],
    });
  },
});

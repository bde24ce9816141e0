import { toFailure } from "@coffer/tasks";
import { argument, command, toggle } from "../../../declarations.ts";
import { CommandFailure, usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { printWarnings } from "../cell-text.ts";

export default command({
  brief: "Create a vault",
  description:
    "A public vault is readable by the service. A shared one is encrypted on this machine for its members, and is an object on the chain.",
  examples: [
    { line: 'coffer vaults create "Team" --shared', does: "encrypted for its members" },
    { line: 'coffer vaults create "Website"', does: "public: the service can read it" },
  ],
  flags: {
    shared: toggle("Encrypt what is in it, for its members; public without it"),
    plainNames: toggle("In a shared vault, leave names of files and folders readable to the service"),
  },
  args: [argument("name", "Name of the vault")] as const,
  run: async (context, { shared, plainNames }, [name]) => {
    if (plainNames && !shared) throw usage("--plain-names is for shared vaults", "add --shared");
    const client = await context.client();
    const type = shared ? "shared" : "public";
    const { warnings, ...vault } = await client.vaults
      .create({ name, type, ...(plainNames ? { plainNames } : {}) }, { signal: context.signal })
      .catch(unlinked);
    printWarnings(context, warnings);
    return done({ vault, warnings }, [
      `Created the ${type} vault ${vault.id}`,
      ...(shared ? [`Invite an agent: coffer invites create --name NAME --vaults ${vault.id} --prompt`] : []),
    ]);
  },
});

/** The address that signs has to be the account's own. */
function unlinked(thrown: unknown): never {
  const { code, detail } = toFailure(thrown);
  if (code !== "wrong_chain_key") throw thrown;
  throw new CommandFailure(code, {
    message: "The account is not linked to the chain address of this machine",
    nextStep: "coffer account link-chain",
    cause: thrown,
    ...(detail === null ? {} : { detail }),
  });
}

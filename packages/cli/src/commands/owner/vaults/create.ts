import { defaultVaultType, toFailure } from "@coffer/tasks";
import { argument, command, toggle } from "../../../declarations.ts";
import type { Context } from "../../../context.ts";
import { CommandFailure, usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { printWarnings } from "../cell-text.ts";

export default command({
  brief: "Create a vault",
  description:
    "With a chain key on this machine the vault is shared: encrypted here for its members, and an object on the chain. Without one, or with --public, it is public to the service: not encrypted from it, visible to this account only.",
  examples: [
    { line: 'coffer vaults create "Team" --shared', does: "encrypted for its members" },
    { line: 'coffer vaults create "Website" --public', does: "public to the service, which can read it" },
  ],
  flags: {
    shared: toggle("Encrypt what is in it, for its members: the default with a chain key"),
    public: toggle("Leave it readable to the service"),
    plainNames: toggle("In a shared vault, leave names of files and folders readable to the service"),
  },
  args: [argument("name", "Name of the vault")] as const,
  run: async (context, flags, [name]) => {
    const { plainNames } = flags;
    if (flags.shared && flags.public) throw usage("A vault is either shared or public", "leave out one of the two");
    const client = await context.client();
    const type = await typeOf(context, flags);
    if (plainNames && type !== "shared") throw usage("--plain-names is for shared vaults", "add --shared");
    const { warnings, ...vault } = await client.vaults
      .create({ name, type, ...(plainNames ? { plainNames } : {}) }, { signal: context.signal })
      .catch(unlinked);
    printWarnings(context, warnings);
    return done({ vault, warnings }, [
      `Created the ${type} vault ${vault.id}`,
      ...(type === "shared"
        ? [`Invite an agent: coffer invites create --name NAME --vaults ${vault.id} --prompt`]
        : []),
    ]);
  },
});

async function typeOf(
  context: Context,
  flags: { readonly shared: boolean; readonly public: boolean },
): Promise<"public" | "shared"> {
  if (flags.shared) return "shared";
  return flags.public ? "public" : defaultVaultType(await context.serviceLink.setup());
}

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

import { untrusted } from "@coffer/tasks";
import { findChainKey } from "../../chain-keys.ts";
import { command } from "../../declarations.ts";
import { done } from "../../result.ts";

export default command({
  brief: "Print who is signed in, and with which rights",
  examples: [{ line: "coffer whoami --json", does: "for a script" }],
  run: async (context) => {
    const client = await context.client();
    const { account, credential } = await client.account.get({ signal: context.signal });
    const settings = await context.settings();
    const own = (await findChainKey(context))?.signer.chainAddress ?? null;
    const scopes = credential.scopes === null ? "everything its level allows" : credential.scopes.join(", ");
    return done({ account, credential, baseUrl: client.baseUrl, profile: settings.profile, chainAddress: own }, [
      `${account.email} (${account.accessLevel}) at ${client.baseUrl}`,
      untrusted(`with ${credential.kind}${credential.name === null ? "" : ` "${credential.name}"`}: ${scopes}`),
      ...(credential.vaultIds === null ? [] : [`in the vaults ${credential.vaultIds.join(", ")}`]),
      ...(credential.expiresAt === null ? [] : [`until ${credential.expiresAt}`]),
      `chain address of this machine: ${own ?? "none"}`,
    ]);
  },
});

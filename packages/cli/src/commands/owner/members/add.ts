import { findProvenInvites, findVault, inCommandWords } from "@coffer/tasks";
import { command, optionalArgument, text } from "../../../declarations.ts";
import { VAULT } from "../vault-argument.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { inviteText } from "../invites/invite-text.ts";
import { endOf, endText, LOOKS_FORWARD, printEnd } from "../../../times.ts";
import { printWarnings } from "../cell-text.ts";

export default command({
  brief: "Add a member to a shared vault",
  description: `Name the address that the agent gave you, not one that you only saw at the service. With the invite that it redeemed, the invite's secret proves its address. An address that an invite of this machine proves has the end of that invite. Everything that was ever written in the vault opens to a member. ${LOOKS_FORWARD}`,
  examples: [
    {
      line: "coffer vaults members add Team 0x6f0e8d1c2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7f",
      does: "the address that the agent printed",
    },
    {
      line: "coffer vaults members add Team --invite-file invite.txt --until 3d",
      does: "by its invite, for three days",
    },
  ],
  flags: {
    invite: text("Text of the invite that the agent redeemed", { placeholder: "CODE" }),
    inviteFile: text("File with that text; - reads standard input", { placeholder: "FILE" }),
    until: text("When the access ends; without it as the invite says, else never", { placeholder: "TIME" }),
    label: text("Note about the member, for the owner alone"),
  },
  args: [VAULT, optionalArgument("ADDRESS", "0x and 64 digits")] as const,
  run: async (context, { invite, inviteFile, until, label }, [name, address]) => {
    const { task, signal } = context;
    const codeText = await inviteText(context, invite, inviteFile);
    if ((address === undefined) === (codeText === null))
      throw usage("Name the address or the invite, one of them", "coffer vaults members add VAULT ADDRESS");
    const end = until === undefined ? undefined : endOf(context, "--until", until);
    const vault = await findVault(task, name);
    if (end !== undefined) printEnd(context, end);
    const client = await context.client();
    const chainAddress = (address ?? "").toLowerCase();
    const storedInvite =
      codeText === null ? (await findProvenInvites(client, context.world.env, signal)).get(chainAddress) : undefined;
    const { effect, warnings, ...member } = await client.vaults.members.add(
      vault.id,
      codeText === null ? chainAddress : { invite: codeText },
      { until: end, ...(storedInvite === undefined ? {} : { invite: storedInvite.text }), label, signal },
    );
    printWarnings(context, warnings);
    return done({ vaultId: vault.id, member, effect, warnings }, [
      `${member.chainAddress} is a member of ${vault.id}. Its access ends: ${endText(member.endsAt)}`,
      inCommandWords(effect, vault.id),
    ]);
  },
});

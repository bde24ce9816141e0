import { inCommandWords, findVault } from "@coffer/tasks";
import { argument, command } from "../../../declarations.ts";
import { VAULT } from "../vault-argument.ts";
import { done } from "../../../result.ts";
import { endOf, endText, LOOKS_FORWARD, printEnd } from "../../../times.ts";
import { printWarnings } from "../cell-text.ts";

export default command({
  brief: "Set when a member's access ends",
  description: `A later end can be set only before the present one has come. ${LOOKS_FORWARD}`,
  examples: [
    {
      line: "coffer vaults members set-until Team 0x6f0e8d1c2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7f 2w",
      does: "in two weeks",
    },
    {
      line: "coffer vaults members set-until Team 0x6f0e8d1c2b3a495867768594a3b2c1d0e0f1a2b3c4d5e6f708192a3b4c5d6e7f never",
      does: "without an end",
    },
  ],
  args: [VAULT, argument("ADDRESS", "0x and 64 digits"), argument("TIME", "When the access ends, or never")] as const,
  run: async (context, _flags, [name, address, time]) => {
    const { task, signal } = context;
    const until = time.trim().toLowerCase() === "never" ? null : endOf(context, "TIME", time);
    const vault = await findVault(task, name);
    printEnd(context, until);
    const client = await context.client();
    const result = await client.vaults.members.setUntil(vault.id, address.toLowerCase(), until, { signal });
    const { effect, warnings, generation, ...member } = result;
    printWarnings(context, warnings);
    return done({ vaultId: vault.id, member, generation, effect, warnings }, [
      `The access of ${member.chainAddress} ends: ${endText(member.endsAt)}`,
      inCommandWords(effect, vault.id),
    ]);
  },
});

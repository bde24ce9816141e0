/** What an owner does about an agent that has its key already. */
import type { Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import type { Rewind, RewindInput, RewindOptions } from "../rewind/report.ts";
import { rewind } from "../rewind/rewind.ts";
import type { RevokedAgent, RevokeOptions } from "../shared-vaults/members/revoke-agent.ts";

export interface AgentResource {
  /**
   * Removes an agent: revokes its key, then takes its address off every shared vault of the account. Repeat it after a
   * failure: it skips finished steps. The report shows the result of each layer. `chainAddress` and `vaultIds` of the
   * options are the owner's own facts about the agent. The call compares the service's answers with them.
   */
  revoke(keyId: string, options?: RevokeOptions): Promise<RevokedAgent>;
  /**
   * Undoes what one actor did in public vaults since a time. What it made goes to the trash, and former content returns
   * as a new version. Names, places and the trash go back. What somebody else changed afterwards is left alone: `left`
   * says why. Acts on vaults and keys are only listed. Repeat it after a failure: it goes on where it stopped. An agent
   * rewinds itself alone.
   *
   * @example
   * ```ts
   * const { counts, left } = await client.agents.rewind({ keyId, since: "2026-11-20T17:00:00.000Z", dryRun: true });
   * if (left.length === 0) await client.agents.rewind({ keyId, since: "2026-11-20T17:00:00.000Z" });
   * console.log(counts);
   * ```
   */
  rewind(input: RewindInput, options?: RewindOptions): Promise<Rewind>;
}

export function agentResource(connection: Connection): AgentResource {
  return {
    revoke: async (...args) => (await sharedCode(connection)).vaultCalls(connection).revoke(...args),
    rewind: (input, options) => rewind(connection, input, options),
  };
}

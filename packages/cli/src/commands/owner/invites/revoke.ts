import { findInvite } from "@coffer/tasks";
import { argument, command } from "../../../declarations.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Revoke an invite",
  description:
    "Its code cannot be used any more. A used invite stays used: end the key with coffer agents revoke AGENT.",
  examples: [{ line: "coffer invites revoke 5f0c2a1e", does: "by the beginning of its id" }],
  args: [argument("INVITE", "Id, beginning of the id, or name")] as const,
  run: async ({ task, client, signal }, _flags, [text]) => {
    const { id, status } = await findInvite(task, text);
    await (await client()).invites.revoke(id, { signal });
    const after = status === "created" ? "revoked" : status;
    return done({ inviteId: id, status: after }, [
      status === "created" ? `Revoked the invite ${id}` : `The invite ${id} was ${status} before; it is as it was`,
    ]);
  },
});

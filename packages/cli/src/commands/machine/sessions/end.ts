import { argument, command } from "../../../declarations.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "End a session of the account",
  examples: [
    { line: "coffer sessions end 0b0e7a1c-2f7d-4a37-9d0a-0d4f5b6c7d8e", does: "its tokens are refused from now on" },
  ],
  args: [argument("id", "Id of the session")] as const,
  run: async ({ client, signal }, _flags, [id]) => {
    await (await client()).sessions.end(id, { signal });
    return done({ ended: id }, [`Ended the session ${id}.`]);
  },
});

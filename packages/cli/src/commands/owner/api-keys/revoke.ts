import { findKey, untrusted } from "@coffer/tasks";
import { argument, command } from "../../../declarations.ts";
import { done } from "../../../result.ts";

export default command({
  brief: "Revoke an API key",
  description: "It ends at once. An agent's memberships of shared vaults stay: coffer agents revoke ends them too.",
  examples: [{ line: "coffer api-keys revoke 5f0c2a1e", does: "by the beginning of its id; asks first" }],
  args: [argument("KEY", "Id, beginning of the id, or name")] as const,
  run: async (context, _flags, [text]) => {
    const { id, name, chainAddress, accessLevel } = await findKey(context.task, text);
    await context.confirm(`Revoke the key ${id} (${untrusted(name).visible()})?`);
    await (await context.client()).apiKeys.revoke(id, { signal: context.signal });
    const isMember = accessLevel === "agent" && chainAddress !== null;
    return done({ apiKeyId: id, revoked: true }, [
      `Revoked the key ${id}`,
      ...(isMember ? [`Its address may still be a member of shared vaults: coffer agents revoke ${id}`] : []),
    ]);
  },
});

/** J5: before membership the agent is blind; what of it concerns the invited vault. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fieldsOf, objectAt, signUp } from "../kit/account.ts";
import { newChainKey } from "../kit/chain.ts";
import { send } from "../kit/http.ts";
import { textOf } from "../kit/stack.ts";
import { startToolServer, writeCredentials } from "../kit/tool-server.ts";
import type { Checks, World } from "./run.ts";

export async function agentSeesItsVault({ stack, scratch, cleanup }: World): Promise<Checks> {
  const { baseUrl } = stack;
  const owner = await signUp(baseUrl);
  const post = (path: string, body: object, key?: string) =>
    send(baseUrl, path, { method: "POST", body, ...(key === undefined ? {} : { key }) });
  const created = await post("/api/vaults", { name: "Invited", type: "public" }, owner.apiKey);
  const vaultId = textOf(objectAt(fieldsOf(created), "vault"), "id");
  const invited = fieldsOf(await post("/api/auth/invites", { name: "bot", vaultIds: [vaultId] }, owner.apiKey));
  const body = await newChainKey(baseUrl).redeeming(textOf(invited, "code"));
  const key = textOf(fieldsOf(await post("/api/auth/invites/redeem", body)), "key");
  const credentialsFile = await writeCredentials(join(scratch, "agent"), baseUrl, key);
  const tools = cleanup.use(await startToolServer({ credentialsFile, folder: scratch }));
  return {
    "J5-vault-list": async () => {
      const answer = await tools.call("vault_list");
      assert.equal(answer.isError, false, answer.wire);
      const rows = answer.facts["rows"] as unknown[][];
      assert.deepEqual(
        rows.map(([id]) => id),
        [vaultId.slice(0, 8)],
        answer.wire,
      );
    },
    "J5-vault-get": async () => {
      const other = fieldsOf(await post("/api/vaults", { name: "Other", type: "public" }, owner.apiKey));
      for (const named of [textOf(objectAt(other, "vault"), "id"), "Other"]) {
        const answer = await tools.call("vault_list", { vaultId: named });
        assert.equal(answer.isError, true, answer.wire);
        assert.equal(textOf(objectAt(answer.facts, "error"), "code"), "not_found");
      }
    },
  };
}

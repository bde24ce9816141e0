/** J2: an owner creates a vault; what of it concerns public vaults. */
import assert from "node:assert/strict";
import { fieldsOf, objectAt, signUp } from "../kit/account.ts";
import { send } from "../kit/http.ts";
import type { Checks, World } from "./run.ts";

export async function ownerCreatesVault({ stack }: World): Promise<Checks> {
  const owner = await signUp(stack.baseUrl);
  return {
    "J2-public-no-chain-key": async () => {
      const body = { name: "Reports", type: "public" };
      const answer = await send(stack.baseUrl, "/api/vaults", { method: "POST", key: owner.apiKey, body });
      assert.equal(answer.status, 201);
      const vault = objectAt(fieldsOf(answer), "vault");
      assert.equal(vault["type"], "public");
      assert.equal(vault["chainObjectId"], null);
    },
  };
}

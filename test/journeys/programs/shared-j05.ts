/** J5: before membership the agent is blind, in a shared vault. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toolFailure } from "../kit/failures.ts";
import { send } from "../kit/http.ts";
import type { ToolAnswer } from "../kit/tool-server.ts";
import type { Checks, SharedWorld } from "./run.ts";

export async function blindBeforeMembership({ service, scratch, cleanup }: SharedWorld): Promise<Checks> {
  const owner = await service.signUp();
  const vault = await owner.client.vaults.create({ name: "Closed", type: "shared" });
  const body = new TextEncoder().encode("for members");
  const { file } = await owner.client.files.upload({ vaultId: vault.id, name: "closed.txt", body });
  const agent = await service.invite(owner, { vaultIds: [vault.id] });
  const tools = cleanup.use(await service.tools(agent, scratch));
  const destPath = join(scratch, "stolen.txt");
  const { id: elsewhere } = await owner.client.vaults.create({ name: "Elsewhere", type: "shared" });
  return {
    "J5-shared-vault-list": async () => {
      const answer = await tools.call("vault_list");
      assert.equal(answer.isError, false, answer.wire);
      assert.ok(answer.wire.includes(vault.id.slice(0, 8)), answer.wire);
      assert.ok(!answer.wire.includes(elsewhere.slice(0, 8)), answer.wire);
      const { status } = await send(service.baseUrl, `/api/vaults/${elsewhere}`, { key: agent.apiKey });
      assert.equal(status, 404);
    },
    "J5-not-a-member": async () => {
      const { code, nextStep } = toolFailure(await tools.call("file_download", { files: [file.id], dest: destPath }));
      assert.equal(code, "not_a_member");
      assert.ok(nextStep.includes(agent.address), nextStep);
      assert.match(nextStep, /members\.add\(/);
    },
    "J5-no-destination": async () => assert.ok(!existsSync(destPath)),
    "J5-api-content": async () => {
      for (const path of [`/api/files/${file.id}/content`, `/api/vaults/${vault.id}/keys`]) {
        const { status } = await send(service.baseUrl, path, { key: agent.apiKey });
        assert.equal(status, 403, path);
      }
    },
    "J5-upload": async () => {
      const path = join(scratch, "intruder.txt");
      await writeFile(path, body);
      const { code } = toolFailure(await tools.call("file_upload", { vaultId: vault.id, paths: [path] }));
      assert.equal(code, "not_a_member");
      const { files } = await owner.client.files.list({ vaultId: vault.id });
      assert.deepEqual(
        files.map(({ name }) => name),
        ["closed.txt"],
      );
    },
    "J5-access-check": async () => {
      const answer = await tools.call("vault_access_check", { vaultId: vault.id });
      const { api, chain, keyServers, clock } = layersIn(answer);
      const no = ["failed", "not_a_member"];
      assert.deepEqual([api, chain, keyServers, clock], [no, no, ["ok", null], ["ok", null]]);
      assert.ok(answer.wire.includes(agent.address));
    },
  };
}

/** State and cause by layer. */
export function layersIn(answer: ToolAnswer): Readonly<Record<string, readonly unknown[]>> {
  assert.equal(answer.isError, false, answer.wire);
  const rows = answer.facts["layers"];
  assert.ok(Array.isArray(rows));
  return Object.fromEntries(rows.map(([layer, state, cause]: unknown[]) => [String(layer), [state, cause]]));
}

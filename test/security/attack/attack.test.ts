import { api, endpointsOf } from "@coffer/contract";
import { createClient } from "@coffer/sdk";
import { expect, it } from "vitest";
import { attackForeignIds, idsDeepIn, nameOf, placesOf } from "./foreign-ids.ts";
import { openSharedStack } from "../../kit/shared-stack.ts";
import { openOwnServer } from "./own-server.ts";
import { runAttack } from "./run.ts";

const SEED = 20_261_122;

it("nothing that the attack suite tries succeeds, and what it holds back costs nobody else", async () => {
  await using target = await openOwnServer();
  for await (const { name, checks, findings, notes } of runAttack(target, SEED)) {
    console.log(`${name}: ${String(checks)} checks ${notes.join("; ")}`);
    expect(findings.join("\n"), name).toBe("");
  }
  // Some of it waits for the clock: beside other tests it takes many minutes.
}, 1_800_000);

it("finds the places of ids in the contract by itself", () => {
  const places = placesOf(endpointsOf(api)).map(nameOf);
  for (const known of [
    "files.update params.fileId",
    "files.update body.folderId",
    "files.list query.vaultId",
    "uploads.create metadata.fileId",
    "files.commit body.*.uploadId",
  ])
    expect(places).toContain(known);
  const taken = endpointsOf(api)
    .filter(({ auth }) => auth === "credential")
    .flatMap(idsDeepIn);
  expect(taken.length).toBeGreaterThan(60);
  expect(taken.filter((name) => !places.includes(name))).toEqual([]);
});

it("nothing that it tries with the ids of a shared vault succeeds", async () => {
  await using stack = await openSharedStack({ environment: { SERVICE_ACCESS_CODES: "off" } });
  // Requests without a credential are the first user's.
  const { client, apiKey } = await stack.signUp("attacked");
  const { signer: member } = await stack.signUp("member");
  const { id: vaultId, chainObjectId } = await client.vaults.create({ name: "attacked", type: "shared" });
  const { file } = await client.files.upload({ vaultId, name: "a", body: new TextEncoder().encode("secret words") });
  const folder = await client.folders.create({ vaultId, name: "b" });
  await client.vaults.members.add(vaultId, member.chainAddress);
  const keys = await fetch(`${stack.baseUrl}/api/vaults/${vaultId}/keys`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const {
    keys: [key],
  } = (await keys.json()) as { keys: { keyId: string }[] };
  const objects = {
    vaultId,
    fileId: file.id,
    folderId: folder.id,
    versionId: file.versionId,
    chainAddress: member.chainAddress,
    chainObjectId: chainObjectId ?? "",
    vaultKeyId: key?.keyId ?? "",
  };
  // One that knows nothing of shared vaults makes the rest, all of it public.
  const plain = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey } });
  const victim = { account: { client: plain, key: apiKey }, objects };
  const { findings, checks } = await attackForeignIds({ baseUrl: stack.baseUrl }, SEED, victim);
  expect(findings.join("\n")).toBe("");
  expect(checks).toBeGreaterThan(1000);
});

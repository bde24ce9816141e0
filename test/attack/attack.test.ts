import { api, endpointsOf } from "@coffer/contract";
import { expect, it } from "vitest";
import { placesOf } from "./foreign-ids.ts";
import { openOwnServer } from "./own-server.ts";
import { runAttack } from "./run.ts";

const SEED = 20_261_122;

it("nothing that the attack suite tries succeeds, and what it holds back costs nobody else", async () => {
  await using target = await openOwnServer();
  for await (const { name, checks, findings, notes } of runAttack(target, SEED)) {
    console.log(`${name}: ${String(checks)} checks ${notes.join("; ")}`);
    expect(findings, name).toEqual([]);
  }
});

it("finds the places of ids in the contract by itself", () => {
  const places = placesOf(endpointsOf(api)).map(({ endpoint, section, field }) => `${endpoint.id} ${section}.${field}`);
  for (const known of [
    "files.update params.fileId",
    "files.update body.folderId",
    "files.list query.vaultId",
    "uploads.create metadata.fileId",
  ])
    expect(places).toContain(known);
  const named = endpointsOf(api).filter(
    ({ auth, path }) => auth === "credential" && /\{(?!chainAddress|sessionId|eventId)\w+Id\}/.test(path),
  );
  expect(named.filter(({ id }) => !places.some((place) => place.startsWith(`${id} params.`)))).toEqual([]);
});

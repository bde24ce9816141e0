/** The permission matrix of a member whose access has ended: every endpoint that comes to the vault. */
import { END_STEP } from "@coffer/contract";
import { expect, test } from "vitest";
import { sharedStack, UNLIMITED } from "../kit/shared-scene.ts";
import { ENDPOINTS, sampleOf, type Objects } from "../security/permissions/samples.ts";

let skew = 0;
const clock = (): number => Date.now() + skew;
const stack = sharedStack({ ...UNLIMITED, clock });
/** Milliseconds: after that nobody remembers a read of the chain. */
const MEMORIES = 10_000;
const OVER = "membership_ended";

/** The endpoints through which an agent comes to a vault, its files and its folders, with the matrix's sample calls. */
const reaching = ENDPOINTS.filter(({ access, auth, id }) => {
  const needs = auth === "credential" && access === "agent" ? sampleOf(id).needs : [];
  return needs.length > 0 && !needs.includes("uploadId");
});

/** What the service answers to each: `done`, or the code of its refusal. */
async function callAll(apiKey: string, ids: Pick<Objects, "vaultId" | "fileId" | "folderId">, which = reaching) {
  const made = { uploadId: ids.fileId, keyId: ids.fileId, inviteId: ids.fileId, sessionId: ids.fileId };
  const objects: Objects = {
    ...made,
    webhookId: ids.fileId,
    deliveryId: ids.fileId,
    versionId: ids.fileId,
    sourceId: ids.fileId,
    ...ids,
  };
  const answers: Record<string, string> = {};
  for (const { id, method } of which) {
    const { path, headers, json, bytes } = sampleOf(id).call(objects, "");
    const sent = {
      ...headers,
      authorization: `Bearer ${apiKey}`,
      ...(json !== undefined && { "content-type": "application/json" }),
    };
    const body = json === undefined ? bytes : JSON.stringify(json);
    const answer = await fetch(stack.baseUrl + path, { method, headers: sent, ...(body !== undefined && { body }) });
    const said = (await answer.json().catch(() => null)) as { results?: { error: { code: string } | null }[] } | null;
    // A request with several parts was sent with one.
    const done = said?.results?.[0]?.error?.code ?? "done";
    answers[id] = answer.headers.get("x-error-code") ?? (answer.ok ? done : String(answer.status));
  }
  return answers;
}

/** Ids, sizes and dates: the account's own keys see them, on the allowlist or not (decisions §0). */
const SIGHT = [
  "vaults.get",
  "members.list",
  "files.get",
  "files.entries",
  "files.versions",
  "files.list",
  "folders.entries",
  "folders.get",
  "folders.list",
  "trash.list",
];
/** The sample calls of what members sign hold no statement, which the service says before it asks the chain. */
const UNSIGNED: Readonly<Record<string, string>> = {
  "files.upload": "not_encrypted",
  "files.batch": "not_encrypted",
  "files.replace": "not_encrypted",
  "uploads.create": "not_encrypted",
  "files.commit": "validation_failed",
  "files.update": "validation_failed",
  "folders.create": "validation_failed",
  "folders.update": "validation_failed",
  "folderNames.stage": "statement_invalid",
  "vaultKeys.publish": "statement_invalid",
};

test("a member whose access has ended gets no more than its account's own keys see, and another account's the vault's name", async () => {
  const { client: owner } = stack.owner;
  // Made before the clock is moved: what agents sign to redeem an invite names the time of this machine.
  const [ending, elsewhere] = [await stack.invite("ending"), await stack.signUp("elsewhere")];
  const { id: vaultId } = await owner.vaults.create({ name: "Ended", type: "shared" });
  const end = Math.ceil((clock() + 60_000) / END_STEP) * END_STEP;
  for (const { signer } of [ending, elsewhere])
    await owner.vaults.members.add(vaultId, signer.chainAddress, { until: new Date(end) });
  const { file } = await ending.client.files.upload({ vaultId, name: "a.txt", body: "first" });
  const folder = await owner.folders.create({ vaultId, name: "folder" });
  const ids = { vaultId, fileId: file.id, folderId: folder.id };
  // The service cannot search names that it cannot read, and says so to whom it shows the vault.
  const reads = reaching.filter(({ effect, id }) => effect === "read" && id !== "files.search");
  expect(reads.length).toBeGreaterThan(10);
  for (const { apiKey } of [ending, elsewhere])
    expect(new Set(Object.values(await callAll(apiKey, ids, reads)))).toEqual(new Set(["done"]));

  skew += Math.max(0, end + MEMORIES - clock());
  const refused = { ...Object.fromEntries(reaching.map(({ id }) => [id, OVER])), ...UNSIGNED };
  const sight = Object.fromEntries(SIGHT.map((id) => [id, "done"]));
  expect(await callAll(ending.apiKey, ids)).toEqual({ ...refused, ...sight, "files.search": "validation_failed" });
  // By the vault's row a client learns which object to ask the chain about.
  expect(await callAll(elsewhere.apiKey, ids)).toEqual({ ...refused, "vaults.get": "done" });
});

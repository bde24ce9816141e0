/** A stolen owner key cannot destroy a vault: what an attacker has or bends, act by act (decision 0030). */
import { randomBytes, randomUUID } from "node:crypto";
import { DELETION_MINUTES, type DeletionOf } from "@coffer/contract";
import { describe, expect, test } from "vitest";
import { SUI_SIGNERS } from "../../../../test/kit/sui-signers.ts";
import { newTestVault } from "../../drivers/chain/chain.test-kit.ts";
import type { Principal } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { openSigner } from "../chain-proofs/signer.test-kit.ts";
import { nextVersion, openWriting, put, replace } from "../files/shared-files.test-kit.ts";
import {
  addMember,
  addPerson,
  agentOf,
  openSharedVault,
  type TestSharedVault,
} from "../shared-vaults/vaults.test-kit.ts";
import {
  codeOf,
  contextOf,
  insertTestKey,
  insertTestSession,
  openTestService,
  outcomes,
  type TestService,
} from "../service.test-kit.ts";
import {
  type Act,
  challenge,
  deleteFileForGood,
  deleteVault,
  emptyTrash,
  prove,
  type ProofOptions,
  textOf,
} from "./proofs.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestService);
const scene = ofEachTest(() => openScene(service));

const MINUTE = 60_000;

/** A vault with a live file and one in the trash, and how each act is done with a proof. */
async function openScene(service: TestService) {
  const { member, ...writing } = await openWriting(service);
  const { shared } = writing;
  const [live, trashed] = [await put(service, writing, "live"), await put(service, writing, "trashed")];
  const input = { params: { fileId: trashed.id }, query: {}, headers: {} };
  await service.handlers.files.delete(input, contextOf(shared.owner.principal));
  await replace(service, writing, nextVersion(writing, live));
  const version = { fileId: live.id, versionId: live.versionId };
  const acts: Record<Act, (proof?: string, as?: Principal) => Promise<unknown>> = {
    "delete-vault": (proof, as = shared.owner.principal) => deleteVault(service, shared, { proof, as }),
    "purge-vault": (proof, as = shared.owner.principal) => deleteVault(service, shared, { proof, as, permanent: true }),
    "delete-file": (proof, as = shared.owner.principal) =>
      deleteFileForGood(service, live.id, proof === undefined ? { as } : { proof, as }),
    "empty-trash": (proof, as = shared.owner.principal) => emptyTrash(service, shared, { proof, as }),
    "delete-version": async (proof, as = shared.owner.principal) =>
      service.handlers.files.deleteVersion({ params: version, headers: { "coffer-proof": proof } }, contextOf(as)),
    "shorten-retention": async (proof, as = shared.owner.principal) => {
      const params = { vaultId: shared.vaultId };
      const input = { params, headers: { "coffer-proof": proof }, body: { keepVersionsDays: 7 } };
      return service.handlers.vaults.update(input, contextOf(as));
    },
  };
  return { shared, member, live, trashed, acts };
}

/** What an attacker may have had signed elsewhere. */
const BENT: readonly NonNullable<ProofOptions["bent"]>[] = [
  { origin: "https://phishing.example" },
  { network: "mainnet" },
  { accountId: randomUUID() },
  { vaultId: randomUUID() },
  { chainObjectId: `0x${"4".repeat(64)}` },
  { chainAddress: `0x${"5".repeat(64)}` },
  { nonce: randomBytes(32).toString("base64url") },
];

const ACTS: readonly Act[] = [
  ...(["delete-vault", "purge-vault", "delete-file", "empty-trash"] as const),
  ...(["delete-version", "shorten-retention"] as const),
];

const othersOf = (act: Act) => ACTS.filter((other) => other !== act);

/** All rows that a deletion would touch. */
async function stateOf({ database }: TestService) {
  const { build } = database;
  const rows = async (table: "files" | "vaults" | "accounts" | "file_versions" | "vault_keys" | "blob_deletions") =>
    (await database.all(build.selectFrom(table).selectAll())).map((row) => JSON.stringify(row)).sort();
  return Promise.all([
    rows("files"),
    rows("vaults"),
    rows("accounts"),
    rows("file_versions"),
    rows("vault_keys"),
    rows("blob_deletions"),
  ]);
}

type Scene = Awaited<ReturnType<typeof openScene>>;
const fileOf = (act: Act, { live: { id: fileId, versionId } }: Scene) =>
  act === "delete-file" ? { fileId } : act === "delete-version" ? { fileId, versionId } : {};

/** What is tried with one bent proof, and what becomes of it. */
async function tryProof(act: Act, bend: (service: TestService, scene: Scene) => Promise<ProofOptions> | ProofOptions) {
  await using service = await openTestService();
  const scene = await openScene(service);
  const { as, ...options } = await bend(service, scene);
  const who = as === undefined ? {} : { as };
  const proof = await prove(service, scene.shared, act, { ...fileOf(act, scene), ...options, ...who });
  const before = await stateOf(service);
  const code = await codeOf(scene.acts[act](proof, as));
  return { code, isWhole: JSON.stringify(await stateOf(service)) === JSON.stringify(before) };
}

describe.each(ACTS)("%s [D5-owner-proof]", (act) => {
  test("with the owner's API key alone, or a session alone, is refused, and nothing is changed", async () => {
    const { shared, acts } = scene;
    const sessionId = await insertTestSession(service, shared.owner.principal);
    const session: Principal = { ...shared.owner.principal, kind: "session", keyId: null, sessionId };
    const before = await stateOf(service);
    for (const as of [shared.owner.principal, session]) {
      expect(await codeOf(acts[act](undefined, as))).toBe("owner_proof_required");
    }
    expect(await stateOf(service)).toEqual(before);
  });

  test("with the owner's proof is done", async () => {
    expect(await tryProof(act, () => ({}))).toEqual({ code: "ok", isWhole: false });
  });

  test("with a signature for anything else is refused", async () => {
    const before = await stateOf(service);
    for (const bent of [...BENT, ...othersOf(act).map((other) => ({ act: other, ...fileOf(other, scene) }))]) {
      const proof = await prove(service, scene.shared, act, { ...fileOf(act, scene), bent });
      expect([bent, await codeOf(scene.acts[act](proof))]).toEqual([bent, "signature_invalid"]);
    }
    expect(await stateOf(service)).toEqual(before);
  });

  test("with a challenge for another act, or for the same of another vault, is refused", async () => {
    const { shared, acts } = scene;
    const { vaultId } = await openSharedVault(service, { owner: shared.owner });
    const before = await stateOf(service);
    const deletions = othersOf(act).map((other) => ({ act: other, vaultId: shared.vaultId, ...fileOf(other, scene) }));
    for (const deletion of [...deletions, { act, vaultId, ...fileOf(act, scene) }]) {
      const nonce = await challenge(service, shared.owner.principal, deletion);
      const signature = shared.owner.sign(textOf(shared, act, nonce, fileOf(act, scene)));
      expect(await codeOf(acts[act](`${nonce}.${signature}`))).toBe("token_invalid");
    }
    expect(await stateOf(service)).toEqual(before);
  });

  test("with an agent's or a member's signature is refused, and an agent gets no challenge", async () => {
    expect(await tryProof(act, (_service, { member }) => ({ by: member }))).toMatchObject({
      code: "signature_invalid",
      isWhole: true,
    });
    expect(await tryProof(act, (_service, { shared }) => ({ by: agentOf(shared.owner) }))).toMatchObject({
      code: "signature_invalid",
    });
    for (const as of [agentOf(scene.shared.owner).principal, scene.member.principal]) {
      expect(await codeOf(prove(service, scene.shared, act, { as, ...fileOf(act, scene) }))).toBe("owner_only");
    }
    expect(await codeOf(prove(service, scene.shared, act, { as: service.owner, ...fileOf(act, scene) }))).toBe(
      "not_found",
    );
  });

  test("with another credential's proof, a used one, or an expired one is refused", async () => {
    const { shared, acts } = scene;
    const proof = await prove(service, shared, act, fileOf(act, scene));
    const { accountId } = shared.owner.principal;
    const keyId = await insertTestKey(service.database, accountId, service.clock.now());
    const thief = { ...shared.owner.principal, keyId };
    expect(await codeOf(acts[act](proof, thief))).toBe("token_invalid");
    const wrong = await prove(service, shared, act, { ...fileOf(act, scene), by: openSigner(randomBytes(32)) });
    expect(await codeOf(acts[act](wrong))).toBe("signature_invalid");
    // A nonce is for one answer: the right signature comes too late.
    const [nonce = ""] = wrong.split(".");
    const right = shared.owner.sign(textOf(shared, act, nonce, fileOf(act, scene)));
    expect(await codeOf(acts[act](`${nonce}.${right}`))).toBe("token_invalid");
    const before = await stateOf(service);
    service.clock.advance(DELETION_MINUTES * MINUTE);
    expect(await codeOf(acts[act](proof))).toBe("token_invalid");
    expect(await stateOf(service)).toEqual(before);
  });

  test("with the signature of whoever handed the vault on is refused; the owner is read anew", async () => {
    const { shared, member, acts } = scene;
    const proof = await prove(service, shared, act, fileOf(act, scene));
    await service.chain.readVault(shared.objectId, { maxAge: 0 });
    service.chain.set(
      shared.objectId,
      newTestVault({ address: member.chainAddress, signingKey: member.publicKey }, { generation: 2 }),
    );
    expect(await codeOf(acts[act](proof))).toBe("signature_invalid");
  });

  test("while the chain does not answer is refused for now, and the proof is still good afterwards", async () => {
    const { shared, acts } = scene;
    const proof = await prove(service, shared, act, fileOf(act, scene));
    const before = await stateOf(service);
    for (const [fault, code] of [
      [{ skew: 31_000 }, "clock_skew"],
      [{ skew: 0, down: true }, "chain_unavailable"],
    ] as const) {
      Object.assign(service.chain, fault);
      expect(await codeOf(acts[act](proof))).toBe(code);
      expect(await stateOf(service)).toEqual(before);
    }
    service.chain.down = false;
    service.clock.advance(1);
    expect(await codeOf(acts[act](proof))).toBe("ok");
  });

  test("with one proof, asked for fifty times at once, is done once", async () => {
    const proof = await prove(service, scene.shared, act, fileOf(act, scene));
    const counts = await outcomes(Array.from({ length: 50 }, () => scene.acts[act](proof)));
    const done: Partial<Record<Act, string>> = {
      "delete-vault": "vault.trashed",
      "purge-vault": "vault.deleted",
      "delete-version": "file.version_deleted",
      "shorten-retention": "vault.updated",
    };
    const action = done[act] ?? "file.deleted";
    const { database } = service;
    const noted = await database.all(database.build.selectFrom("changes").select("id").where("action", "=", action));
    expect(noted).toHaveLength(1);
    expect(counts["ok"]).toBeGreaterThan(0);
    // Whoever comes later finds the nonce used, or the work done.
    expect(Object.keys(counts).filter((code) => !["ok", "token_invalid", "not_found"].includes(code))).toEqual([]);
  });
});

describe("the proof", () => {
  test("of a file is for that file alone", async () => {
    const { shared, live, trashed } = await openScene(service);
    const as = shared.owner.principal;
    const proof = await prove(service, shared, "delete-file", { fileId: trashed.id });
    expect(await codeOf(deleteFileForGood(service, live.id, { proof, as }))).toBe("token_invalid");
    expect(await codeOf(deleteFileForGood(service, trashed.id, { proof, as }))).toBe("ok");
  });

  test.each(SUI_SIGNERS)("comes from any of Sui's schemes: %s owns a vault, and deletes it", async (_scheme, make) => {
    const [wallet, stranger] = await Promise.all([make(), make()]);
    const chainAddress = wallet.toSuiAddress();
    const person = { ...openSigner(randomBytes(32)), principal: await service.addAccount("pro", chainAddress) };
    const shared: TestSharedVault = await openSharedVault(service, { owner: { ...person, chainAddress } });
    const deletion: DeletionOf = { act: "delete-vault", vaultId: shared.vaultId };
    const ask = () => challenge(service, person.principal, deletion);
    const sign = async (nonce: string, by = wallet) => {
      const { signature } = await by.signPersonalMessage(Buffer.from(textOf(shared, "delete-vault", nonce)));
      return `${nonce}.${signature}`;
    };
    // The signing key of its statements is no key of the address.
    const nonce = await ask();
    const statement = `${nonce}.${person.sign(textOf(shared, "delete-vault", nonce))}`;
    expect(await codeOf(deleteVault(service, shared, { proof: statement }))).toBe("signature_invalid");
    expect(await codeOf(deleteVault(service, shared, { proof: await sign(await ask(), stranger) }))).toBe(
      "signature_invalid",
    );
    expect(await codeOf(deleteVault(service, shared, { proof: await sign(await ask()) }))).toBe("ok");
  });

  test("is asked for by the challenge's own rules: shared vaults only, a file with its act only", async () => {
    const { shared } = scene;
    const as = shared.owner.principal;
    const { default_vault_id } = (await service.database.first(
      service.database.build.selectFrom("accounts").select("default_vault_id").where("id", "=", as.accountId),
    )) ?? { default_vault_id: "" };
    expect(await codeOf(challenge(service, as, { act: "delete-vault", vaultId: default_vault_id }))).toBe(
      "public_vault",
    );
    const vaultId = shared.vaultId;
    expect(await codeOf(challenge(service, as, { act: "delete-file", vaultId }))).toBe("validation_failed");
    expect(await codeOf(challenge(service, as, { act: "empty-trash", vaultId, fileId: randomUUID() }))).toBe(
      "validation_failed",
    );
  });

  test("does not outlive the credential: a key that is revoked while the chain is asked deletes nothing", async () => {
    const { shared } = scene;
    const before = await stateOf(service);
    const proof = await prove(service, shared, "delete-vault");
    const { vaultId, owner } = shared;
    const input = { params: { vaultId }, query: { force: true }, headers: { "coffer-proof": proof } };
    const recheck = () => Promise.reject(new ServiceError("invalid_credential"));
    const deletion = service.handlers.vaults.delete(input, contextOf(owner.principal, { recheck }));
    expect(await codeOf(deletion)).toBe("invalid_credential");
    expect(await stateOf(service)).toEqual(before);
  });

  test("is refused where the vault went to another owner between the look and the act", async () => {
    const { shared } = scene;
    const heir = await addPerson(service);
    const proof = await prove(service, shared, "delete-vault");
    const { vaultId, owner } = shared;
    const input = { params: { vaultId }, query: { force: true }, headers: { "coffer-proof": proof } };
    const recheck = async () => {
      service.clock.advance(1000);
      const vault = newTestVault({ address: heir.chainAddress, signingKey: heir.publicKey }, { generation: 2 });
      service.chain.set(shared.objectId, vault);
      const claim = { params: { vaultId }, body: {} };
      await service.handlers.ownership.claim(claim, contextOf(heir.principal));
    };
    expect(await codeOf(service.handlers.vaults.delete(input, contextOf(owner.principal, { recheck })))).toBe(
      "not_found",
    );
    const mine = await service.handlers.vaults.get({ params: { vaultId } }, contextOf(heir.principal));
    expect(mine).toMatchObject({ vault: { trashedAt: null, role: "owner" } });
  });
});

test("[D5-empty-all] emptying all trash leaves shared vaults alone, and names those that have something there", async () => {
  const { shared, trashed } = await openScene(service);
  const as = shared.owner.principal;
  await openSharedVault(service, { owner: shared.owner });
  const answer = await service.handlers.trash.empty({ query: {}, headers: {} }, contextOf(as));
  expect(answer).toEqual({ leftVaults: [{ id: shared.vaultId, name: expect.any(String) as string }] });
  expect(await codeOf(service.handlers.files.get({ params: { fileId: trashed.id } }, contextOf(as)))).toBe("ok");
  const proof = await prove(service, shared, "empty-trash");
  expect(await emptyTrash(service, shared, { proof })).toEqual({ leftVaults: [] });
  expect(await service.handlers.trash.empty({ query: {}, headers: {} }, contextOf(as))).toEqual({ leftVaults: [] });
});

test("members cannot empty a vault's trash with a proof of their own", async () => {
  const { shared, acts } = scene;
  const other = await addPerson(service);
  await addMember(service, shared, other);
  expect(await codeOf(acts["empty-trash"](undefined, other.principal))).toBe("owner_only");
});

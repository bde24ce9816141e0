/** TEST ONLY: a shared vault with people around it, in the service and on the test's chain. */
import { randomBytes } from "node:crypto";
import { newTestVault } from "../../drivers/chain/chain.test-kit.ts";
import type { Principal } from "../../handler.ts";
import { openSigner, type TestSigner } from "../chain-proofs/signer.test-kit.ts";
import { answerOf, contextOf, type TestService } from "../service.test-kit.ts";
import { signRecord } from "./statements.test-kit.ts";

/** Somebody with a chain key; `principal` is how it calls the service. */
export interface TestPerson extends TestSigner {
  readonly principal: Principal;
}

export interface TestSharedVault {
  readonly vaultId: string;
  readonly objectId: string;
  readonly owner: TestPerson;
}

/** An account of its own that has linked a new chain address. */
export async function addPerson(service: TestService): Promise<TestPerson> {
  const signer = openSigner(randomBytes(32));
  return { ...signer, principal: await service.addAccount(undefined, signer.chainAddress) };
}

/** An agent of somebody's account, with a chain address of its own. */
export function agentOf(person: TestPerson): TestPerson {
  const signer = openSigner(randomBytes(32));
  const { chainAddress } = signer;
  return { ...signer, principal: { ...person.principal, accessLevel: "agent", keyId: null, chainAddress } };
}

/** A vault on the chain, of its own object id. The owner's chain key signs. */
export function placeVault(
  service: TestService,
  owner: TestPerson,
  more: { readonly plainNames?: boolean } = {},
): string {
  const objectId = `0x${randomBytes(32).toString("hex")}`;
  service.chain.set(objectId, newTestVault({ address: owner.chainAddress, signingKey: owner.publicKey }, more));
  return objectId;
}

export async function openSharedVault(
  service: TestService,
  { owner: given, ...more }: { readonly plainNames?: boolean; readonly owner?: TestPerson } = {},
): Promise<TestSharedVault> {
  const owner = given ?? (await addPerson(service));
  const objectId = placeVault(service, owner, more);
  const body = { name: `vault ${objectId.slice(2, 10)}`, type: "shared", chainObjectId: objectId } as const;
  const { vault } = answerOf(await service.handlers.vaults.create({ body }, contextOf(owner.principal)));
  return { vaultId: vault.id, objectId, owner };
}

/** Names a person on the chain, with its chain key as signing key, and records it at the service. */
export async function addMember(service: TestService, shared: TestSharedVault, person: TestPerson): Promise<void> {
  const { chainAddress, publicKey } = person;
  service.chain.add(shared.objectId, { address: chainAddress, signingKey: publicKey });
  const { vaultId } = shared;
  const input = { params: { vaultId }, body: { chainAddress } };
  await service.handlers.members.add(input, contextOf(shared.owner.principal));
}

/** Publishes a vault key of the generation, perhaps in place of the present one, and answers its id. */
export async function publishKey(
  service: TestService,
  { vaultId, objectId }: TestSharedVault,
  by: TestPerson,
  generation = 1,
  replaces?: string,
): Promise<string> {
  const record = signRecord(by, { vault: objectId, generation });
  const input = { params: { vaultId }, body: replaces === undefined ? { record } : { record, replaces } };
  return answerOf(await service.handlers.vaultKeys.publish(input, contextOf(by.principal))).key.keyId;
}

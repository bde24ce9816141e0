/** TEST ONLY: proofs as the owner's client makes them, and as an attacker would bend them. */
import { type DeletionOf, renderDeletionText } from "@coffer/contract";
import type { TestSigner } from "../chain-proofs/signer.test-kit.ts";
import type { Principal } from "../../handler.ts";
import type { TestSharedVault } from "../shared-vaults/vaults.test-kit.ts";
import { answerOf, contextOf, type TestService } from "../service.test-kit.ts";

export type Act = DeletionOf["act"];

export async function challenge(
  service: TestService,
  as: Principal,
  { vaultId, ...body }: DeletionOf,
): Promise<string> {
  return answerOf(await service.handlers.deletion.challenge({ params: { vaultId }, body }, contextOf(as))).nonce;
}

type Text = Parameters<typeof renderDeletionText>[0];

/** What is signed for the vault's owner, but for `bent`. */
export function textOf(shared: TestSharedVault, act: Act, nonce: string, bent: Partial<Text> = {}): string {
  return renderDeletionText({
    act,
    origin: "http://127.0.0.1",
    network: "localnet",
    nonce,
    chainAddress: shared.owner.chainAddress,
    accountId: shared.owner.principal.accountId,
    chainObjectId: shared.objectId,
    vaultId: shared.vaultId,
    ...bent,
  });
}

export interface ProofOptions {
  readonly as?: Principal;
  readonly by?: Pick<TestSigner, "sign">;
  readonly bent?: Partial<Text>;
  readonly fileId?: string;
  readonly versionId?: string;
}

/** A challenge and its signature, as the header carries them. */
export async function prove(
  service: TestService,
  shared: TestSharedVault,
  act: Act,
  { as = shared.owner.principal, by = shared.owner, bent = {}, ...subject }: ProofOptions = {},
): Promise<string> {
  const nonce = await challenge(service, as, { act, vaultId: shared.vaultId, ...subject });
  return `${nonce}.${by.sign(textOf(shared, act, nonce, { ...subject, ...bent }))}`;
}

export interface VaultCall {
  readonly proof?: string | undefined;
  readonly as?: Principal;
  readonly force?: boolean;
  readonly permanent?: boolean;
}

export function deleteVault(
  service: TestService,
  { vaultId, owner }: TestSharedVault,
  { proof, as = owner.principal, force = true, permanent = false }: VaultCall = {},
) {
  const input = { params: { vaultId }, query: { force, permanent }, headers: { "coffer-proof": proof } };
  return service.handlers.vaults.delete(input, contextOf(as));
}

/** By its owner, at once. */
export async function purgeVault(service: TestService, shared: TestSharedVault): Promise<void> {
  await deleteVault(service, shared, { permanent: true, proof: await prove(service, shared, "purge-vault") });
}

export function deleteFileForGood(
  service: TestService,
  fileId: string,
  { proof, as }: { readonly proof?: string; readonly as: Principal },
) {
  const input = { params: { fileId }, query: { permanent: true }, headers: { "coffer-proof": proof } };
  return service.handlers.files.delete(input, contextOf(as));
}

export function emptyTrash(
  service: TestService,
  { vaultId, owner }: TestSharedVault,
  { proof, as = owner.principal }: { readonly proof?: string | undefined; readonly as?: Principal } = {},
) {
  const input = { query: { vaultId }, headers: { "coffer-proof": proof } };
  return service.handlers.trash.empty(input, contextOf(as));
}

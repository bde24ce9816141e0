/** A shared vault that two people search, and a public one beside it. */
import { randomBytes } from "node:crypto";
import type { Client, File, FoundFile, Vault } from "@coffer/sdk";
import { beforeAll } from "vitest";
import { sharedStack, UNLIMITED } from "./shared-scene.ts";
import type { SharedPerson, SharedStack } from "./shared-stack.ts";

/** Bytes of each file. */
export const SIZE = 40;
export const MARCH = "Résumé of March.pdf";

export interface SearchScene {
  readonly stack: SharedStack;
  readonly owner: SharedPerson;
  /** Of another account. */
  readonly member: SharedPerson;
  /** {@link MARCH} in `reports/2026`, `presume nothing.txt`, and `resume.txt` by the member. */
  readonly vault: Vault;
  /** A public vault with `resume open.txt`. */
  readonly open: Vault;
  /** The folder `reports`. */
  readonly folder: string;
}

export function searchScene(): SearchScene {
  const scene = { stack: sharedStack(UNLIMITED) } as { -readonly [Field in keyof SearchScene]: SearchScene[Field] };
  beforeAll(async () => {
    const { owner } = scene.stack;
    const [{ client }, member] = [owner, await scene.stack.signUp("member")];
    const vault = await client.vaults.create({ name: "closed", type: "shared" });
    const open = await client.vaults.create({ name: "open", type: "public" });
    const { publicKey } = member.signer.statements;
    await client.vaults.members.add(vault.id, member.signer.chainAddress, { signingKey: publicKey });
    const folder = (await client.folders.create({ vaultId: vault.id, name: "reports" })).id;
    const inner = await client.folders.create({ vaultId: vault.id, name: "2026", parentId: folder });
    await put(client, vault.id, MARCH, { folderId: inner.id, contentType: "application/pdf" });
    await put(client, vault.id, "presume nothing.txt");
    await put(member.client, vault.id, "resume.txt");
    await put(client, open.id, "resume open.txt");
    Object.assign(scene, { owner, member, vault, open, folder });
  });
  return scene;
}

export async function put(client: Client, vaultId: string, name: string, more: object = {}): Promise<File> {
  return (await client.files.upload({ vaultId, name, body: randomBytes(SIZE), ...more })).file;
}

export async function namesOf(found: AsyncIterable<FoundFile>): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of found) names.push(name);
  return names;
}

/** Nothing that only members may know is ever on the wire to the service, in its log, or on its disk. */
import { readdir, readFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DataKey, VaultKey } from "@coffer/crypto";
import type { Middleware } from "@coffer/sdk";
import { expect, test, vi } from "vitest";
import { openSharedStack } from "../kit/shared-stack.ts";
import { findSecrets, type Place, type Secret } from "../kit/secret-scan.ts";

/** Every request and answer, heads and bodies. */
function recorder(): { readonly places: Place[]; readonly middleware: Middleware } {
  const places: Place[] = [];
  const note = (name: string, head: string, body: ArrayBuffer): void => {
    places.push({ name, bytes: Buffer.concat([Buffer.from(head), Buffer.from(body)]) });
  };
  const heads = (headers: Headers): string => [...headers].map(([name, value]) => `${name}: ${value}\n`).join("");
  return {
    places,
    middleware: async (request, next, { endpointId }) => {
      note(`request ${endpointId}`, `${request.url}\n${heads(request.headers)}`, await request.clone().arrayBuffer());
      const answer = await next(request);
      note(`answer ${endpointId}`, heads(answer.headers), await answer.clone().arrayBuffer());
      return answer;
    },
  };
}

test("plaintext windows, names, vault keys, data keys and chain keys stay with the members", async () => {
  const revealed = { vault: vi.spyOn(VaultKey.prototype, "reveal"), data: vi.spyOn(DataKey.prototype, "reveal") };
  await using stack = await openSharedStack();
  const wire = recorder();
  const owner = stack.owner.another({ middleware: [wire.middleware] });
  const content = randomBytes(200_000);
  const name = `canary-${randomBytes(12).toString("hex")}.txt`;
  const folderName = `canary-${randomBytes(12).toString("hex")}`;
  const vault = await owner.vaults.create({ name: "canaries", type: "shared" });
  const agent = await stack.invite("agent");
  await owner.vaults.members.add(vault.id, agent.signer.chainAddress);
  const folder = await owner.folders.create({ name: folderName, vaultId: vault.id });
  const { file } = await owner.files.upload({ vaultId: vault.id, folderId: folder.id, name, body: content });
  const reader = agent.another({ middleware: [wire.middleware] });
  expect(Buffer.compare(await (await reader.files.download(file.id)).bytes(), content)).toBe(0);
  await (await reader.files.download(file.id, { range: { offset: 5000, length: 100 } })).bytes();
  await owner.files.list({ vaultId: vault.id, folderId: folder.id, name });
  await owner.files.update(file.id, { name: `${name}.renamed` });
  await owner.vaults.members.remove(vault.id, agent.signer.chainAddress);
  await owner.vaults.rotate(vault.id);
  const secrets: Secret[] = [
    { kind: "file name", text: name },
    { kind: "folder name", text: folderName },
    ...[stack.owner, agent].flatMap(({ privateKey }) => [{ kind: "chain key", text: privateKey }]),
    // As 64 hex digits the scan also looks for the bytes, and for base64 of them.
    ...keysOf("vault key", revealed.vault),
    ...keysOf("data key", revealed.data),
    ...Array.from({ length: 400 }, () => {
      const at = Math.floor(Math.random() * (content.length - 16));
      return { kind: "plaintext window", text: content.subarray(at, at + 16).toString("hex") };
    }),
  ];
  for (const kind of ["vault key", "data key"])
    expect(
      secrets.some((secret) => secret.kind === kind && !/^0+$/.test(secret.text)),
      kind,
    ).toBe(true);
  const disk: Place[] = [];
  for (const entry of await readdir(stack.dataDirectory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name);
      disk.push({ name: path.slice(stack.dataDirectory.length), bytes: await readFile(path) });
    }
  const log = { name: "log", bytes: Buffer.from(stack.log.join("")) };
  expect(wire.places.length).toBeGreaterThan(40);
  expect(disk.some(({ name: path }) => path.includes("sqlite"))).toBe(true);
  expect(findSecrets(secrets, [...wire.places, ...disk, log])).toEqual([]);
  // The scan sees what it looks for.
  expect(findSecrets(secrets, [{ name: "control", bytes: content }]).length).toBeGreaterThan(0);
});

function keysOf(
  kind: string,
  { mock }: { readonly mock: { readonly results: readonly { readonly value: unknown }[] } },
) {
  return mock.results.map(({ value }): Secret => ({ kind, text: Buffer.from(value as Uint8Array).toString("hex") }));
}

/** Access that ends by itself, from the owner's call to the key servers' refusal. The chain, the service and the clients have one clock. */
import { END_STEP } from "@coffer/contract";
import { chainKeySigner, createClient, generateChainKey } from "@coffer/sdk";
import { beforeAll, describe, expect, test } from "vitest";
import { read, sharedStack } from "../kit/shared-scene.ts";
import type { SharedPerson } from "../kit/shared-stack.ts";

let skew = 0;
const clock = (): number => Date.now() + skew;
const stack = sharedStack({ clock });

/** The next quarter of an hour that is not within the next ten seconds. */
const nextEnd = (): number => Math.ceil((clock() + 10_000) / END_STEP) * END_STEP;
const passTo = (time: number) => void (skew += Math.max(0, time - clock()));
const textOf = (time: number): string => new Date(time).toISOString();

/** Made before the clock is moved: what agents sign to redeem an invite names the time of this machine. */
let people: SharedPerson[] = [];
beforeAll(async () => {
  people = [await stack.invite("first"), await stack.invite("second"), await stack.invite("third")];
});

function nextPerson(): SharedPerson {
  const person = people.shift();
  if (person === undefined) throw new Error("nobody is left");
  return person;
}

async function openShared() {
  const { client: owner } = stack.owner;
  const { id: vaultId } = await owner.vaults.create({ name: `Ends ${crypto.randomUUID()}`, type: "shared" });
  const { file } = await owner.files.upload({ vaultId, name: "a.txt", body: "a" });
  return { owner, vaultId, fileId: file.id };
}

test("[D4-access-until] an invite's end is its key's, and that of the membership made by it", async () => {
  const { owner, vaultId } = await openShared();
  const accessUntil = textOf(nextEnd());
  const invite = await owner.invites.create({ name: "Until", vaultIds: [vaultId], accessUntil });
  expect(invite.accessUntil).toBe(accessUntil);
  const { privateKey } = await generateChainKey();
  const anyone = createClient({ baseUrl: stack.baseUrl });
  const redeemed = await anyone.invites.redeem(invite.text, await chainKeySigner(privateKey));
  expect(redeemed.expiresAt).toBe(accessUntil);
  const member = await owner.vaults.members.add(vaultId, { invite: invite.text });
  expect(member).toMatchObject({ chainAddress: redeemed.chainAddress, endsAt: accessUntil });
});

describe("a member with an end", () => {
  test("reads and writes until then; afterwards neither the service nor the key servers give it anything, without a transaction [E15]", async () => {
    const { owner, vaultId, fileId } = await openShared();
    const agent = nextPerson();
    const { chainAddress } = agent.signer;
    const end = nextEnd();
    const added = await owner.vaults.members.add(vaultId, chainAddress, { until: new Date(end) });
    expect(added).toMatchObject({ endsAt: textOf(end), layers: { service: "active", chain: "active" } });
    expect(added.effect).toContain("ends by itself");
    expect(await read(agent.client, fileId)).toBe("a");
    await agent.client.files.upload({ vaultId, name: "b.txt", body: "b" });
    expect(await agent.client.vaults.checkAccess(vaultId)).toMatchObject({
      endsAt: textOf(end),
      chain: { state: "ok" },
    });

    passTo(end);
    await expect(read(agent.client, fileId)).rejects.toMatchObject({ code: "membership_ended" });
    await expect(read(agent.another(), fileId)).rejects.toMatchObject({ code: "membership_ended" });
    await expect(agent.another().files.upload({ vaultId, name: "c.txt", body: "c" })).rejects.toMatchObject({
      code: "membership_ended",
    });
    const accomplice = agent.another({ credentials: { apiKey: stack.owner.apiKey } });
    await expect(read(accomplice, fileId)).rejects.toMatchObject({ code: "membership_ended" });
    const check = await agent.another().vaults.checkAccess(vaultId);
    expect(check).toMatchObject({
      endsAt: textOf(end),
      api: { state: "failed", cause: "membership_ended" },
      chain: { state: "failed", cause: "membership_ended" },
    });
    expect(check.chain.nextStep).toBe(
      `Your access ended at ${textOf(end)}: ask the vault's owner, ${stack.owner.signer.chainAddress}, to add ${chainAddress} again.`,
    );

    const listed = (await owner.vaults.members.list(vaultId)).items;
    expect(listed.find((member) => member.chainAddress === chainAddress)).toMatchObject({
      endsAt: textOf(end),
      layers: { service: "ended", chain: "ended" },
    });

    await expect(owner.vaults.members.setUntil(vaultId, chainAddress, null)).rejects.toMatchObject({
      code: "membership_ended",
    });
    const again = await owner.vaults.members.add(vaultId, chainAddress);
    expect(again).toMatchObject({ endsAt: null, layers: { service: "active", chain: "active" } });
    expect(await read(agent.another(), fileId)).toBe("a");
  });

  test("is kept by an end that is put off at the last second, and loses access when it comes nearer", async () => {
    const { owner, vaultId, fileId } = await openShared();
    const agent = nextPerson();
    const { chainAddress } = agent.signer;
    const end = nextEnd();
    await owner.vaults.members.add(vaultId, chainAddress, { until: textOf(end) });
    expect(await read(agent.client, fileId)).toBe("a");
    passTo(end - 5_000);
    const later = await owner.vaults.members.setUntil(vaultId, chainAddress, textOf(end + 8 * END_STEP));
    passTo(end);
    expect(await read(agent.client, fileId)).toBe("a");
    expect(await read(agent.another(), fileId)).toBe("a");
    const nearer = await owner.vaults.members.setUntil(vaultId, chainAddress, textOf(end + END_STEP));
    expect(nearer.generation).toBe(later.generation + 1);
    expect(await read(agent.client, fileId)).toBe("a");
    passTo(end + END_STEP);
    await expect(read(agent.client, fileId)).rejects.toMatchObject({ code: "membership_ended" });
  });

  test("cannot have an end that is no quarter of an hour, or that is over: nothing is signed", async () => {
    const { owner, vaultId } = await openShared();
    const { signer } = nextPerson();
    const end = nextEnd();
    const refused = owner.vaults.members.add(vaultId, signer.chainAddress, { until: new Date(end + 60_000) });
    await expect(refused).rejects.toMatchObject({
      code: "end_invalid",
      message: expect.stringContaining(`${textOf(end)} or ${textOf(end + END_STEP)}`) as string,
    });
    await expect(
      owner.vaults.members.add(vaultId, signer.chainAddress, { until: textOf(end - 4 * END_STEP) }),
    ).rejects.toMatchObject({ code: "end_invalid" });
    await owner.vaults.members.add(vaultId, signer.chainAddress);
    await expect(owner.vaults.members.add(vaultId, signer.chainAddress, { until: textOf(end) })).rejects.toMatchObject({
      code: "already_member",
    });
  });
});

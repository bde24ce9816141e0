/** What a rewind says to people: where things go back to, what it left and why, and what to do about that. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openScene, openSharedStack, type Scene, type Shell } from "./owner-scene.ts";

let scene: Scene;
let agent: Shell;
let address: string;

beforeAll(async () => {
  scene = await openScene(await openSharedStack());
  const { owner, stack } = scene;
  const person = await stack.invite("rewound");
  agent = scene.shellOf(person);
  address = person.signer.chainAddress;
  const { vault } = await owner.json<{ vault: { id: string } }>(["vaults", "create", "Team", "--shared"]);
  await stack.owner.client.vaults.members.add(vault.id, address);
  await runs(owner, ["folders", "create", "Team:reports"]);
  for (const name of ["plan.json", "notes.json"]) {
    writeFileSync(join(owner.home, name), name);
    await runs(owner, ["upload", name, "--vault", "Team", "--folder", "reports"]);
  }
});
afterAll(() => scene.stack[Symbol.asyncDispose]());

async function runs(shell: Shell, words: readonly string[]): Promise<string> {
  const ran = await shell.run(words);
  expect([words, ran.code]).toEqual([words, 0]);
  return ran.out;
}

it("a move says where to, and an act that nothing signed shows says so, with the next step [issue 49]", async () => {
  const { owner } = scene;
  await runs(agent, ["mv", "Team:reports/plan.json", "Team:renamed.json"]);
  await runs(agent, ["mv", "Team:reports/notes.json", "Team:reports/seized.json"]);
  // Content under the new name: what showed who chose that name is not kept.
  writeFileSync(join(owner.home, "seized.json"), "the owner's");
  await runs(owner, ["upload", "seized.json", "--vault", "Team", "--folder", "reports", "--if-exists", "version"]);

  const plan = await runs(owner, ["agents", "rewind", address, "--since", "1h", "--dry-run"]);
  expect(plan).toMatch(/move file [0-9a-f-]{36} renamed\.json back to plan\.json in the folder reports\n/);
  const left = plan.split("\n").find((line) => line.includes("unverified")) ?? plan;
  expect(left).toMatch(/file [0-9a-f-]{36} seized\.json: .*nothing that the agent signed shows it/);
  const [, look = ""] = /coffer (stat [0-9a-f-]{36})/.exec(left) ?? [];
  const [, versions = ""] = /coffer (versions list [0-9a-f-]{36})/.exec(left) ?? [];
  for (const line of [look, versions]) await runs(owner, line.split(" "));
});

it("acts that it left are named, and not only counted [issue 49]", async () => {
  const { owner, stack } = scene;
  const { vault } = await owner.json<{ vault: { id: string } }>(["vaults", "create", "Made meanwhile"]);
  const plan = await runs(owner, ["agents", "rewind", stack.owner.signer.chainAddress, "--since", "1h", "--dry-run"]);
  expect(plan).toMatch(/Not undone, acts on vaults, members and keys: \d+\n/);
  expect(plan).toMatch(new RegExp(`vault\\.created vault ${vault.id}`));
});

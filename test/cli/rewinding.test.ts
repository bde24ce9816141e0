/** What a rewind says to people: where things go back to, what it left and why, and what to do about that. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openLyingProxy } from "../kit/lying-proxy.ts";
import { openScene, openSharedStack, type Scene, type Shell } from "./owner-scene.ts";

let scene: Scene;
let agent: Shell;
let address: string;
let vaultId: string;

beforeAll(async () => {
  scene = await openScene(await openSharedStack());
  const { owner, stack } = scene;
  const person = await stack.invite("rewound");
  agent = scene.shellOf(person);
  address = person.signer.chainAddress;
  const { vault } = await owner.json<{ vault: { id: string } }>(["vaults", "create", "Team", "--shared"]);
  vaultId = vault.id;
  await stack.owner.client.vaults.members.add(vaultId, address);
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
  const { owner, stack } = scene;
  await runs(agent, ["mv", "Team:reports/plan.json", "Team:renamed.json"]);
  await runs(agent, ["mv", "Team:reports/notes.json", "Team:reports/seized.json"]);
  // Content under the new name, and a service that keeps to itself who chose that name.
  writeFileSync(join(agent.home, "seized.json"), "the agent's");
  await runs(agent, ["upload", "seized.json", "--vault", "Team", "--folder", "reports", "--if-exists", "version"]);
  const { files } = await stack.owner.client.files.list({ vaultId });
  const seized = files.find(({ name }) => name === "seized.json")?.id ?? "";
  await using proxy = await openLyingProxy(stack.baseUrl);
  proxy.lie = (path, answer) => {
    if (path !== `/api/files/${seized}/entries`) return answer;
    const said = answer as { entries: { how: string }[] };
    return { ...said, entries: said.entries.filter(({ how }) => how !== "rename") };
  };
  const lied = scene.shellOf(stack.owner, { SERVICE_BASE_URL: proxy.baseUrl });

  const plan = await runs(lied, ["agents", "rewind", address, "--since", "1h", "--dry-run"]);
  expect(plan).toMatch(/move file [0-9a-f-]{36} renamed\.json back to plan\.json in the folder reports\n/);
  const left = plan.split("\n").find((line) => line.includes("unverified")) ?? plan;
  expect(left).toMatch(/file [0-9a-f-]{36} seized\.json: .*nothing that the agent signed shows it/);
  const [, look = ""] = /coffer (stat [0-9a-f-]{36})/.exec(left) ?? [];
  const [, versions = ""] = /coffer (versions list [0-9a-f-]{36})/.exec(left) ?? [];
  for (const line of [look, versions]) await runs(owner, line.split(" "));
});

it("acts that it left are named, and not only counted [issue 49]", async () => {
  const { owner, stack } = scene;
  const { vault } = await owner.json<{ vault: { id: string } }>(["vaults", "create", "Made meanwhile", "--public"]);
  const { credential } = await stack.owner.client.account.get();
  const plan = await runs(owner, ["agents", "rewind", credential.id ?? "", "--since", "1h", "--dry-run"]);
  expect(plan).toMatch(/Not undone, acts on vaults, members and keys: \d+\n/);
  expect(plan).toMatch(new RegExp(`vault\\.created vault ${vault.id}`));
});

/** What members do with the files of a shared vault by `coffer`: as scripts, and in a pseudo-terminal. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formsOf } from "../../kit/secret-forms.ts";
import type { SharedPerson as StackPerson, SharedStack } from "../../kit/shared-stack.ts";
import { objectAt, objectsAt } from "../kit/account.ts";
import { clockAhead } from "../kit/clock-ahead.ts";
import { cofferOf, type CofferUser } from "../kit/coffer.ts";
import type { SharedPerson } from "../kit/shared-service.ts";
import { parseObject } from "../kit/stack.ts";
import type { Checks, SharedWorld } from "./run.ts";
import { STREETS } from "./search-names.ts";

/** J17. `contents`: of each name in the vault "Leaving". */
export function leavesByCommand(
  { service, scratch }: SharedWorld,
  people: { readonly member: SharedPerson; readonly stranger: SharedPerson },
  contents: ReadonlyMap<string, Uint8Array>,
): Checks {
  const bundle = join(scratch, "export.bundle");
  return {
    "J17-decrypt": async () => {
      const member = await cofferOf(service, people.member, scratch);
      const stranger = await cofferOf(service, people.stranger, scratch);
      assert.equal((await member.document("export", "Leaving", bundle))["files"], contents.size);
      const again = await member.type(["export", "Leaving", bundle]);
      assert.match(again.screen, /Exported Leaving: 3 files/);
      const [piped, typed, nothing] = ["piped", "typed", "nothing"].map((name) => join(scratch, name)) as [
        string,
        string,
        string,
      ];
      // The service is gone: no request reaches it, and no API key is needed.
      const gone = { env: { SERVICE_API_KEY: "", SERVICE_BASE_URL: "http://127.0.0.1:1" } };
      const { code, out } = await member.run(["decrypt", bundle, piped, "--json"], gone);
      assert.deepEqual([code, parseObject(out)["failed"]], [0, 0], out);
      await service.tap.cutting(
        () => true,
        async () => {
          const { screen } = await member.type(["decrypt", bundle, typed]);
          assert.match(screen, /Decrypted 3 files/);
        },
      );
      for (const place of [piped, typed])
        for (const [name, body] of contents) assert.deepEqual(await readFile(join(place, name)), Buffer.from(body));
      const refused = await stranger.run(["decrypt", bundle, nothing, "--json"], gone);
      assert.notEqual(refused.code, 0, refused.out);
    },
  };
}

/** J20, after the author of the second version was removed. */
export function removedAuthorByCommand(
  { service, scratch }: SharedWorld,
  owner: SharedPerson,
  author: string,
  second: string,
): Checks {
  return {
    "J20-shared-cli": async () => {
      const user = await cofferOf(service, owner, scratch);
      const named = "Yesterday:report.txt";
      const versions = objectsAt(await user.document("versions", "list", named), "versions");
      const theirs = objectAt(versions.find(({ number }) => number === 2) ?? {}, "author");
      assert.deepEqual([theirs["chainAddress"], theirs["verified"]], [author, true]);
      const copy = join(scratch, "by the removed.txt");
      const { code, screen } = await user.type(["versions", "get", named, "2", copy]);
      assert.equal(code, 0, screen);
      assert.equal(await readFile(copy, "utf8"), second);
      assert.equal((await user.document("versions", "restore", named, "2"))["restored"], true);
      assert.equal((await user.run(["cat", named])).out, second);
    },
  };
}

/** J22. Programs have the journey's clock as it is when they start. */
export async function endsByCommand(
  { scratch }: SharedWorld,
  stack: SharedStack,
  {
    ahead,
    vaultId,
    end,
    guest,
  }: {
    readonly ahead: () => number;
    readonly vaultId: string;
    /** In RFC 3339. */
    readonly end: string;
    readonly guest: StackPerson;
  },
): Promise<Checks> {
  const networkFile = join(scratch, "network of commands.json");
  await writeFile(networkFile, JSON.stringify(stack.localnet.network()));
  const open = async (person: StackPerson): Promise<CofferUser> => {
    const clock = join(scratch, `clock-${crypto.randomUUID()}.mjs`);
    await writeFile(clock, clockAhead(ahead()));
    return cofferOf({ baseUrl: stack.baseUrl, networkFile }, person, scratch, {
      NODE_OPTIONS: `--import=${clock}`,
    });
  };
  const address = guest.signer.chainAddress;
  return {
    "J22-cli": async () => {
      const owner = await open(stack.owner);
      const { code, screen } = await owner.type(["members", "add", vaultId, address, "--until", end]);
      assert.equal(code, 0, screen);
      const { members } = await owner.document("members", "list", vaultId);
      const listed = objectsAt({ members }, "members").find((member) => member["chainAddress"] === address);
      assert.equal(listed?.["endsAt"], end);
      // The same end again takes nothing away.
      const again = await owner.document("members", "set-until", vaultId, address, end);
      assert.equal(objectAt(again, "member")["endsAt"], end);
      const user = await open(guest);
      const early = await user.run(["upload", "--stdin", "--name", "x", "--vault", vaultId], { input: "x" });
      assert.match(early.err, /^next: coffer vaults set-signing-key [0-9a-f-]{36}$/m);
      assert.equal((await user.run(["vaults", "set-signing-key", vaultId])).code, 0);
      const sent = await user.run(["upload", "--stdin", "--name", "by the guest", "--vault", vaultId, "--json"], {
        input: "written in time",
      });
      assert.equal(sent.code, 0, sent.out);
      assert.equal((await user.type(["cat", "by the guest", "--vault", vaultId])).screen.trim(), "written in time");
    },
    "J22-cli-ended": async () => {
      const user = await open(guest);
      const words = ["download", "by the guest", join(scratch, "late.txt"), "--vault", vaultId];
      const refused = await user.run([...words, "--json"]);
      const { code, nextStep } = objectAt(parseObject(refused.out), "error");
      assert.deepEqual([refused.code, code], [6, "membership_ended"], refused.out);
      assert.ok(String(nextStep).length > 10);
      const typed = await user.type(words);
      assert.equal(typed.code, 6, typed.screen);
      assert.ok(typed.screen.includes(end), typed.screen);
      const owner = await open(stack.owner);
      const late = await owner.run(["members", "set-until", vaultId, address, "never"]);
      assert.notEqual(late.code, 0);
      assert.match(late.err, /^(?:The access will end: [^\n]+\n)?error: [^\n]+\nnext: [^\n]+\n$/);
    },
  };
}

/** J24, in the vault "Closed" and beside it. */
export function findsByCommand({ service, scratch }: SharedWorld, agent: SharedPerson): Checks {
  return {
    "J24-shared-cli": async () => {
      const user = await cofferOf(service, agent, scratch);
      const words = ["Straße", "merger-with-nobody"];
      const from = service.tap.bytes().length;
      const { files, complete } = await user.document("search", words[0] ?? "", "--vault", "Closed");
      assert.deepEqual([complete, objectsAt({ files }, "files").map(({ name }) => name)], [true, STREETS]);
      const none = await user.type(["search", words[1] ?? "", "--vault", "Closed"]);
      assert.match(none.screen, /No such files\./);
      const passed = service.tap.bytes().subarray(from);
      for (const word of words.flatMap((each) => [each, each.toLowerCase(), encodeURIComponent(each)]))
        for (const { name, bytes } of formsOf(word)) assert.ok(!passed.includes(bytes), `${word} ${name}`);
    },
  };
}

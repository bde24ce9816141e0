/** Signing up and in with `coffer`, by e-mail and password, as a person and as a script. */
import assert from "node:assert/strict";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "@coffer/sdk/node";
import { assertError, freshEmail, objectAt } from "../kit/account.ts";
import { clockAhead } from "../kit/clock-ahead.ts";
import { openCofferUser, type CofferUser } from "../kit/coffer.ts";
import { operatorVariables } from "../kit/data-directory.ts";
import { makeAccessCode, OTHER_PASSWORD, PASSWORD, refresh, signUpWithCode } from "../kit/identity.ts";
import { readMailedToken } from "../kit/outbox.ts";
import { parseObject, textOf } from "../kit/stack.ts";
import type { Checks, World } from "./run.ts";

/** Its session is in the profile store beside the configuration, and both are for their user alone. */
async function refreshTokenOf({ configuration }: CofferUser): Promise<string> {
  const file = join(configuration, "config.json");
  for (const path of [file, join(configuration, "store", "sessions.table")])
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  const profile = (await readConfig(file))?.profiles["default"];
  assert.ok(profile?.session != null);
  return profile.session.refreshToken.reveal();
}

/** J1. */
export function signsUpByCommand({ stack, scratch }: World): Checks {
  const { baseUrl, dataDirectory } = stack;
  return {
    "J1-cli": async () => {
      const accessCode = await makeAccessCode(await operatorVariables(dataDirectory), { uses: 2 });
      const email = freshEmail();
      const script = await openCofferUser(scratch, { SERVICE_BASE_URL: baseUrl });
      const words = ["signup", "--email", email, "--password-stdin", "--json"];
      const refused = await script.run(words, { input: `${PASSWORD}\n` });
      assert.equal(objectAt(parseObject(refused.out), "error")["code"], "access_code_invalid", refused.out);
      assert.equal(refused.code, 6);
      const made = await script.run([...words, "--access-code", accessCode], { input: `${PASSWORD}\n` });
      assert.deepEqual([made.code, made.err], [0, ""], made.out);
      const who = await script.document("whoami");
      const { accessLevel, chainAddress, emailVerified } = objectAt(who, "account");
      // The service names no network, so there is nothing that a chain key could open.
      assert.deepEqual([accessLevel, emailVerified, chainAddress, who["chainAddress"]], ["owner", false, null, null]);

      const person = await openCofferUser(scratch, { SERVICE_BASE_URL: baseUrl });
      const { code, screen } = await person.type(
        ["signup", "--access-code", accessCode],
        [
          { after: "E-mail: ", types: `${freshEmail()}\r` },
          { after: "New password: ", types: `${PASSWORD}\r` },
          { after: "The same again: ", types: `${PASSWORD}\r` },
        ],
      );
      assert.equal(code, 0, screen);
      for (const secret of [PASSWORD, await refreshTokenOf(script), await refreshTokenOf(person), accessCode])
        assert.ok(!`${made.out}${screen.replaceAll(/\r\n/g, "")}`.includes(secret), "a secret is on the screen");
    },
  };
}

/** J11. */
export async function signsInByCommand({ stack, scratch }: World): Promise<Checks> {
  const { baseUrl, dataDirectory } = stack;
  const user = await signUpWithCode(baseUrl, await makeAccessCode(await operatorVariables(dataDirectory)));
  const coffer = await openCofferUser(scratch, { SERVICE_BASE_URL: baseUrl });
  const refreshToken = (): Promise<string> => refreshTokenOf(coffer);
  const logIn = (password: string) =>
    coffer.run(["login", "--email", user.email, "--password-stdin", "--json"], { input: `${password}\n` });
  const typed = [{ after: "Password: ", types: `${PASSWORD}\r` }];
  return {
    "J11-cli": async () => {
      assert.equal((await logIn("a wrong password of words")).code, 4);
      assert.equal((await logIn(PASSWORD)).code, 0);
      const first = await refreshToken();
      const later = join(scratch, "later.mjs");
      await writeFile(later, clockAhead(901_000));
      const seen = await coffer.run(["whoami", "--json"], { env: { NODE_OPTIONS: `--import=${later}` } });
      assert.equal(textOf(objectAt(parseObject(seen.out), "account"), "email"), user.email, seen.err);
      assert.notEqual(await refreshToken(), first);
      // Somebody else presents the token that was used up: the whole family is dead, and the command says what to do.
      assertError(await refresh(baseUrl, first), 401);
      const dead = await coffer.run(["whoami"]);
      assert.equal(dead.code, 4);
      assert.match(dead.err, /^next: coffer login$/m);
      assert.equal((await coffer.run(["logout"])).code, 0);
      const { code, screen } = await coffer.type(["login", "--email", user.email], typed);
      assert.equal(code, 0, screen);
      assert.ok(!screen.includes(PASSWORD));
      assert.equal((await coffer.type(["logout"])).code, 0);
      assert.equal((await coffer.run(["whoami"])).code, 4);
    },
    "J11-cli-mailed": async () => {
      const verify = ["email", "verify", await readMailedToken(dataDirectory, user.email, "verify")];
      assert.equal((await coffer.type(verify)).code, 0);
      assert.equal((await coffer.run(verify)).code, 1);
      assert.equal((await coffer.run(["password", "forgot", user.email])).code, 0);
      const token = await readMailedToken(dataDirectory, user.email, "reset");
      const reset = ["password", "reset"];
      const input = `${token}\n${OTHER_PASSWORD}\n`;
      const { code, out, err } = await coffer.run([...reset, "--stdin", "--json"], { input });
      assert.equal(code, 0, out + err);
      const { code: again, screen } = await coffer.type(reset, [
        { after: "Token of the mail: ", types: `${token}\r` },
        { after: "New password: ", types: `${PASSWORD}\r` },
        { after: "The same again: ", types: `${PASSWORD}\r` },
      ]);
      assert.equal(again, 1, screen);
      for (const secret of [token, PASSWORD, OTHER_PASSWORD]) assert.ok(!`${out}${err}${screen}`.includes(secret));
      assert.equal((await logIn(PASSWORD)).code, 4);
      assert.equal((await logIn(OTHER_PASSWORD)).code, 0);
      assert.equal(objectAt(await coffer.document("whoami"), "account")["emailVerified"], true);
    },
  };
}

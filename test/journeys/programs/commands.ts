/** What an owner and an agent do with `coffer` in the journeys of public vaults. */
import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { assertError, createKey, fieldsOf, objectAt, objectsAt, signUp } from "../kit/account.ts";
import { openCofferUser, type CofferUser } from "../kit/coffer.ts";
import { send } from "../kit/http.ts";
import { parseObject, textOf } from "../kit/stack.ts";
import type { Check, Checks } from "./run.ts";

interface Place {
  readonly baseUrl: string;
  readonly scratch: string;
}

interface Owner extends CofferUser {
  readonly apiKey: string;
}

/** An account of its own: what commands do stays out of the other checks' sight. */
async function newOwner({ baseUrl, scratch }: Place): Promise<Owner> {
  const { apiKey } = await signUp(baseUrl);
  return { ...(await openCofferUser(scratch, { SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: apiKey })), apiKey };
}

const occurrences = (text: string, part: string): number => text.split(part).length - 1;

/** J3. */
export async function invitesByCommand(place: Place): Promise<Checks> {
  const owner = await newOwner(place);
  await owner.document("vaults", "create", "V", "--public");
  const words = ["invites", "create", "--name", "bot", "--scopes", "files:read,files:write", "--vaults", "V"];
  let code = "";
  return {
    "J3-create": async () => {
      const { code: exit, out, err } = await owner.run([...words, "--expires", "1"]);
      assert.equal(exit, 0, err);
      [code = ""] = /cofi_[0-9A-Za-z]{49}\.[\w-]+/.exec(out) ?? [];
      assert.equal(occurrences(out + err, code), 1, out);
      const { screen } = await owner.type([...words, "--expires", "1"]);
      const [seen = ""] = /cofi_[0-9A-Za-z]{49}\.[\w-]+/.exec(screen) ?? [];
      assert.equal(occurrences(screen, seen), 1, screen);
    },
    "J3-list": async () => {
      assert.ok(code.length > 40);
      const { invites } = await owner.document("invites", "list");
      const [newest] = objectsAt({ invites }, "invites");
      assert.deepEqual([newest?.["name"], newest?.["status"]], ["bot", "created"]);
      const { out } = await owner.run(["invites", "list"]);
      assert.match(out, /created/);
      assert.ok(!out.includes("cofi_"), out);
    },
    "J3-expires-73": async () => {
      const { code: exit, out, err } = await owner.run([...words, "--expires", "73"]);
      assert.deepEqual([exit, out], [2, ""]);
      assert.match(err, /^error: .*72[^]*^next: /m);
    },
    "J3-expires-72": async () => {
      const made = objectAt(await owner.document(...words, "--expires", "72"), "invite");
      const hours = (Date.parse(textOf(made, "expiresAt")) - Date.parse(textOf(made, "createdAt"))) / 3_600_000;
      assert.ok(Math.abs(hours - 72) < 0.01, String(hours));
    },
  };
}

/** J4. */
export const joinsByCommand = (place: Place): { readonly "J4-login": Check } => ({
  "J4-login": async () => {
    const inviter = await newOwner(place);
    const vaultIds = [textOf(objectAt(await inviter.document("vaults", "create", "V", "--public"), "vault"), "id")];
    const scopes = ["files:read", "files:write"];
    const words = ["--scopes", scopes.join(","), "--vaults", vaultIds.join(",")];
    const made = await inviter.document("invites", "create", "--name", "newcomer", ...words);
    const agent = await openCofferUser(place.scratch, { SERVICE_BASE_URL: place.baseUrl });
    const text = textOf(objectAt(made, "invite"), "code");
    const { code, out, err } = await agent.run(["login", "--invite-code", text]);
    assert.equal(code, 0, err);
    const file = join(agent.configuration, "config.json");
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(agent.configuration)).mode & 0o777, 0o700);
    const saved = objectAt(objectAt(parseObject(await readFile(file, "utf8")), "profiles"), "default");
    assert.match(textOf(saved, "chainPrivateKey"), /^suiprivkey1/);
    const [address = ""] = /0x[0-9a-f]{64}/.exec(out) ?? [];
    for (const name of ["chainPrivateKey", "apiKey"]) assert.ok(!(out + err).includes(textOf(saved, name)), name);
    const answer = fieldsOf(await send(place.baseUrl, "/api/account", { key: textOf(saved, "apiKey") }));
    assert.equal(textOf(objectAt(answer, "account"), "accessLevel"), "agent");
    const credential = objectAt(answer, "credential");
    assert.deepEqual([credential["scopes"], credential["vaultIds"]], [scopes, vaultIds]);
    assert.equal(credential["chainAddress"], address);
    const second = await inviter.document("invites", "create", "--name", "typist", ...words);
    const typist = await openCofferUser(place.scratch, { SERVICE_BASE_URL: place.baseUrl });
    const typed = await typist.type(["login", "--invite-code", textOf(objectAt(second, "invite"), "code")]);
    assert.equal(typed.code, 0, typed.screen);
    assert.match(typed.screen, /Your chain address: 0x/);
    assert.doesNotMatch(typed.screen, /suiprivkey1|cof_/);
    // The variable wins over the file.
    const other = await openCofferUser(place.scratch, { SERVICE_BASE_URL: place.baseUrl });
    const { chainAddress: otherAddress } = await other.document("chain", "generate");
    const otherFile = parseObject(await readFile(join(other.configuration, "config.json"), "utf8"));
    const key = textOf(objectAt(objectAt(otherFile, "profiles"), "default"), "chainPrivateKey");
    const shown = await agent.run(["chain", "address"], { env: { SERVICE_CHAIN_PRIVATE_KEY: key } });
    assert.ok(shown.out.includes(String(otherAddress)), shown.out + shown.err);
  },
});

/** J8. */
export const webhooksByCommand = (place: Place, url: string): { readonly "J8-create": Check } => ({
  "J8-create": async () => {
    const coffer = await newOwner(place);
    const words = ["webhooks", "create", "--url", url, "--events", "file.uploaded,vault.member_removed"];
    const { code, out, err } = await coffer.run(words);
    assert.equal(code, 0, err);
    const [secret = ""] = /whsec_[\w+/=]+/.exec(out) ?? [];
    assert.ok(secret.length > 20);
    assert.equal(occurrences(out + err, secret), 1);
    const { webhooks } = await coffer.document("webhooks", "list");
    const [made] = objectsAt({ webhooks }, "webhooks");
    assert.deepEqual(made?.["events"], ["file.uploaded", "vault.member_removed"]);
    const id = textOf(made, "id");
    assert.ok(!JSON.stringify(await coffer.document("webhooks", "get", id)).includes(secret));
    assert.equal((await coffer.type(["webhooks", "delete", id], [{ after: "[y/N] ", types: "y\r" }])).code, 0);
  },
});

/** J9. */
export const revokesByCommand = (place: Place): { readonly "J9-cli-revoke": Check } => ({
  "J9-cli-revoke": async () => {
    const coffer = await newOwner(place);
    const { id, key } = await createKey(place.baseUrl, coffer.apiKey, { name: "ended by command" });
    assert.equal((await send(place.baseUrl, "/api/account", { key })).status, 200);
    const refused = await coffer.run(["api-keys", "revoke", id]);
    assert.equal(refused.code, 2, refused.err);
    assert.equal((await send(place.baseUrl, "/api/account", { key })).status, 200);
    const { code, screen } = await coffer.type(["api-keys", "revoke", id], [{ after: "[y/N] ", types: "y\r" }]);
    assert.equal(code, 0, screen);
    assertError(await send(place.baseUrl, "/api/account", { key }), 401);
    const signedOut = await coffer.run(["vaults", "list"], { env: { SERVICE_API_KEY: key } });
    assert.equal(signedOut.code, 4);
    assert.match(signedOut.err, /^next: ask the account's owner for a new invite/m);
  },
});

/** J19, before anything was edited. */
export const auditByCommand = (
  { baseUrl, scratch }: Place,
  apiKey: string,
  actions: readonly string[],
): { readonly "J19-cli": Check } => ({
  "J19-cli": async () => {
    const coffer = await openCofferUser(scratch, { SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: apiKey });
    const { events } = await coffer.document("audit", "list", "--all");
    const listed = new Set(objectsAt({ events }, "events").map(({ action }) => action));
    for (const action of actions) assert.ok(listed.has(action), action);
    const verdict = await coffer.document("audit", "verify");
    assert.deepEqual(
      [verdict["intact"], verdict["fault"], verdict["entries"]],
      [true, null, objectsAt({ events }, "events").length],
    );
    const { screen } = await coffer.type(["audit", "list"]);
    for (const action of actions) assert.ok(screen.includes(action), screen);
    assert.equal((await coffer.type(["audit", "verify"])).code, 0);
  },
});

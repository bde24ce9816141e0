import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { testPackage } from "../../scripts/move.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const SOURCE = readFileSync(path.join(import.meta.dirname, "../../packages/chain/move/sources/vault.move"), "utf8");

/** Rules of the module, each broken: what stands there, and what is put in its place. */
const BROKEN: readonly (readonly [rule: string, right: string, wrong: string])[] = [
  ["only the owner adds", "    assert_owner(vault, ctx);\n    assert_signing_key(&signing_key);", ""],
  ["the key servers ask whether the caller is a member", "find(&vault.members, sender) < vault", "0 <= vault"],
  [
    "a removal raises the generation",
    "close(vault, entry);\n    vault.generation = vault.generation + 1;",
    "close(vault, entry);",
  ],
  ["an identity has its exact length", "id.length() == IDENTITY_BYTES", "id.length() >= IDENTITY_BYTES"],
  ["an identity names the vault", "if (bytes[at] != prefix[at]) return false;", ""],
  ["an identity names no generation to come", "<= vault.generation, ELater", "<= vault.generation + 1, ELater"],
  ["generations are big endian", "(value << 8) | (bytes[at] as u64)", "(value >> 8) | ((bytes[at] as u64) << 56)"],
  ["only the owner removes", "    assert_owner(vault, ctx);\n    take_out", "    take_out"],
  ["only the owner offers", "    assert_owner(vault, ctx);\n    let owner", "    let owner"],
  ["only the owner raises the floor", "    assert_owner(vault, ctx);\n    assert!(floor <=", "    assert!(floor <="],
  ["only whom it was offered to accepts", "    assert!(vault.offered == option::some(to), ENotOffered);", ""],
  ["an offer is accepted once", "    vault.offered = option::none();\n    vault.owner", "    vault.owner"],
  [
    "an offer ends with the membership",
    "if (vault.offered == option::some(member)) vault.offered = option::none();",
    "",
  ],
  [
    "the new owner leaves the members",
    "let entry = vault.members.remove(at);\n        close(vault, entry);",
    "let entry = vault.members[at];\n        close(vault, entry);",
  ],
  ["the old owner is kept as a former one", "    close(vault, from);", ""],
  ["the oldest former entry gives way", "vault.former.remove(0);", "vault.former.pop_back();"],
  ["an entry closes with the generation so far", "until: vault.generation }", "until: vault.generation + 1 }"],
  [
    "a member is one from now on",
    "signing_key, since: vault.generation });\n    event",
    "signing_key, since: 1 });\n    event",
  ],
  ["a replaced key closes the entry", "        close(vault, old);", ""],
  ["a first key takes no right away", "if (old.signing_key.length() > 0) {", "if (true) {"],
  ["an equal key changes nothing", "if (old.signing_key == signing_key) return;", ""],
  ["keys are replaced sixteen times", "< MAX_REPLACED_KEYS, ETooMany", "<= MAX_REPLACED_KEYS, ETooMany"],
  ["a thousand members", "vault.members.length() < MAX_MEMBERS", "vault.members.length() <= MAX_MEMBERS"],
  ["nobody is added twice", "== vault.members.length(), EAlreadyMember", "<= vault.members.length(), EAlreadyMember"],
  ["the owner cannot leave", "    assert!(ctx.sender() != vault.owner.chain_address, EIsOwner);", ""],
  ["a key has 32 bytes or none", "key.length() == 0 || key.length() == SIGNING_KEY_BYTES", "key.length() <= 33"],
  ["the floor stays below the generation", "floor <= vault.generation", "floor <= vault.generation + 1"],
  ["the floor is not lowered", "floor >= vault.floor", "floor >= 0"],
];

// A few of them each time: every run compiles the module anew. `npm run test:full` breaks them all.
const chosen = FULL ? BROKEN : BROKEN.slice(0, 4);

it.each(chosen)("notices when it no longer holds that %s", async (_, right, wrong) => {
  expect(SOURCE.split(right)).toHaveLength(2);
  const { passed, output } = await testPackage(undefined, SOURCE.replace(right, wrong));
  expect(output).toContain("Test result: FAILED");
  expect(passed).toBe(false);
});

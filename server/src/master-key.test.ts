import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { requireMasterKey } from "./master-key.ts";
import { systemRandom } from "./ports/random.ts";
import { createAtRest } from "./secrets/at-rest.ts";
import { openTestApp } from "./app.test-kit.ts";

it("a server starts under the master key of its database alone, and past a row that is damaged", async () => {
  await using test = await openTestApp();
  const { database } = test.deps;
  const another = { database, atRest: createAtRest(randomBytes(32), systemRandom) };
  // There is nothing yet that another key could not open.
  await expect(requireMasterKey(another)).resolves.toBeUndefined();
  const { key } = await test.signUp();
  for (const url of ["https://one.example/hook", "https://two.example/hook"]) {
    const made = await test.ask("POST", "/api/webhooks", { key, json: { url, events: ["file.uploaded"] } });
    expect(made.status).toBe(201);
  }
  await expect(requireMasterKey(test.deps)).resolves.toBeUndefined();
  await expect(requireMasterKey(another)).rejects.toThrow("SERVICE_MASTER_KEY: not the one");
  const damage = { secret: Buffer.from("damaged, and of no key at all").toString("base64url") };
  await database.transaction((transaction) =>
    transaction.run(transaction.build.updateTable("webhooks").set(damage).where("url", "like", "%one%")),
  );
  await expect(requireMasterKey(test.deps)).resolves.toBeUndefined();
});

it("holds for the salts of zkLogin as well", async () => {
  await using test = await openTestApp();
  const { database, atRest } = test.deps;
  const { id } = await test.signUp();
  const salt = { zklogin_salt: atRest.protect("1", "zklogin-salt", id) };
  await database.transaction((transaction) =>
    transaction.run(transaction.build.updateTable("accounts").set(salt).where("id", "=", id)),
  );
  await expect(requireMasterKey(test.deps)).resolves.toBeUndefined();
  const another = { database, atRest: createAtRest(randomBytes(32), systemRandom) };
  await expect(requireMasterKey(another)).rejects.toThrow("SERVICE_MASTER_KEY: not the one");
});

import { expect, it } from "vitest";
import { openTestApp } from "./app.test-kit.ts";

it("ends with an error when its database or its log holds a secret that went through it", async () => {
  const stored = await openTestApp();
  const { id, key } = await stored.signUp();
  const { database } = stored.deps;
  await database.run(
    database.build
      .updateTable("accounts")
      .set({ name: `key ${key}` })
      .where("id", "=", id),
  );
  await expect(stored[Symbol.asyncDispose]()).rejects.toThrow(/(coffer\.sqlite(-wal)?|rows) at \d+: apiKey \(raw\)/);

  const logged = await openTestApp({
    replace: ({ database: real }) => ({
      database: new Proxy(real, {
        get(target, name) {
          if (name === "first") throw new Error(Buffer.from(key).toString("hex"));
          const member: unknown = Reflect.get(target, name, target);
          return typeof member === "function" ? (member.bind(target) as unknown) : member;
        },
      }),
    }),
  });
  await logged.ask("GET", "/api/account", { key });
  await expect(logged[Symbol.asyncDispose]()).rejects.toThrow(/log at \d+: apiKey \(hex\)/);
});

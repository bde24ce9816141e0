/** TEST ONLY: races for what an account has a number of, and for who may still act. */
import { hash } from "node:crypto";
import { MAX_MEMBERS } from "@coffer/contract";
import { newTestVault } from "../drivers/chain/test-chain.ts";
import { newSigner } from "../features/invites/test-invites.ts";
import type { TestAnswer } from "../test-app.ts";
import { type Race, statusOf, successes } from "./test-race.ts";
import { hold } from "./test-world.ts";

/** Made by several at once, where two more may be made. */
function limited(what: string, path: string, environment: string, json: (index: number) => object): Race {
  return {
    name: `new ${what} × their limit`,
    bites: "early",
    environment: { [environment]: "3" },
    async begin(world) {
      const make = (index: number) => () => world.ask("POST", path, { json: json(index) });
      if (what !== "API keys" && what !== "vaults") await world.make("POST", path, { json: json(9) });
      return {
        acts: [0, 1, 2, 3].map(make),
        holds: (answers) => hold(successes(answers) === 2, `${successes(answers)} were made, two may be`),
      };
    },
  };
}

export const ACCOUNT_RACES: readonly Race[] = [
  limited("vaults", "/api/vaults", "SERVICE_MAX_VAULTS", (index) => ({ name: `V${index}`, type: "public" })),
  limited("webhooks", "/api/webhooks", "SERVICE_MAX_WEBHOOKS", (index) => ({
    ...{ url: `http://127.0.0.1:9/${index}`, events: ["*"] },
  })),
  {
    name: "new members × their limit",
    bites: "early",
    async begin(world) {
      const { chain, deps } = world.app;
      const { database } = deps;
      const [{ chainAddress, publicKey }, people] = [newSigner(), [newSigner(), newSigner()]];
      const linked = database.build.updateTable("accounts").set({ chain_address: chainAddress });
      await database.run(linked.where("id", "=", world.id));
      const objectId = `0x${hash("sha256", world.id, "hex")}`;
      chain.set(objectId, newTestVault({ address: chainAddress, signingKey: publicKey }));
      const json = { name: "S", type: "shared", chainObjectId: objectId };
      const vaultId = (await world.make("POST", "/api/vaults", { json }))["vault"]?.id ?? "";
      const rows = Array.from({ length: MAX_MEMBERS - 1 }, (_, index) => ({
        ...{ vault_id: vaultId, chain_address: `0x${index}`, label: "", added_at: 1, removed_at: null },
      }));
      await database.run(database.build.insertInto("vault_members").values(rows));
      for (const { chainAddress: address, publicKey: signingKey } of people)
        chain.add(objectId, { address, signingKey });
      const add = (member: string) => () =>
        world.ask("POST", `/api/vaults/${vaultId}/members`, { json: { chainAddress: member } });
      return {
        acts: people.map(({ chainAddress: member }) => add(member)),
        holds: (answers) => hold(successes(answers) === 1, `${successes(answers)} were added, one may be`),
      };
    },
  },
  {
    name: "sign-ups × one address: one has it",
    bites: "holds: the unique index decides",
    begin: (world) => {
      const json = { email: `twice-${world.id}@example.test` };
      const signUp = () => world.ask("POST", "/api/auth/dev-signup", { json });
      return Promise.resolve({
        acts: [signUp, signUp],
        holds(answers) {
          hold(successes(answers) === 1, "both have it");
          const refused = answers.find((answer) => statusOf(answer) >= 300) as TestAnswer;
          hold(refused.headers["x-error-code"] === "email_exists", refused.text);
        },
      });
    },
  },
];

/** TEST ONLY: races for things that an account has a number of, and for the right to act. */
import { hash } from "node:crypto";
import { MAX_MEMBERS } from "@coffer/contract";
import { newTestVault } from "../drivers/chain/chain.test-kit.ts";
import { actOn } from "../features/account/act.ts";
import { requireBinding } from "../features/api-keys/binding.ts";
import { addKey } from "../features/api-keys/creation.ts";
import { MOST_LIVE } from "../features/chain-proofs/challenges.ts";
import { newSigner } from "../features/invites/invites.test-kit.ts";
import { linkAddress } from "../features/linking/linking.ts";
import { renderMetadata } from "../features/files/upload/resumable/metadata.ts";
import { PART, TUS } from "../features/files/upload/resumable/resumable.test-kit.ts";
import { removeOldEntries } from "../jobs/audit-retention.ts";
import { ServiceError } from "../service-error.ts";
import type { TestAnswer } from "../app.test-kit.ts";
import { type Race, statusOf, successes } from "./race.test-kit.ts";
import { hold, type World } from "./world.test-kit.ts";

const DAY = 24 * 60 * 60_000;

/** Made by several at once, where two more may be made. */
function limited(what: string, path: string, environment: string, json: (index: number) => object): Race {
  return {
    name: `new ${what} × their limit`,
    bites: "early",
    environment: { [environment]: "3" },
    async start(world) {
      const make = (index: number) => () => world.ask("POST", path, { json: json(index) });
      if (what !== "API keys" && what !== "vaults") await world.make("POST", path, { json: json(9) });
      return {
        acts: [0, 1, 2, 3].map(make),
        holds: (answers) => hold(successes(answers) === 2, `${successes(answers)} were made, two may be`),
      };
    },
  };
}

/** A key that is revoked while it makes something. */
function revocation(what: string, acts: (world: World, key: string) => Promise<(() => Promise<unknown>)[]>): Race {
  return {
    name: `a key's revocation × ${what} it makes: nothing is made behind it`,
    bites: "early",
    async start(world) {
      const { id, key } = await newKey(world);
      return {
        acts: [() => world.ask("DELETE", `/api/auth/api-keys/${id}`), ...(await acts(world, key))],
        holds: () => requireSilence(world, id),
      };
    },
  };
}

async function newKey(world: World): Promise<{ id: string; key: string }> {
  const made = await world.make("POST", "/api/auth/api-keys", { json: { name: "K" } });
  return made as unknown as { id: string; key: string };
}

/** In the audit log the key does nothing behind its revocation. */
async function requireSilence(world: World, keyId: string): Promise<void> {
  const rows = (await world.rows("changes")).sort((a, b) => a.sequence - b.sequence);
  const end = rows.findIndex((row) => row.action === "api_key.revoked" && row.target_json.includes(keyId));
  const later = rows.slice(end + 1).find((row) => row.actor_json.includes(keyId));
  hold(end !== -1 && later === undefined, `a revoked key did ${later?.action ?? "not end"}`);
}

export const ACCOUNT_RACES: readonly Race[] = [
  limited("API keys", "/api/auth/api-keys", "SERVICE_MAX_API_KEYS", (index) => ({ name: `K${index}` })),
  limited("vaults", "/api/vaults", "SERVICE_MAX_VAULTS", (index) => ({ name: `V${index}`, type: "public" })),
  limited("invites", "/api/auth/invites", "SERVICE_MAX_INVITES", (index) => ({ name: `I${index}` })),
  limited("webhooks", "/api/webhooks", "SERVICE_MAX_WEBHOOKS", (index) => ({
    url: `http://127.0.0.1:9/${index}`,
    events: ["*"],
  })),
  {
    name: "new members × their limit",
    bites: "early",
    async start(world) {
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
        vault_id: vaultId,
        chain_address: `0x${index}`,
        label: "",
        added_at: 1,
        removed_at: null,
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
    name: "new challenges × how many a credential has",
    bites: "unlocked",
    async start(world) {
      const path = "/api/account/link-chain/challenge";
      await world.make("POST", path);
      const { database } = world.app.deps;
      const [one] = await world.rows("chain_challenges");
      hold(one !== undefined, "there is no challenge");
      const rows = Array.from({ length: MOST_LIVE - 2 }, (_, index) => ({
        ...one,
        nonce_hash: `${world.id} ${index}`,
      }));
      await database.run(database.build.insertInto("chain_challenges").values(rows));
      return {
        acts: [0, 1, 2].map(() => () => world.ask("POST", path)),
        async holds() {
          const { length } = await world.rows("chain_challenges");
          hold(length <= MOST_LIVE, `${length} challenges`);
        },
      };
    },
  },
  revocation("credentials", async (world, key) => [
    () => world.ask("POST", "/api/auth/api-keys", { key, json: { name: "L" } }),
    () => world.ask("POST", "/api/auth/invites", { key, json: { name: "I" } }),
  ]),
  revocation("files", async (world, key) => {
    const file = await world.file("a");
    const begun = { ...TUS, "upload-length": "1", "upload-metadata": renderMetadata({ filename: "c" }) };
    const { headers } = await world.ask("POST", "/api/uploads", { key, headers: begun });
    const part = { ...TUS, "upload-offset": "0", "content-type": PART.contentType };
    return [
      () => world.ask("POST", "/api/files?name=b", { key, payload: "1" }),
      () => world.ask("PUT", `/api/files/${file}/content`, { key, payload: "12" }),
      () => world.ask("PATCH", String(headers["location"]), { key, headers: part, payload: "1" }),
    ];
  }),
  {
    name: "a key's rotation × its revocation × its rotation: one key comes of it at most",
    bites: "early",
    async start(world) {
      const { id } = await newKey(world);
      const rotate = () => world.ask("POST", `/api/auth/api-keys/${id}/rotate`, { json: {} });
      return {
        acts: [rotate, rotate, () => world.ask("DELETE", `/api/auth/api-keys/${id}`)],
        async holds(answers) {
          const made = successes(answers.slice(0, 2));
          hold(made <= 1, `${made} keys came of one`);
          const rows = (await world.rows("changes")).filter((row) => row.action === "api_key.revoked");
          hold(rows.length === 1, `the key was revoked ${rows.length} times`);
        },
      };
    },
  },
  {
    name: "the audit log's retention × itself at another hour: what was removed is known",
    bites: "holds: what is noted as removed only moves on, as a condition says",
    async start(world) {
      const { app } = world;
      for (const name of ["a", "b", "c"]) {
        await world.folder(name);
        app.clock.advance(DAY);
      }
      const now = app.clock.now();
      const remove = (days: number) => () => {
        const clock = { ...app.clock, now: () => now + (365 + days) * DAY };
        return removeOldEntries({ ...app.deps, clock }, new AbortController().signal);
      };
      return { acts: [remove(-2), remove(-1), remove(0)] };
    },
  },
  {
    name: "sign-ups × one address: one has it",
    bites: "holds: the unique index decides",
    start: (world) => {
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
  {
    name: "an address that one account links × another's key is bound to: it is one or the other",
    bites: "early",
    async start(world) {
      const { deps } = world.app;
      const other = await world.app.signUp();
      const chainAddress = `0x${hash("sha256", world.id, "hex")}`;
      const wanted = { chainAddress, chainPublicKey: null, source: "external", actor: null } as const;
      const rights = { scopes: null, vaultIds: null, expiresAt: null, budgets: [] };
      const link = () => refusable(actOn(deps, world.id, (act) => linkAddress(deps, act, wanted)));
      const bind = () =>
        refusable(
          actOn(deps, other.id, async (act) => {
            const binding = await requireBinding(act, { chainAddress, proven: { publicKey: null } });
            await addKey(deps, act, { actor: null }, { name: "bot", rights, ...binding });
          }),
        );
      return {
        acts: [link, bind],
        holds: (answers) => hold(answers.filter((isDone) => isDone === true).length === 1, "it is both, or neither"),
      };
    },
  },
];

/** Whether it was done; false: refused. */
async function refusable(act: Promise<unknown>): Promise<boolean> {
  try {
    await act;
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** TEST ONLY: races for what may be used once. */
import { renderLinkText } from "@coffer/contract";
import { claimOf, makeInvite, newSigner, redeem, TEST_PLACE } from "../features/invites/invites.test-kit.ts";
import { mailToken } from "../features/mail-tokens/mail.test-kit.ts";
import { addSession } from "../features/sessions/sessions.test-kit.ts";
import { type Lease, openLeases } from "../ports/leases.ts";
import type { Race } from "./race.test-kit.ts";
import { statusOf, successes } from "./race.test-kit.ts";
import { hold, type World } from "./world.test-kit.ts";

const CONDITIONAL = "holds: one conditional statement uses it up";

/** Signs for an address to be linked to the account, with a nonce that was asked for. */
async function linking(world: World, signer = newSigner()): Promise<() => Promise<unknown>> {
  const { body } = await world.ask("POST", "/api/account/link-chain/challenge");
  const nonce = body["nonce"] as string;
  const { chainAddress } = signer;
  const text = renderLinkText({ ...TEST_PLACE, chainAddress, accountId: world.id, nonce });
  const json = { chainAddress, signature: signer.sign(text), nonce };
  return () => world.ask("POST", "/api/account/link-chain", { json });
}

export const SINGLE_USE_RACES: readonly Race[] = [
  {
    name: "one invite × who redeems it, somebody else and its revocation: one key or none",
    bites: CONDITIONAL,
    async start(world) {
      const invite = await makeInvite(world.app, world.key);
      const take = () => redeem(world.app, claimOf(newSigner(), invite.code, world.app.clock.now()));
      return {
        acts: [take, take, () => world.ask("DELETE", `/api/auth/invites/${invite.id}`)],
        async holds(answers) {
          const keys = successes(answers.slice(0, 2));
          const [row] = await world.rows("invites");
          hold(
            answers.every((answer) => statusOf(answer) < 500),
            "a redemption failed",
          );
          hold(keys === (row?.used_at === null ? 0 : 1), `${keys} keys came of one invite`);
          hold((await world.rows("api_keys")).length === 1 + keys, "there are other keys than were answered");
        },
      };
    },
  },
  {
    name: "one refresh token × who uses it three times: one pair, and the family ends",
    bites: CONDITIONAL,
    async start(world) {
      const { refreshToken, sessionId } = await addSession(world.app.deps, world.id);
      const refresh = () => world.ask("POST", "/api/auth/refresh", { json: { refreshToken } });
      return {
        acts: [refresh, refresh, refresh],
        async holds(answers) {
          hold(successes(answers) === 1, `${successes(answers)} pairs came of one token`);
          const session = (await world.rows("sessions")).find(({ id }) => id === sessionId);
          hold(session?.revoked_at !== null, "the family of a token that was used twice lives");
        },
      };
    },
  },
  {
    name: "one mailed token × who uses it twice",
    bites: CONDITIONAL,
    async start(world) {
      const account = (await world.make("GET", "/api/account"))["account"] as unknown as { email: string };
      const token = await mailToken(world.app, "verify", account.email);
      const verify = () => world.ask("POST", "/api/auth/verify-email", { json: { token } });
      return {
        acts: [verify, verify],
        holds: (answers) => hold(successes(answers) === 1, `${successes(answers)} uses`),
      };
    },
  },
  {
    name: "one challenge × who answers it twice",
    bites: CONDITIONAL,
    async start(world) {
      const link = await linking(world);
      return {
        acts: [link, link],
        holds: (answers) => hold(successes(answers) === 1, `${successes(answers)} uses`),
      };
    },
  },
  {
    name: "one Idempotency-Key × three requests: one effect",
    bites: "holds: the key's row is unique, and completed by a conditional statement",
    start(world) {
      const headers = { "idempotency-key": `once-${world.id}` };
      const make = () => world.ask("POST", "/api/auth/invites", { headers, json: { name: "I" } });
      return Promise.resolve({
        acts: [make, make, make],
        async holds(answers) {
          hold(successes(answers) >= 1, "none was made");
          hold((await world.rows("invites")).length === 1, "more than one was made");
        },
      });
    },
  },
  {
    name: "one lease × three processes",
    bites: "holds: one conditional statement takes it",
    start(world) {
      const acquire = () => openLeases(world.app.deps).acquire(`race ${world.id}`);
      return Promise.resolve({
        acts: [acquire, acquire, acquire],
        holds(answers) {
          const held = (answers as (Lease | null)[]).filter((lease) => lease !== null);
          for (const lease of held) lease.abandon();
          hold(held.length === 1, `${held.length} hold it`);
        },
      });
    },
  },
  {
    name: "one chain address × its linking and the redeeming of another account's invite: one identity",
    bites: "early",
    async start(world) {
      const { app } = world;
      const signer = newSigner();
      const other = await app.signUp();
      const invite = await makeInvite(app, other.key);
      const claim = claimOf(signer, invite.code, app.clock.now());
      return {
        acts: [await linking(world, signer), () => redeem(app, claim)],
        holds: (answers) =>
          hold(successes(answers) === 1, "the address is the owner's of one account and an agent's of another"),
      };
    },
  },
];

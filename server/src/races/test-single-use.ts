/** TEST ONLY: races for what may be used once. */
import { mailToken } from "../features/mail-tokens/test-mail.ts";
import { addSession } from "../features/sessions/test-sessions.ts";
import { type Lease, openLeases } from "../ports/leases.ts";
import type { Race } from "./test-race.ts";
import { successes } from "./test-race.ts";
import { hold } from "./test-world.ts";

const CONDITIONAL = "holds: one conditional statement uses it up";

export const SINGLE_USE_RACES: readonly Race[] = [
  {
    name: "one refresh token × who uses it three times: one pair, and the family ends",
    bites: CONDITIONAL,
    async begin(world) {
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
    async begin(world) {
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
    name: "one lease × three processes",
    bites: "holds: one conditional statement takes it",
    begin(world) {
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
];

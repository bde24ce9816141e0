/** TEST ONLY: races for webhook endpoints and what is sent to them. */
import { Engine, type EngineDeps } from "../features/webhooks/delivery/engine.ts";
import { type Race, statusOf, successes } from "./race.test-kit.ts";
import { TestReceiver } from "./receiver.test-kit.ts";
import { hold, type World } from "./world.test-kit.ts";

/** As another process has it. */
function newEngine({ app: { deps } }: World): Engine {
  const raise = ({ err }: { err: unknown }): never => {
    throw err;
  };
  const log = { info: () => undefined, error: raise } as EngineDeps["log"];
  return new Engine({ ...deps, log });
}

async function endpoint(world: World, answers: number): Promise<{ id: string; url: string }> {
  const url = `http://127.0.0.1:9/${world.id}/${answers}`;
  const made = await world.make("POST", "/api/webhooks", { json: { url, events: ["*"] } });
  return { id: made["webhook"]?.id ?? "", url };
}

/** An engine with an attempt that is over and not recorded. */
async function engineWithOutcome(world: World, change: string): Promise<Engine> {
  const engine = newEngine(world);
  await world.folder(change);
  await engine.poll();
  await engine.flush();
  await engine.settled();
  hold(engine.unrecorded > 0, "nothing was sent");
  return engine;
}

async function readEndpoint(world: World, id: string) {
  const row = (await world.rows("webhooks")).find((each) => each.id === id);
  hold(row !== undefined, "the endpoint is gone");
  return row;
}

function deliveriesOf({ app: { deps } }: World, id: string) {
  const { database } = deps;
  return database.all(database.build.selectFrom("webhook_deliveries").selectAll().where("webhook_id", "=", id));
}

export const DELIVERY_RACES: readonly Race[] = [
  {
    name: "an outcome that turns an endpoint off × changes of the endpoint: it is off, and the changes are kept",
    bites: "holds: an outcome is written on an endpoint as it was read, else reckoned again",
    async start(world) {
      const { id } = await endpoint(world, 410);
      const engine = await engineWithOutcome(world, "a");
      const change = (json: object) => () => world.ask("PATCH", `/api/webhooks/${id}`, { json });
      return {
        acts: [() => engine.flush(), change({ description: "b" }), change({ events: ["file.uploaded"] })],
        async holds() {
          const row = await readEndpoint(world, id);
          hold(row.active === 0, "an endpoint that is gone was turned on again");
          hold(row.description === "b" && row.events_json === '["file.uploaded"]', "a change was lost");
        },
      };
    },
  },
  {
    name: "outcomes of two processes × one endpoint: both count",
    bites: "holds: an outcome is written on an endpoint as it was read, else reckoned again",
    async start(world) {
      const { id } = await endpoint(world, 500);
      const engines = [await engineWithOutcome(world, "a"), await engineWithOutcome(world, "b")];
      return {
        acts: engines.map((engine) => () => engine.flush()),
        async holds() {
          const { failure_count: count } = await readEndpoint(world, id);
          hold(count === 2, `two failures, counted ${count}`);
        },
      };
    },
  },
  {
    name: "two processes × the same changes and claims: each message is sent once",
    bites: "holds: the cursor moves, and a delivery is claimed, by conditional statements",
    async start(world) {
      const { id, url } = await endpoint(world, 200);
      for (const name of ["a", "b", "c"]) await world.folder(name);
      const [one, two] = [newEngine(world), newEngine(world)];
      const work = (engine: Engine) => async () => {
        await engine.poll();
        await engine.flush();
        await engine.settled();
        await engine.flush();
      };
      return {
        acts: [work(one), work(two)],
        async holds() {
          const { webhookSender } = world.app.deps;
          hold(webhookSender instanceof TestReceiver, "another receiver");
          const ids = webhookSender.sent.filter((each) => each.url === url);
          const rows = await deliveriesOf(world, id);
          hold(rows.length === 3, `${rows.length} deliveries of three changes`);
          hold(new Set(ids.map((each) => each.id)).size === ids.length, "a message was sent twice");
        },
      };
    },
  },
  {
    name: "a recovery of what failed × itself: each message goes out once more, and is counted once",
    bites: "early",
    async start(world) {
      const { id } = await endpoint(world, 200);
      for (const name of ["a", "b", "c"]) await world.folder(name);
      await newEngine(world).poll();
      const { database } = world.app.deps;
      const failed = database.build.updateTable("webhook_deliveries").set({ status: "failed", next_attempt_at: null });
      await database.run(failed.where("webhook_id", "=", id));
      const json = { since: "2020-01-01T00:00:00.000Z" };
      const recover = () => world.ask("POST", `/api/webhooks/${id}/recover`, { json });
      return {
        acts: [recover, recover],
        async holds(answers) {
          hold(successes(answers) === 2, "one was refused");
          const again = (await deliveriesOf(world, id)).filter(({ trigger }) => trigger === "manual");
          const counted = answers.reduce<number>(
            (sum, answer) => sum + (answer as { body: { count: number } }).body.count,
            0,
          );
          hold(counted === again.length, `${again.length} go out again, counted ${counted}`);
          hold(again.length === 3, `${again.length} go out again of three`);
        },
      };
    },
  },
  {
    name: "an endpoint's deletion × an outcome and a change of it: gone is gone",
    bites: "holds: statements by id change no row that is gone",
    async start(world) {
      const { id } = await endpoint(world, 500);
      const engine = await engineWithOutcome(world, "a");
      return {
        acts: [
          () => world.ask("DELETE", `/api/webhooks/${id}`),
          () => engine.flush(),
          () => world.ask("PATCH", `/api/webhooks/${id}`, { json: { description: "b" } }),
        ],
        async holds([removed]) {
          hold(statusOf(removed) === 204, "it was not deleted");
          hold((await world.rows("webhooks")).length === 0, "it is still there");
        },
      };
    },
  },
];

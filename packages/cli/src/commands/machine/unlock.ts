import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Context } from "../../context.ts";
import { requireChainKey } from "../../chain-keys.ts";
import { command, count, toggle } from "../../declarations.ts";
import { CommandFailure, usage } from "../../failure.ts";
import { EXIT } from "../../exit-codes.ts";
import { holdKeys } from "../../held-keys/holder.ts";
import { ask, isOwnDirectory, socketOf } from "../../held-keys/socket.ts";
import { done, type Document } from "../../result.ts";
import { timeText } from "../../terminal/visible.ts";

const STANDARD = 15;
const MOST = 12 * 60;
const MINUTE = 60_000;
/** A program on a busy machine takes seconds to start. Milliseconds. */
const START = 30_000;
const LOOK = 50;
/** Bytes. Systems take 103 to 107, and the holder makes it under a longer name first. */
const MOST_PATH = 94;
/** Set for the process that stays: it gets no keys of the environment, and the command that starts it has found a chain key. */
const FOUND = "COFFER_CHAIN_KEY_FOUND";

export default command({
  brief: "Keep opened vault keys in memory, so that commands open shared vaults sooner",
  description:
    "A process of yours holds the keys that commands of this profile open, and ends with the time or with coffer lock. Nothing is written to the disk. Until then programs that run as you can read these vaults without asking the key servers, even when your access ends.",
  examples: [
    { line: "coffer unlock", does: `for ${String(STANDARD)} minutes` },
    { line: "coffer unlock --minutes 60", does: "or until coffer lock" },
  ],
  flags: {
    minutes: count(`How long: ${String(STANDARD)} without it, at most ${String(MOST)}`),
    stay: toggle("Hold the keys in this process, until Ctrl-C"),
  },
  run: async (context, { minutes = STANDARD, stay }) => {
    if (minutes > MOST) throw usage(`At most ${String(MOST)} minutes`, "coffer unlock --minutes 60");
    const socket = await requireSocket(context);
    const until = context.world.now() + minutes * MINUTE;
    if (stay) return await hold(context, socket, until);
    if ((await ask(socket, { ask: "hold", until })) === null) await start(context, socket, minutes);
    return unlocked(until);
  },
});

const unlocked = (until: number): Document => {
  const moment = new Date(until).toISOString();
  return done({ unlocked: true, until: moment }, [
    `Vault keys that commands open are kept in memory until ${timeText(moment)}. Forget them with: coffer lock`,
  ]);
};

async function hold({ world, signal, note }: Context, socket: string, until: number): Promise<Document> {
  const onReady = (): void => note("Holding the vault keys that commands open; Ctrl-C ends it");
  const isOurs = await holdKeys(socket, { until, now: world.now, signal, onReady });
  if (!isOurs) return unlocked(until);
  const exit = world.interrupted.aborted ? EXIT.interrupted : EXIT.done;
  return done({ unlocked: false }, ["The vault keys are forgotten."], { exit });
}

async function start({ world, globals, signal }: Context, socket: string, minutes: number): Promise<void> {
  const profile = globals.profile === undefined ? [] : ["--profile", globals.profile];
  const { command: program, args } = world.self;
  const stays = [...args, "unlock", "--stay", "--minutes", String(minutes), ...profile];
  await world.run({ command: program, args: stays, env: { [FOUND]: "yes" }, isLeft: true });
  for (const until = world.now() + START; world.now() < until;) {
    signal.throwIfAborted();
    if ((await ask(socket, { ask: "get", names: [] })) !== null) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
  throw new CommandFailure("local_io", {
    message: "The process that holds vault keys did not start",
    nextStep: "coffer unlock --stay in another terminal, which says why",
  });
}

async function requireSocket(context: Context): Promise<string> {
  if (context.world.platform === "win32")
    throw new CommandFailure("not_configured", {
      message: "On Windows other users could ask for the keys, so nothing holds them there",
      nextStep: "go on without it: each command opens its vaults by itself",
    });
  if (context.world.env[FOUND] !== "yes") await requireChainKey(context);
  const socket = socketOf(await context.settings(), context.world.env);
  const directory = dirname(socket);
  const refuse = (message: string, nextStep: string): never => {
    throw new CommandFailure("local_io", { message, nextStep });
  };
  if (Buffer.byteLength(socket) > MOST_PATH)
    return refuse(
      `The path of the socket is too long: ${socket}`,
      "set XDG_RUNTIME_DIR to a directory with a shorter path",
    );
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (await isOwnDirectory(directory)) return socket;
  return refuse(`Others than you can use ${directory}`, `chmod 700 ${JSON.stringify(directory)}, then repeat`);
}

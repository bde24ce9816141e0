import { command } from "../../declarations.ts";
import { ask, socketOf } from "../../held-keys/socket.ts";
import { done } from "../../result.ts";

export default command({
  brief: "Forget the vault keys that coffer unlock keeps",
  examples: [{ line: "coffer lock", does: "the next command asks the key servers again" }],
  run: async (context) => {
    const socket = socketOf(await context.settings(), context.world.env);
    const wereHeld = (await ask(socket, { ask: "end" })) !== null;
    return done({ unlocked: false, wereHeld }, [
      wereHeld ? "The vault keys are forgotten." : "No vault keys were held.",
    ]);
  },
});

import { command } from "../../../declarations.ts";
import { exitOfProgram } from "../../../exit-codes.ts";
import { usage } from "../../../failure.ts";
import { written } from "../../../result.ts";
import { toolServer } from "../../../tool-server.ts";

export default command({
  brief: "Run the tool server on standard input and output",
  description:
    "Before -- come flags of this program: --profile means credentials. After it come those of the server: --profile means tools.",
  examples: [{ line: "coffer mcp serve -- --allow ~/shared --profile read", does: "what a client would start" }],
  args: { each: { name: "flag", brief: "Flags of the tool server, after --" }, least: 0 },
  run: async ({ world, globals }, _flags, flags) => {
    if (globals.json) throw usage("Standard output belongs to the protocol", "coffer mcp serve, without --json");
    const { profile, baseUrl } = globals;
    const { command: program, args } = toolServer(world);
    const code = await world.run({
      command: program,
      args: [...args, ...flags],
      env: {
        ...(profile === undefined ? {} : { SERVICE_PROFILE: profile }),
        ...(baseUrl === undefined ? {} : { SERVICE_BASE_URL: baseUrl }),
      },
    });
    return written(exitOfProgram(code));
  },
});

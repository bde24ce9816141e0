import { command } from "../../declarations.ts";
import { done } from "../../result.ts";
import { VERSION } from "../../version.ts";

export default command({
  brief: "Print the version",
  examples: [{ line: "coffer version --json", does: "for a script" }],
  run: async ({ world }) => {
    const node = process.versions.node;
    return done({ version: VERSION, node, platform: world.platform }, [
      `coffer ${VERSION} (Node ${node}, ${world.platform})`,
    ]);
  },
});

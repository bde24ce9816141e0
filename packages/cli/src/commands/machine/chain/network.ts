import { saveProfile } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { CommandFailure } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { configuredFile, findNetwork, NETWORK_FLAGS } from "../../../service-network.ts";
import { reachableProfile } from "../../../profile-credentials.ts";

export default command({
  brief: "Save the service's network file, if its SHA-256 is the operator's",
  description:
    "Shared vaults need the file, which names chain and key servers. Without --network-digest you are asked for the first eight characters on the operator's page. A file that is configured already stays: then its path and SHA-256 are printed.",
  examples: [{ line: "coffer chain network", does: "asks what the operator's page shows" }],
  flags: { networkDigest: NETWORK_FLAGS.networkDigest },
  run: async (context, { networkDigest }) => {
    const selected = await reachableProfile(context);
    const network = await findNetwork(context, selected, { networkFile: undefined, networkDigest });
    if (network.kind === "none")
      throw new CommandFailure("not_configured", {
        message: "The service names no network, which shared vaults need",
        nextStep: "ask its operator for the network's file, then coffer config set network-file FILE",
      });
    if (network.kind === "unproven")
      throw new CommandFailure("confirmation_required", {
        message: "Nobody compared the service's network file with the page of its operator; nothing was saved",
        nextStep: "pass --network-digest HEX, from that page",
      });
    const { path, digest } = network;
    if (configuredFile(context, selected) === undefined) await saveProfile(selected, { networkFile: path });
    return done({ networkFile: path, networkDigest: digest }, [`Network file: ${path}`, `SHA-256: ${digest}`]);
  },
});

/** Changes the settings of each client by itself: one that cannot be read leaves the others alone. */
import type { Host, InstallChange } from "@coffer/tasks/install";
import type { Context } from "../../../context.ts";
import { exitOfHostChanges } from "../../../exit-codes.ts";
import { reportOf } from "../../../failure.ts";
import { done, type Document } from "../../../result.ts";

export async function changeHosts(
  { world, timedOut, printNote }: Context,
  hosts: readonly Host[],
  dryRun: boolean,
  change: (host: Host) => Promise<InstallChange>,
): Promise<Document> {
  const clients: object[] = [];
  const lines: string[] = [];
  let failed = 0;
  for (const host of hosts) {
    const about = { client: host.id, file: host.file };
    try {
      const { act, diff } = await change(host);
      clients.push({ ...about, act, diff, problem: null });
      lines.push(`${host.title}: ${dryRun && act !== "unchanged" ? `would be ${act}` : act}. ${host.file}`);
      if (dryRun && diff !== "") lines.push(diff.trimEnd());
      if (!dryRun && act !== "unchanged") lines.push(`  ${host.afterwards}`);
    } catch (thrown) {
      const { message } = reportOf(thrown, { interrupted: world.interrupted, timedOut });
      clients.push({ ...about, act: "failed", diff: "", problem: message });
      printNote(`${host.title}: ${message}. ${host.file} is as it was.`);
      failed += 1;
    }
  }
  return done({ dryRun, clients }, lines, {
    exit: exitOfHostChanges(failed, hosts.length),
  });
}

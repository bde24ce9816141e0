import { journey, type Journey } from "../observable.ts";

const yesterday = journey("J20", "Yesterday's version", [
  "J20-list sdk: a file that two keys wrote five times has five versions, newest first, each with author and time [D5-versions-list]",
  "J20-download sdk: the second newest downloads byte for byte [D5-versions-content]",
  "J20-restore sdk: restoring it makes version 6 with those bytes, stored once [D5-versions-restore]",
  "J20-tools mcp: an agent looks at the versions and brings one back by two calls",
  "J20-cli cli: versions list, get and restore do the same",
  "J20-kept-days sdk: once the days are over old versions are gone, and the newest stays [D5-versions-kept]",
  "J20-shared sdk (shared): in a shared vault the client writes an old version again, and each is verified [D5-versions-shared]",
  "J20-removed-author sdk (shared): a version by a member that was removed since still opens for the owner [D5-versions-shared]",
  "J20-shared-cli cli (shared): versions get and restore do that too",
]);

export const journeys20: readonly Journey[] = [yesterday];

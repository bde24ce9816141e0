import { journey, type Journey } from "../observable.ts";

const whatChanged = journey("J23", "What changed", [
  "J23-since sdk: the owner reads the changes since a time by one actor [D6-change-list]",
  "J23-agent sdk: an agent that is limited to a vault sees the changes of that vault only",
  "J23-tools mcp: an owner asks by an agent's name, and an agent sees and waits for changes of its vault only",
  "J23-poll sdk: a reader that waits has a change within a second",
  "J23-cli cli: changes lists since a time and by an agent, and an agent's own vault only",
  "J23-cli-follow cli: changes --follow prints a change as it comes, until Ctrl-C",
  "J23-shared sdk (shared): names of a shared vault are read by its members, and authors are verified",
  "J23-claims sdk (shared): an author that the service made up is not believed",
]);

export const journeys23: readonly Journey[] = [whatChanged];

import { journey, type Journey } from "../observable.ts";

const untilFriday = journey("J22", "Until Friday", [
  "J22-invite sdk (shared): an invite with accessUntil: its key and the membership made by it end then [E17]",
  "J22-before sdk (shared): until the end the agent reads and writes; checkAccess and the list say when it is",
  "J22-tools mcp (shared): access_grant with until makes a member with that end; its tools write, and tell the time",
  "J22-cli cli (shared): members add --until makes a member who reads and writes; set-until takes the same end",
  "J22-stream api (shared): a stream that runs at the end is cut within ten seconds [E15]",
  "J22-upload sdk (shared): an upload that runs at the end does not become a file",
  "J22-key api (shared): the key of the invite is refused from its end on: 401",
  "J22-service api (shared): a member with a key of its own is refused by the service: 403, with the time",
  "J22-key-servers sdk (shared): key servers refuse a fresh client, though nobody sent a transaction [E15]",
  "J22-tools-ended mcp (shared): after the end its tools are refused with the cause, and write and fetch nothing",
  "J22-cli-ended cli (shared): after the end its commands exit with 6 and name the time; it cannot be put off any more",
  "J22-owner sdk (shared): the owner writes on, and what it writes does not open to the one that ended [E15]",
  "J22-event webhook (shared): vault.member_ended arrives once for each end [D6-member-ended]",
  "J22-extended sdk (shared): an end that is put off at the last second keeps access; after it, it cannot be [E15]",
  "J22-shortened sdk (shared): an end that comes nearer closes what is written from its own time on",
  "J22-again sdk (shared): whose access ended is added again as a new member",
  "J22-nodes sdk (shared): a fast and a slow node disagree around an end, and agree once both have passed it",
]);

export const journeys22: readonly Journey[] = [untilFriday];

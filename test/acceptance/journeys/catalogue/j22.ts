import { sharedObservable, type Journey } from "../observable.ts";

const untilFriday: Journey = {
  name: "J22",
  title: "Until Friday",
  observables: [
    sharedObservable("J22-invite", "sdk", "an invite with accessUntil: its key and the membership made by it end then"),
    sharedObservable(
      "J22-before",
      "sdk",
      "until the end the agent reads and writes; checkAccess and the list say when it is",
    ),
    sharedObservable("J22-stream", "api", "a stream that runs at the end is cut within ten seconds"),
    sharedObservable("J22-upload", "sdk", "an upload that runs at the end does not become a file"),
    sharedObservable("J22-key", "api", "the key of the invite is refused from its end on: 401"),
    sharedObservable(
      "J22-service",
      "api",
      "a member with a key of its own is refused by the service: 403, with the time",
    ),
    sharedObservable("J22-key-servers", "sdk", "key servers refuse a fresh client, though nobody sent a transaction"),
    sharedObservable("J22-owner", "sdk", "the owner writes on, and what it writes does not open to the one that ended"),
    sharedObservable("J22-event", "webhook", "vault.member_ended arrives once for each end"),
    sharedObservable(
      "J22-extended",
      "sdk",
      "an end that is put off at the last second keeps access; after it, it cannot be",
    ),
    sharedObservable("J22-shortened", "sdk", "an end that comes nearer closes what is written from its own time on"),
    sharedObservable("J22-again", "sdk", "whose access ended is added again as a new member"),
  ],
};

export const journeys22: readonly Journey[] = [untilFriday];

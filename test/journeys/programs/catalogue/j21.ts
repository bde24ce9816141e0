import { journey, type Journey } from "../observable.ts";

const rewind = journey("J21", "Rewind", [
  "J21-plan sdk: the plan of undoing 200 acts of one agent has counts and conflicts, and changes nothing",
  "J21-killed sdk: killed at ten points, the call can be repeated",
  "J21-rewound sdk: then all that only that agent touched is as it was before",
  "J21-others sdk: what another agent changed afterwards stays, and is reported",
  "J21-again sdk: once more, nothing is left to do",
  "J21-rights sdk: an agent cannot rewind another one",
  "J21-tools mcp: the owner's tool previews the end of an agent and of what it did, and does both once the user agreed",
  "J21-cli cli: agents rewind shows its plan, asks, goes on after a kill, and exits with 5 for what it left alone",
  "J21-shared sdk (shared): the same in a shared vault, by the caller's own signatures",
]);

export const journeys21: readonly Journey[] = [rewind];

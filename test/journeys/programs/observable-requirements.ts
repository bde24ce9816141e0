/** The observables of the journeys in the form of requirements, so that one set of rules binds both to their tests. */
import type { Requirement } from "../requirement.ts";
import { JOURNEYS } from "./catalogue.ts";

/** Every observable; its source is the journey's name. */
export const OBSERVABLES: readonly Requirement[] = JOURNEYS.flatMap(({ name, observables }) =>
  observables.map(({ tag, ...observable }) => ({ ...observable, text: `[${tag}] ${observable.text}`, source: name })),
);

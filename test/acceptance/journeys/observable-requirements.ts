/** The observables of the journeys in the form of requirements, so that one set of rules binds both to their tests. */
import { built, pending, section, type Requirement } from "../requirement.ts";
import { JOURNEYS } from "./catalogue.ts";
import type { Observable } from "./observable.ts";

/** Every observable; its source is the journey's name. */
export const OBSERVABLES: readonly Requirement[] = JOURNEYS.flatMap(({ name, observables }) =>
  section(name, observables.map(toLine)),
);

function toLine(observable: Observable): ReturnType<typeof built> {
  const text = `[${observable.tag}] ${observable.text}`;
  return observable.status === "built" ? built(observable.id, text) : pending(observable.issue, observable.id, text);
}

/** The journeys with all their observables, built and pending. */
import { journeys1to3 } from "./catalogue/j01-j03.ts";
import { journeys4to7 } from "./catalogue/j04-j07.ts";
import { journeys8to9 } from "./catalogue/j08-j09.ts";
import { journeys10to13 } from "./catalogue/j10-j13.ts";
import { journeys14to19 } from "./catalogue/j14-j19.ts";
import { journeys20 } from "./catalogue/j20.ts";
import { journeys21 } from "./catalogue/j21.ts";
import { journeys22 } from "./catalogue/j22.ts";
import { journeys23 } from "./catalogue/j23.ts";
import { journeys24 } from "./catalogue/j24.ts";
import type { Journey } from "./observable.ts";

export const JOURNEYS: readonly Journey[] = [
  ...journeys1to3,
  ...journeys4to7,
  ...journeys8to9,
  ...journeys10to13,
  ...journeys14to19,
  ...journeys20,
  ...journeys21,
  ...journeys22,
  ...journeys23,
  ...journeys24,
];

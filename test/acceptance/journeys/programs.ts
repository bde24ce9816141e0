/** The program of each journey that has something built. */
import { ownerSignsUp } from "./j01.ts";
import { ownerCreatesVault } from "./j02.ts";
import { agentTransfers } from "./j07.ts";
import { keyRevoked } from "./j09.ts";
import { developmentHeaders } from "./j12.ts";
import { promptInjection } from "./j14.ts";
import { contractDrift } from "./j18.ts";
import type { Program } from "./run.ts";

export const PROGRAMS: Readonly<Record<string, Program>> = {
  J1: ownerSignsUp,
  J2: ownerCreatesVault,
  J7: agentTransfers,
  J9: keyRevoked,
  J12: developmentHeaders,
  J14: promptInjection,
  J18: contractDrift,
};

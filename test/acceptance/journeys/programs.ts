/** The program of each journey that has something built. */
import { ownerSignsUp } from "./j01.ts";
import { ownerCreatesVault } from "./j02.ts";
import { ownerInvites } from "./j03.ts";
import { agentRedeems } from "./j04.ts";
import { agentSeesItsVault } from "./j05.ts";
import { agentTransfers } from "./j07.ts";
import { webhookToOwner } from "./j08.ts";
import { keyRevoked } from "./j09.ts";
import { webSession } from "./j11.ts";
import { developmentHeaders } from "./j12.ts";
import { promptInjection } from "./j14.ts";
import { contractDrift } from "./j18.ts";
import { auditLog } from "./j19.ts";
import type { Program } from "./run.ts";

export const PROGRAMS: Readonly<Record<string, Program>> = {
  J1: ownerSignsUp,
  J2: ownerCreatesVault,
  J3: ownerInvites,
  J4: agentRedeems,
  J5: agentSeesItsVault,
  J7: agentTransfers,
  J8: webhookToOwner,
  J9: keyRevoked,
  J11: webSession,
  J12: developmentHeaders,
  J14: promptInjection,
  J18: contractDrift,
  J19: auditLog,
};

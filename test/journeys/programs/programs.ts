/** The programs of the journeys that have something built. */
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
import { headless } from "./j13.ts";
import { promptInjection } from "./j14.ts";
import { contractDrift } from "./j18.ts";
import { auditLog } from "./j19.ts";
import { yesterdaysVersion } from "./j20.ts";
import { rewound } from "./j21.ts";
import { whatChanged } from "./j23.ts";
import { foundInPublic } from "./j24.ts";
import { sharedVaultCreated } from "./shared-j02.ts";
import { blindBeforeMembership } from "./shared-j05.ts";
import { memberAdded } from "./shared-j06.ts";
import { sharedTransfers } from "./shared-j07.ts";
import { sharedEvents } from "./shared-j08.ts";
import { memberRemoved } from "./shared-j10.ts";
import { accessExplained } from "./shared-j15.ts";
import { writersTogether } from "./shared-j16.ts";
import { exit } from "./shared-j17.ts";
import { sharedVersions } from "./shared-j20.ts";
import { sharedRewind } from "./shared-j21.ts";
import { accessUntil } from "./shared-j22.ts";
import { sharedChanges } from "./shared-j23.ts";
import { foundInShared } from "./shared-j24.ts";
import { onNetwork, onStack, type Openers, type Program, type SharedProgram } from "./run.ts";
import type { SharedService } from "../kit/shared-service.ts";
import type { Stack } from "../kit/stack.ts";

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
  J13: headless,
  J14: promptInjection,
  J18: contractDrift,
  J19: auditLog,
  J20: yesterdaysVersion,
  J21: rewound,
  J23: whatChanged,
  J24: foundInPublic,
};

export const SHARED_PROGRAMS: Readonly<Record<string, SharedProgram>> = {
  J2: sharedVaultCreated,
  J5: blindBeforeMembership,
  J6: memberAdded,
  J7: sharedTransfers,
  J8: sharedEvents,
  J10: memberRemoved,
  J15: accessExplained,
  J16: writersTogether,
  J17: exit,
  J20: sharedVersions,
  J21: sharedRewind,
  J22: accessUntil,
  J23: sharedChanges,
  J24: foundInShared,
};

/** Journeys that read what the stack printed and wrote since its start, or all of what its owner has. */
const OWN_STACK: readonly string[] = ["J1", "J4", "J8", "J9", "J12", "J14", "J19", "J23", "J24"];

/** Runs what is observed on a stack: on the shared one, where one is given and the journey can share it. */
export function stackOpeners(journey: string, shared?: Stack): Openers {
  const program = PROGRAMS[journey];
  const stack = OWN_STACK.includes(journey) ? undefined : shared;
  return { stack: program === undefined ? undefined : onStack(program, stack) };
}

/** Runs what is observed on a service beside a local network. */
export function networkOpeners(service: SharedService, journey: string): Openers {
  const program = SHARED_PROGRAMS[journey];
  return { network: program === undefined ? undefined : onNetwork(service, program) };
}

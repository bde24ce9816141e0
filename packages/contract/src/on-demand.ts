/**
 * What clients load when they first need it, under names of its own: a re-export would draw the modules into the first chunk of a
 * bundle, because bundlers follow it whether or not it is used. Clients import them by
 * their own paths: `@coffer/contract/audit-chain`, `/key-text`, `/proof-texts`.
 */
import * as auditChain from "./audit-chain.ts";
import * as auditText from "./audit-text.ts";
import * as keyText from "./key-text.ts";
import * as proofTexts from "./proof-texts.ts";

export type { AuditCheck, AuditFault, AuditKnown, AuditLink } from "./audit-chain.ts";
export const FIRST_PREVIOUS_HASH = auditText.FIRST_PREVIOUS_HASH;
export const renderAuditText = auditText.renderAuditText;
export const checkAuditChain = auditChain.checkAuditChain;
export const renderKeyAddressText = proofTexts.renderKeyAddressText;
export const renderLinkText = proofTexts.renderLinkText;
export const renderRedeemText = proofTexts.renderRedeemText;
export const isInviteCode = keyText.isInviteCode;
export const isKeyText = keyText.isKeyText;
export const renderInviteCode = keyText.renderInviteCode;
export const renderKey = keyText.renderKey;

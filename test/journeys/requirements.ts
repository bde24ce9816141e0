/**
 * Every line of the specification and of the decisions, in order. A test cites what it proves by id, in square brackets
 * in its title; several ids go in one bracket, parted by spaces. `npm run coverage:spec` prints where the project stands.
 */
import { decisionsFiles } from "./requirements/decisions-5-files.ts";
import { decisionsHttp } from "./requirements/decisions-1-http.ts";
import { decisionsKeysAndAccount } from "./requirements/decisions-4-keys-account.ts";
import { decisionsLimitsAndAuth } from "./requirements/decisions-2-3-limits-auth.ts";
import { decisionsNames } from "./requirements/decisions-0-names.ts";
import { decisionsWebhooksAndDevelopment } from "./requirements/decisions-6-7-webhooks-development.ts";
import { specAuthentication } from "./requirements/spec-5-authentication.ts";
import { specEventsErrorsLimits } from "./requirements/spec-6-9-events-errors-limits.ts";
import { specResources } from "./requirements/spec-1-2-resources.ts";
import { specStatesAndEndpoints } from "./requirements/spec-3-4-states-endpoints.ts";
import type { Requirement } from "./requirement.ts";

export const REQUIREMENTS: readonly Requirement[] = [
  ...specResources,
  ...specStatesAndEndpoints,
  ...specAuthentication,
  ...specEventsErrorsLimits,
  ...decisionsNames,
  ...decisionsHttp,
  ...decisionsLimitsAndAuth,
  ...decisionsKeysAndAccount,
  ...decisionsFiles,
  ...decisionsWebhooksAndDevelopment,
];

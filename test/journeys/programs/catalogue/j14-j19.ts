import { journey, type Journey } from "../observable.ts";

const injection = journey("J14", "Prompt injection", [
  "J14-path mcp: an agent that obeys a hostile file cannot upload what lies outside the allowed folders",
  "J14-owner-tools mcp: the owner's tools are absent from a server with the default flags",
  "J14-reveal mcp: the hostile text is shown inside a fence",
  "J14-last-error mcp: so is what a receiver of webhooks answers",
]);

const explainer = journey("J15", "Explainer", [
  "J15-doctor cli (shared): doctor names five different causes for five induced faults",
  "J15-all-well mcp (shared): vault_access_check finds nothing where all is well; SERVICE_CHAIN_PRIVATE_KEY wins over the profile [D0-variable-chain-key]",
  "J15-access-check mcp (shared): for no membership, a revoked key, key servers down, a wrong key and a clock 10 min off it names five causes",
  "J15-mcp-no-secret mcp (shared): none of its answers holds a secret [D6]",
  "J15-no-secret cli (shared): doctor prints none either",
]);

const twoAgents = journey("J16", "Two agents, one vault", [
  "J16-distinct sdk (shared): 8 writers × 50 files (with full counts), same names: 400 distinct files, none lost",
  "J16-tools mcp (shared): the same by 8 tool servers at once with ifExists rename: as many distinct files, none lost",
  "J16-uploader api (shared): each of both has the right uploader address",
  "J16-recorded api (shared): the owner's audit log names the same uploader for each",
  "J16-signature sdk (shared): each version statement has a valid signature of its uploader [M7]",
]);

const exit = journey("J17", "Exit", [
  "J17-decrypt cli (shared): with the API stopped, decrypt export.bundle gives identical SHA-256s",
  "J17-export sdk (shared): with the service gone, an export opens with chain key and key servers: identical SHA-256s; for a stranger not [S12 C1 X1]",
  "J17-vectors sdk (shared): published vectors decrypt in an independent one-file script",
]);

const drift = journey("J18", "Contract drift", [
  "J18-contract-fails api: with one response field renamed the contract's suite fails",
  "J18-mock-fails sdk: with it renamed the mock's suite fails",
  "J18-sdk-fails sdk: with it renamed the SDK's suite fails",
  "J18-types-fail sdk: with it renamed the types of server and SDK no longer agree",
  "J18-conformance-server api: conformance passes on the server",
  "J18-conformance-mock sdk: conformance passes on the MSW mock",
]);

const audit = journey("J19", "Audit", [
  "J19-list api: the audit log shows each act with key id and chain address",
  "J19-verify api: the operator's audit verify finds the log intact",
  "J19-sdk-verify sdk: the SDK's verify finds it intact, over the API alone",
  "J19-cli cli: audit list shows those acts, and audit verify says the same",
  "J19-tools mcp: the owner's tool shows each act, those of one key, and that the chain is whole",
  "J19-edited api: after one edited database row audit verify names that entry",
  "J19-sdk-edited sdk: so does the SDK's",
]);

export const journeys14to19: readonly Journey[] = [injection, explainer, twoAgents, exit, drift, audit];

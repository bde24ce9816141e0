import { builtObservable, pendingObservable, sharedObservable, type Journey } from "../observable.ts";

const injection: Journey = {
  name: "J14",
  title: "Prompt injection",
  observables: [
    builtObservable(
      "J14-path",
      "mcp",
      "an agent that obeys a hostile file cannot upload what lies outside the allowed folders",
    ),
    pendingObservable("tools", "J14-owner-tools", "mcp", "the owner's tools are absent for it"),
    pendingObservable("tools", "J14-reveal", "mcp", "reveal is off"),
    pendingObservable("tools", "J14-last-error", "mcp", "the same with webhook lastError text"),
  ],
};

const explainer: Journey = {
  name: "J15",
  title: "Explainer",
  observables: [
    pendingObservable("cli", "J15-doctor", "cli", "doctor names five different causes for five induced faults"),
    sharedObservable(
      "J15-all-well",
      "mcp",
      "vault_access_check finds nothing where all is well; SERVICE_CHAIN_PRIVATE_KEY wins over the profile [D0-variable-chain-key]",
    ),
    sharedObservable(
      "J15-access-check",
      "mcp",
      "for no membership, a revoked key, key servers down, a wrong key and a clock 10 min off it names five causes",
    ),
    sharedObservable("J15-mcp-no-secret", "mcp", "none of its answers holds a secret"),
    pendingObservable("cli", "J15-no-secret", "cli", "doctor prints none either"),
  ],
};

const twoAgents: Journey = {
  name: "J16",
  title: "Two agents, one vault",
  observables: [
    sharedObservable(
      "J16-distinct",
      "sdk",
      "8 writers × 50 files (with full counts), same names: 400 distinct files, none lost",
    ),
    sharedObservable("J16-uploader", "api", "each has the right uploader address"),
    sharedObservable("J16-recorded", "api", "the owner's audit log names the same uploader for each"),
    sharedObservable("J16-signature", "sdk", "each version statement has a valid signature of its uploader"),
  ],
};

const exit: Journey = {
  name: "J17",
  title: "Exit",
  observables: [
    pendingObservable(
      "cli",
      "J17-decrypt",
      "cli",
      "with the API stopped, decrypt export.bundle gives identical SHA-256s",
    ),
    sharedObservable(
      "J17-export",
      "sdk",
      "with the service gone, an export opens with chain key and key servers: identical SHA-256s; for a stranger not",
    ),
    sharedObservable("J17-vectors", "sdk", "published vectors decrypt in an independent one-file script"),
  ],
};

const drift: Journey = {
  name: "J18",
  title: "Contract drift",
  observables: [
    builtObservable("J18-contract-fails", "api", "with one response field renamed the contract's suite fails"),
    builtObservable("J18-mock-fails", "sdk", "with it renamed the mock's suite fails"),
    builtObservable("J18-sdk-fails", "sdk", "with it renamed the SDK's suite fails"),
    builtObservable("J18-types-fail", "sdk", "with it renamed the types of server and SDK no longer agree"),
    builtObservable("J18-conformance-server", "api", "conformance passes on the server"),
    builtObservable("J18-conformance-mock", "sdk", "conformance passes on the MSW mock"),
  ],
};

const audit: Journey = {
  name: "J19",
  title: "Audit",
  observables: [
    builtObservable("J19-list", "api", "the audit log shows each act with key id and chain address"),
    builtObservable("J19-verify", "api", "the operator's audit verify finds the log intact"),
    builtObservable("J19-sdk-verify", "sdk", "the SDK's verify finds it intact, over the API alone"),
    builtObservable("J19-edited", "api", "after one edited database row audit verify names that entry"),
    builtObservable("J19-sdk-edited", "sdk", "so does the SDK's"),
    pendingObservable("cli", "J19-cli", "cli", "audit list and audit verify say the same"),
  ],
};

export const journeys14to19: readonly Journey[] = [injection, explainer, twoAgents, exit, drift, audit];

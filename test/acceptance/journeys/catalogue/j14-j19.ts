import { builtObservable, pendingObservable, type Journey } from "../observable.ts";

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
    pendingObservable("tools", "J15-access-check", "mcp", "vault_access_check names the same five"),
    pendingObservable("cli", "J15-no-secret", "cli", "none of them prints a secret"),
  ],
};

const twoAgents: Journey = {
  name: "J16",
  title: "Two agents, one vault",
  observables: [
    pendingObservable(
      "tools",
      "J16-distinct",
      "sdk",
      "8 writers × 50 files, same names with rename: 400 distinct files, none lost",
    ),
    pendingObservable("shared-vaults", "J16-uploader", "api", "each has the right uploader address"),
    pendingObservable("shared-vaults", "J16-signature", "sdk", "each has a valid manifest signature"),
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
    pendingObservable(
      "shared-vaults",
      "J17-vectors",
      "sdk",
      "published vectors decrypt in an independent one-file script",
    ),
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

import { builtObservable, pendingObservable, sharedObservable, type Journey } from "../observable.ts";

const signUp: Journey = {
  name: "J1",
  title: "Owner signs up",
  observables: [
    builtObservable("J1-signup", "api", "signup with an access code answers 2xx"),
    builtObservable("J1-signup-owner", "api", "the new account is owner and its e-mail unverified"),
    builtObservable("J1-signup-no-code", "api", "without or with a wrong code it is refused and leaves no account row"),
    builtObservable("J1-access-code", "api", "check-access-code succeeds for a valid code and does not consume it"),
    builtObservable(
      "J1-dev-signup",
      "api",
      "dev-signup answers 200 with id, email, a key of the current prefix and a warning",
    ),
    builtObservable(
      "J1-dev-signup-owner",
      "api",
      'the account of that key says accessLevel "owner" and emailVerified false',
    ),
    builtObservable("J1-unverified-upload", "api", "an unverified owner can upload"),
    builtObservable("J1-unverified-checkout", "api", "an unverified owner cannot check out (403)"),
    builtObservable("J1-dev-signup-409", "api", "the same e-mail again is 409 { error }"),
    builtObservable("J1-production-404", "api", "with SERVICE_ENV=production dev-signup is 404 { error }"),
    builtObservable("J1-sdk-account", "sdk", "the SDK with that key reads the same account"),
    builtObservable("J1-mcp-account", "mcp", "the tool server with that key reports the owner, never the key"),
    builtObservable("J1-hash-only", "api", "the database holds the SHA-256 of the key"),
    builtObservable(
      "J1-key-nowhere",
      "api",
      "the raw key appears nowhere in the data directory or in what the server printed",
    ),
  ],
};

const sharedVault: Journey = {
  name: "J2",
  title: "Owner creates a shared vault",
  observables: [
    pendingObservable("cli", "J2-link-first", "cli", "the chain address is linked first"),
    pendingObservable("cli", "J2-create-shared", "cli", "vaults create --shared prints the vault id"),
    sharedObservable(
      "J2-sdk-link-first",
      "sdk",
      "before the chain address is linked vaults.create signs nothing and says so; afterwards it makes the vault",
    ),
    sharedObservable("J2-sdk-create", "sdk", "vaults.create answers a vault that names its object on the chain"),
    sharedObservable("J2-allowlist", "api", "the allowlist object is on the chain with exactly the owner's address"),
    sharedObservable(
      "J2-chain-step-fails",
      "api",
      "when the chain step fails no half-made vault is listed, and a re-run makes it",
    ),
    sharedObservable(
      "J2-killed-between",
      "sdk",
      "killed between chain and service, a re-run finishes the same vault: no second object is made",
    ),
    sharedObservable(
      "J2-sdk-no-chain-key",
      "sdk",
      "without a chain key the SDK answers shared_vault with what is missing, and sends no request [S5.7-manage-vaults]",
    ),
    builtObservable("J2-public-no-chain-key", "api", "a public vault needs no chain key"),
    pendingObservable(
      "cli",
      "J2-no-chain-key",
      "cli",
      "without a chain key: exit 4 or 2, a message naming SERVICE_CHAIN_PRIVATE_KEY, and no request",
    ),
  ],
};

const invite: Journey = {
  name: "J3",
  title: "Owner invites an agent",
  observables: [
    pendingObservable("cli", "J3-create", "cli", "invites create prints the code with the invite prefix once"),
    pendingObservable("cli", "J3-list", "cli", "invites list shows state created and no code"),
    builtObservable("J3-default-lifetime", "api", "the default lifetime is 1 h (expires at +3600 s ±1)"),
    builtObservable("J3-api-create", "api", "the owner's request answers a code of the invite prefix, with its rights"),
    builtObservable("J3-api-list", "api", "the list shows the state created and no code"),
    builtObservable("J3-api-hours", "api", "72 hours are accepted, 73 refused"),
    builtObservable("J3-sdk-create", "sdk", "the SDK's invite names the same rights, and is listed"),
    pendingObservable("cli", "J3-expires-73", "cli", "--expires 73 is refused"),
    pendingObservable("cli", "J3-expires-72", "cli", "--expires 72 is accepted"),
    builtObservable("J3-hash-only", "api", "the database holds only the SHA-256 of the code"),
    pendingObservable("tools", "J3-mcp-file", "mcp", "invite_create answers a file path of mode 0600"),
    pendingObservable("tools", "J3-mcp-no-code", "mcp", "the code does not occur in the JSON-RPC stream"),
  ],
};

export const journeys1to3: readonly Journey[] = [signUp, sharedVault, invite];

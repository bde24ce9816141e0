import { journey, type Journey } from "../observable.ts";

const signUp = journey("J1", "Owner signs up", [
  "J1-signup api: signup with an access code answers 2xx",
  "J1-signup-owner api: the new account is owner and its e-mail unverified",
  "J1-signup-no-code api: without or with a wrong code it is refused and leaves no account row",
  "J1-access-code api: check-access-code succeeds for a valid code and does not consume it",
  "J1-dev-signup api: dev-signup answers 200 with id, email, a key of the current prefix and a warning",
  'J1-dev-signup-owner api: the account of that key says accessLevel "owner" and emailVerified false',
  "J1-unverified-upload api: an unverified owner can upload",
  "J1-unverified-checkout api: an unverified owner cannot check out (403)",
  "J1-dev-signup-409 api: the same e-mail again is 409 { error }",
  "J1-production-404 api: with SERVICE_ENV=production dev-signup is 404 { error }",
  "J1-sdk-account sdk: the SDK with that key reads the same account",
  "J1-mcp-account mcp: the tool server with that key reports the owner, never the key",
  "J1-cli cli: signup takes a password on standard input or at the terminal, saves its keys with mode 0600, and shows none [D0-binary]",
  "J1-hash-only api: the database holds the SHA-256 of the key",
  "J1-key-nowhere api: the raw key appears nowhere in the data directory or in what the server printed",
]);

const sharedVault = journey("J2", "Owner creates a shared vault", [
  "J2-link-first cli (shared): the chain address is linked first [S4.3-cli-link-chain]",
  "J2-create-shared cli (shared): vaults create --shared prints the vault id",
  "J2-sdk-link-first sdk (shared): before the chain address is linked vaults.create signs nothing and says so; afterwards it makes the vault",
  "J2-sdk-create sdk (shared): vaults.create answers a vault that names its object on the chain",
  "J2-allowlist api (shared): the allowlist object is on the chain with exactly the owner's address",
  "J2-chain-step-fails api (shared): when the chain step fails no half-made vault is listed, and a re-run makes it",
  "J2-killed-between sdk (shared): killed between chain and service, a re-run finishes the same vault: no second object is made",
  "J2-sdk-no-chain-key sdk (shared): without a chain key the SDK answers shared_vault with what is missing, and sends no request [S5.7-manage-vaults]",
  "J2-public-no-chain-key api: a public vault needs no chain key",
  "J2-no-chain-key cli (shared): without a chain key: exit 4 or 2, a message naming SERVICE_CHAIN_PRIVATE_KEY, and no request",
]);

const invite = journey("J3", "Owner invites an agent", [
  "J3-create cli: invites create prints the code with the invite prefix once [S1-client-cli S5.3-cli-variable]",
  "J3-list cli: invites list shows state created and no code",
  "J3-default-lifetime api: the default lifetime is 1 h (expires at +3600 s ±1)",
  "J3-api-create api: the owner's request answers a code of the invite prefix, with its rights",
  "J3-api-list api: the list shows the state created and no code",
  "J3-api-hours api: 72 hours are accepted, 73 refused",
  "J3-sdk-create sdk: the SDK's invite names the same rights, and is listed",
  "J3-expires-73 cli: --expires 73 is refused",
  "J3-expires-72 cli: --expires 72 is accepted",
  "J3-hash-only api: the database holds only the SHA-256 of the code",
  "J3-mcp-file mcp: access_grant answers a file path of mode 0600, once the user agreed",
  "J3-mcp-no-code mcp: the code does not occur in the JSON-RPC stream",
]);

export const journeys1to3: readonly Journey[] = [signUp, sharedVault, invite];

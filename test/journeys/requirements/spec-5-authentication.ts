import { section } from "../requirement.ts";

const PERMISSIONS = [
  "S5.9-files: Upload, download, list files: owner yes, agent yes.",
  "S5.9-folders: Create, list, manage folders: owner yes, agent yes.",
  "S5.9-vault-list: List vaults and vault details: owner yes, agent yes.",
  "S5.9-trash: Soft-delete files: owner yes, agent yes.",
  "S5.9-vault-changes: Create, update, delete vaults: owner yes, agent no.",
  "S5.9-keys: Create, revoke API keys: owner yes, agent no.",
  "S5.9-members: Add, remove vault members: owner yes, agent no.",
  "S5.9-billing: Billing and plan changes: owner yes, agent no.",
  "S5.9-webhooks: Manage webhooks: owner yes, agent no.",
];

const SIGN_UP = [
  "S5.5-access-code: Every new signup requires an access code during the early access period.",
  "S5.5-code-parameter: The code can be passed as a query parameter named code on the signup page.",
  "S5.5-sign-in: Sign-in is by e-mail and password, or by an identity-provider login.",
  'S5.5-zklogin-address: The zero-knowledge flow derives a chain address; chainAddressSource is then "zklogin".',
  "S5.5-prover-production: Production uses a hosted prover; a prover API key is required.",
  "S5.5-prover-build-variable (pending: web-console): The key is the client build variable VITE_<PROVER>_API_KEY.",
  "S5.5-prover-development: Development uses the prover vendor's development prover.",
  "S5.5-prover-mismatch: A mismatch of network and prover would yield proofs that the verifier rejects: here it is an error at start.",
  "S5.5-tokens: Reset and verification tokens are single-use, e-mailed, valid only within their window.",
  "S5.5-unverified-may-store: E-mail verification is not required for uploads, downloads or vault operations.",
  "S5.5-unverified-may-not-pay: E-mail verification is required for billing operations.",
  "S5.5-dev-signup: dev-signup is development-only, needs no Authorization header, creates an account and an API key.",
];

export const specAuthentication = [
  ...section("spec §5.1", [
    "S5.1-account-identity: An account gives identity.",
    "S5.1-key-access: An API key is the credential for every call outside web sessions.",
    "S5.1-chain-key-client-only: A chain Ed25519 key is used only on the client, and no private part of it reaches the server.",
    "S5.1-invites-tie: Invite codes tie the three layers together.",
    "S5.1-address-only: Of a chain key the server knows nothing that its signatures do not show: address and public key (decision 0028).",
  ]),
  ...section("spec §5.2", [
    "S5.2-bearer-key: Authenticated requests carry Authorization: Bearer <API_KEY>.",
    "S5.2-bearer-access-token: Web sessions carry Authorization: Bearer <ACCESS_TOKEN>.",
  ]),
  ...section("spec §5.3", [
    "S5.3-hash-lookup: The server hashes the presented key with SHA-256 and looks it up by that hash.",
    "S5.3-immediate-revocation: Revocation is immediate.",
    "S5.3-401: Expired, revoked or unknown keys return 401.",
    "S5.3-cli-variable: The CLI reads the key from SERVICE_API_KEY.",
  ]),
  ...section("spec §5.4", [
    "S5.4-access-token: The access token is an HS256 JWT, 15 minutes, in the Authorization header.",
    "S5.4-refresh-token: The refresh token is valid 30 days and rotated by POST /api/auth/refresh.",
    "S5.4-family-reuse: Rotation uses family-based reuse detection.",
    "S5.4-silent-refresh (pending: web-console): The web app refreshes silently; an ended refresh token logs the user out.",
    "S5.4-earlier-edition: An earlier edition carried an identity provider's JWT in the same header: it is refused now.",
  ]),
  ...section("spec §5.5", SIGN_UP),
  ...section("spec §5.6", [
    "S5.6-user-id: X-Dev-User-Id: act as the user with this id.",
    "S5.6-idp-id: X-Dev-Idp-Id: act as the user with this identity-provider id.",
    "S5.6-neither: Neither header: act as the first user in the database.",
  ]),
  ...section("spec §5.7", [
    "S5.7-public-upload: Upload to a public vault needs an API key and no chain key.",
    "S5.7-shared-upload: Upload to a shared vault needs both keys.",
    "S5.7-public-download: Download from a public vault needs an API key and no chain key.",
    "S5.7-shared-download: Download from a shared vault needs both keys.",
    "S5.7-manage-vaults: Creating or managing (shared) vaults needs both keys.",
    "S5.7-grant-access: Granting or revoking vault access needs both keys.",
    "S5.7-list: Listing files, account information and the like need an API key only.",
    "S5.7-on-allowlist: The chain key must match an address on the vault's allowlist.",
    "S5.7-client-storage: The key is stored in config.json, SERVICE_CHAIN_PRIVATE_KEY (precedence), a tool-server config or a wallet.",
    "S5.7-never-reaches-server: The chain key never reaches the server.",
    "S5.7-allowlist-placement: The linked address lets its user be placed on allowlists: the owner's client adds it, the server records it.",
    "S5.7-link-chain: The chain public address is linked to the account by a link-chain operation.",
  ]),
  ...section("spec §5.8", [
    "S5.8-owner-creates: The owner creates an invite code.",
    "S5.8-agent-key: Redeeming, the agent receives an API key for the keypair that it generated.",
    "S5.8-agent-redeems: It redeems with the login command, which generates the keypair and stores both.",
    "S5.8-owner-adds: The owner adds the agent's address as a member; the agent can then encrypt and decrypt.",
  ]),
  ...section("spec §5.9", PERMISSIONS),
];

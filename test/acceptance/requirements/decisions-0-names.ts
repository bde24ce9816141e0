import { built, pending, section } from "../requirement.ts";

export const decisionsNames = section("decisions §0", [
  built("D0-product-names", "Product Coffer, npm scope @coffer/*."),
  pending("cli", "D0-binary", "The binary is coffer."),
  built("D0-key-prefixes", "API-key prefixes are cof (current) and coffer (legacy)."),
  built("D0-invite-prefix", "The invite prefix is cofi."),
  built(
    "D0-config-path",
    "config.json lies in ~/.config/coffer; XDG_CONFIG_HOME and SERVICE_CONFIG_DIR are respected.",
  ),
  built("D0-config-modes", "The config directory is 0700, the file 0600."),
  built("D0-config-atomic", "The config file is replaced atomically, under a lock."),
  built(
    "D0-variables-literal",
    "SERVICE_API_KEY and SERVICE_ENV keep their literal names; ours follow (SERVICE_BASE_URL, SERVICE_CONFIG_DIR …).",
  ),
  built("D0-variable-chain-key", "SERVICE_CHAIN_PRIVATE_KEY keeps its literal name."),
  built("D0-dev-header-names", "The development headers are literally X-Dev-User-Id and X-Dev-Idp-Id."),
  built("D0-idp-paths", "Identity-provider paths are literal: /api/auth/idp…, /idp/zklogin-token."),
  built(
    "D0-chain-sui",
    "The chain is Sui over gRPC; a shared vault is an on-chain allowlist that Seal key servers evaluate.",
  ),
  built(
    "D0-owner-signs",
    "The owner's client signs an allowlist change; the server verifies on-chain state before it records a member.",
  ),
  built("D0-agents-no-webhooks", "An agent key gets 403 on every webhook route, GET and test included."),
  built(
    "D0-revoke-agent",
    "agents revoke is one resumable act over API key, membership and key generation, reporting each layer.",
  ),
  built(
    "D0-encrypted-names",
    "Names in shared vaults are encrypted on the client with a blind index; opt-out per vault.",
  ),
  built("D0-invite-over-72h", "An invite above 72 h is 400, no silent clamp."),
  built(
    "D0-required-without-value",
    'lastDeliveryStatus "none", lastError "", httpStatus 0, description "" when there is no value.',
  ),
  built(
    "D0-mcp-library",
    "The tool server runs on @modelcontextprotocol/server 2.x and answers 2025-11-25 and 2026-07-28.",
  ),
  built("D0-mcp-v1-client", "A @modelcontextprotocol/sdk 1.x client is proven against it."),
  built("D0-registry-library-free", "Tool registry and result shaping import neither MCP library."),
  built(
    "D0-public-vault-no-chain-key",
    "A public vault has no on-chain object and needs no chain key to create or manage.",
  ),
  built(
    "D0-server-records-only",
    "The server only records allowlist members; the owner's client builds and signs every transaction.",
  ),
  built("D0-app-url", "SERVICE_APP_URL is the address of links in mails and of the provider's redirect."),
  built(
    "D0-pages-address",
    "Without SERVICE_APP_URL links lead to pages of the service at SERVICE_PUBLIC_URL, which production then requires.",
  ),
  built("D0-pages-mail", "The links of mails lead to plain forms that confirm the address and set a new password."),
  built("D0-pages-sign-up", "A plain form signs somebody up, with the code of its link."),
  built("D0-pages-return", "The identity provider leads back to a page that hands code and state on."),
  built(
    "D0-pages-strict",
    "The pages need no script, load nothing, escape what they show, and take no form of another site.",
  ),
  built("D0-prover-key", "SERVICE_PROVER_API_KEY is the prover's key on the server side."),
  built(
    "D0-prover-demanded",
    "Production with an identity provider needs SERVICE_PROVER=hosted and its key on testnet and mainnet.",
  ),
  pending("web-console", "D0-prover-key-web", "VITE_PROVER_API_KEY is it for a web build."),
  built("D0-unset-env-production", "An unset SERVICE_ENV means production."),
  built("D0-production-needs-secrets", "Production refuses to start without SERVICE_MASTER_KEY."),
  built("D0-production-needs-jwt-keys", "Production refuses to start without JWT keys."),
  built("D0-foreign-jwt-401", "An identity provider's JWT as a bearer is refused with 401."),
  built(
    "D0-public-keys",
    "Beside the address the server keeps the public key that proved it, which every signature of that address shows.",
  ),
  built("D0-tool-config-file", "The tool server reads the same config.json; path by SERVICE_CONFIG_FILE or --config."),
  built(
    "D0-billing",
    "Checkout and plan change stand behind a verified e-mail and a payment-provider port; no card data.",
  ),
  built(
    "D0-billing-paths",
    "GET /api/billing, POST /api/billing/checkout { plan } → { url }, /plan { plan }, /events (provider, signed).",
  ),
  built("D0-billing-test-provider", "The embedded driver is a test provider that records."),
]);

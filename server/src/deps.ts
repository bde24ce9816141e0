/** The parts of the handlers. A handler names the slice it needs: `Pick<Deps, "database" | "clock">`. */
import type { JwtKey, Settings } from "./config.ts";
import type { BlobStore } from "./ports/blob-store.ts";
import type { Chain } from "./ports/chain.ts";
import type { Clock } from "./ports/clock.ts";
import type { Database } from "./ports/database.ts";
import type { IdentityProvider } from "./ports/identity-provider.ts";
import type { Mailer } from "./ports/mailer.ts";
import type { MessageSignatures } from "./ports/message-signatures.ts";
import type { PaymentProvider } from "./ports/payment-provider.ts";
import type { Random } from "./ports/random.ts";
import type { WebhookSender } from "./ports/webhook-sender.ts";
import type { Prover, Zklogin } from "./ports/zklogin.ts";
import type { AtRest } from "./secrets/at-rest.ts";

export interface Deps {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly mailer: Mailer;
  /** null: this server has none, and its endpoints answer `not_configured`. */
  readonly identityProvider: IdentityProvider | null;
  readonly zklogin: Zklogin;
  readonly prover: Prover | null;
  readonly payments: PaymentProvider | null;
  /** null: this server has no shared vaults. */
  readonly chain: Chain | null;
  readonly signatures: MessageSignatures;
  readonly webhookSender: WebhookSender;
  readonly clock: Clock;
  readonly random: Random;
  readonly atRest: AtRest;
  /** The first signs access tokens, all are accepted. */
  readonly jwtKeys: readonly JwtKey[];
  readonly settings: Settings;
}

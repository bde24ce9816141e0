/** A chain key as an agent's own program holds one: made and used by the Sui client as it is published. */
import { renderLinkText, renderRedeemText, type ChainNetwork } from "@coffer/contract";
import type { Signer } from "@coffer/sdk";
import { decodeSuiPrivateKey } from "@mysten/sui/cryptography";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { createHash } from "node:crypto";

export interface ChainKey {
  readonly address: string;
  /** In the ways in which it could show on a wire or a disk: bech32, hex and base64. */
  readonly secretForms: readonly string[];
  /** The body of a redeem request. `more` replaces fields after the signature was made. */
  redeeming(code: string, more?: { readonly at?: number; readonly origin?: string }): Promise<RedeemBody>;
  linking(accountId: string, nonce: string): Promise<LinkBody>;
  /** As the SDK takes it. */
  readonly signer: Signer;
}

export interface RedeemBody {
  readonly code: string;
  readonly chainAddress: string;
  readonly signature: string;
  readonly signedAt: string;
}

export interface LinkBody {
  readonly chainAddress: string;
  readonly signature: string;
  readonly nonce: string;
}

/** A new key for the service at `baseUrl`. Development servers are on localnet, production ones on mainnet. */
export function newChainKey(baseUrl: string, network: ChainNetwork = "localnet"): ChainKey {
  const pair = Ed25519Keypair.generate();
  const address = pair.toSuiAddress();
  const place = { origin: new URL(baseUrl).origin, network, chainAddress: address };
  const signPersonalMessage = async (bytes: Uint8Array): Promise<string> =>
    (await pair.signPersonalMessage(bytes)).signature;
  const sign = (text: string): Promise<string> => signPersonalMessage(new TextEncoder().encode(text));
  return {
    address,
    secretForms: secretForms(pair),
    signer: { chainAddress: address, signPersonalMessage },
    async redeeming(code, { at = Date.now(), origin = place.origin } = {}) {
      const signedAt = new Date(at).toISOString();
      const codeHash = createHash("sha256").update(code).digest("hex");
      const signature = await sign(renderRedeemText({ ...place, origin, codeHash, signedAt }));
      return { code, chainAddress: address, signature, signedAt };
    },
    async linking(accountId, nonce) {
      return { chainAddress: address, signature: await sign(renderLinkText({ ...place, accountId, nonce })), nonce };
    },
  };
}

function secretForms(pair: Ed25519Keypair): string[] {
  const bech32 = pair.getSecretKey();
  const bytes = Buffer.from(decodeSuiPrivateKey(bech32).secretKey);
  return [bech32, bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
}

import { command, parsed } from "../../../declarations.ts";
import { VAULT, vaultIdOf } from "../vault-argument.ts";
import { actReport } from "./act-report.ts";

export default command({
  brief: "Name the key that signs what you write in a shared vault",
  description: "Without --key it is your chain key. A member without a signing key can read, but not write.",
  examples: [{ line: "coffer vaults set-signing-key Team", does: "the key of this machine" }],
  flags: {
    key: parsed("Ed25519 public key, 64 hex digits; that of your chain key without it", parseKey, {
      placeholder: "HEX",
    }),
  },
  args: [VAULT] as const,
  run: async (context, { key }, [nameOrId]) => {
    const vaultId = await vaultIdOf(context.task, nameOrId);
    const client = await context.client();
    const result = await client.vaults.setSigningKey(vaultId, key, { signal: context.signal });
    return actReport(context, vaultId, result, `The vault ${vaultId} names the signing key.`);
  },
});

function parseKey(text: string): Uint8Array {
  if (/^(0x)?[0-9a-f]{64}$/i.test(text)) return Uint8Array.from(Buffer.from(text.replace(/^0x/i, ""), "hex"));
  throw new Error("expected 64 hex digits");
}

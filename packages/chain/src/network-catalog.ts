/**
 * Public facts about Sui's networks: their chain ids, a node, and the key-server committees that Seal's documentation
 * lists as verified (mystenlabs.github.io/seal, "Verified key servers"). Public keys are read from the chain when a
 * configuration is written, and pinned there. API keys, and the choice of witnesses, belong to the user of the
 * program: only the user can say whom to trust.
 */
import type { KeyServer, NetworkConfiguration } from "./network.ts";

/** A set of key servers before their public keys are pinned. */
export interface UnpinnedKeyServerSet {
  readonly threshold: number;
  readonly servers: readonly Omit<KeyServer, "publicKey">[];
}

export interface KnownNetwork extends Pick<NetworkConfiguration, "network" | "chainId" | "grpcUrl"> {
  readonly keyServers: UnpinnedKeyServerSet;
}

export const KNOWN_NETWORKS = {
  testnet: {
    network: "testnet",
    chainId: "69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMD",
    grpcUrl: "https://fullnode.testnet.sui.io:443",
    /** 3 of 5. Testnet promises nothing about how long it keeps its keys. */
    keyServers: {
      threshold: 1,
      servers: [
        {
          objectId: "0xb012378c9f3799fb5b1a7083da74a4069e3c3f1c93de0b27212a5799ce1e1e98",
          weight: 1,
          aggregatorUrl: "https://seal-aggregator-testnet.mystenlabs.com",
        },
      ],
    },
  },
  mainnet: {
    network: "mainnet",
    chainId: "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S",
    grpcUrl: "https://fullnode.mainnet.sui.io:443",
    /** 5 of 8. The aggregator wants an API key in the header that is named here. */
    keyServers: {
      threshold: 1,
      servers: [
        {
          objectId: "0x686098f1439237fff9f36b99c7329683c22979d2005c2465cb891acb012a7595",
          weight: 1,
          aggregatorUrl: "https://seal-aggregator-mainnet.mystenlabs.com",
          apiKeyName: "X-API-Key",
        },
      ],
    },
  },
} as const satisfies Readonly<Record<"testnet" | "mainnet", KnownNetwork>>;

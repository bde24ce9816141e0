/**
 * A chain that knows one package, one vault with its allowlist and generation, and nothing else: enough for key servers to
 * ask, and for SealClient and the key wrap to read. Tests of the key servers' and the wrap's own rules stand on it.
 */
import { bcs } from "@mysten/sui/bcs";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import type { Transaction } from "@mysten/sui/transactions";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { verifyPersonalMessageSignature } from "@mysten/sui/verify";
import type { ChainAccess, ChainObject, ChainView, Simulation } from "@coffer/localnet/key-servers";

export const PACKAGE = `0x${"c0".repeat(32)}`;
/** The only object calls may name, besides the clock. */
export const VAULT = `0x${"aa".repeat(32)}`;

const CLOCK = `0x${"6".padStart(64, "0")}`;
const MAX_GAS_BUDGET = 50_000_000_000n;

interface State {
  readonly members: Set<string>;
  generation: bigint;
  /** What the simulation of one approval costs, MIST. */
  price: bigint;
}

export interface AllowlistChain extends State {
  readonly access: ChainAccess;
  /** What programs read it with. Requests are counted, and fail while `nodeDown`. */
  readonly client: SuiGrpcClient;
  requests: number;
  nodeDown: boolean;
  /** Milliseconds that the programs' node is behind. */
  nodeLag: number;
  /** Added to the machine's clock, milliseconds. */
  skew: number;
}

export function openAllowlistChain(): AllowlistChain {
  const objects = new Map<string, ChainObject>();
  const state: State = { members: new Set<string>(), generation: 1n, price: 1_000_000n };
  const chain = { ...state, requests: 0, nodeDown: false, nodeLag: 0, skew: 0 };
  const now = (): number => Date.now() + chain.skew;
  const access: ChainAccess = {
    ...viewOf(chain, objects, now),
    now,
    packageId: PACKAGE,
    putObject: async (object) => {
      const put = { ...object, version: 1n, digest: "", previousTransaction: "" };
      objects.set(object.id, put);
      return put;
    },
    snapshot: () => {
      const [frozenAt, frozen] = [now(), { ...chain, members: new Set(chain.members) }];
      return viewOf(frozen, new Map(objects), () => frozenAt);
    },
    verifyPersonalMessage: async (message, signature, address) =>
      await verifyPersonalMessageSignature(message, signature, { address }).then(
        () => true,
        () => false,
      ),
  };
  const opened: Omit<AllowlistChain, "client"> = Object.assign(chain, { access });
  return Object.assign(opened, { client: clientOf(opened, objects) });
}

function viewOf(state: State, objects: Map<string, ChainObject>, time: () => number): ChainView {
  return {
    chainId: "allowlist",
    checkpointTime: time,
    readObject: (id) => objects.get(id) ?? null,
    readPackage: (id) => (id === PACKAGE ? { id, originalId: PACKAGE, version: 1n, modules: new Map() } : null),
    simulateAs: (sender, bytes, budget) => {
      const transaction = bcs.ProgrammableTransaction.parse(bytes);
      if (costOf(state, transaction) >= budget) return { outcome: "out_of_gas", message: "Insufficient Gas." };
      return simulate(state, sender, transaction);
    },
  };
}

type Approvals = ReturnType<typeof bcs.ProgrammableTransaction.parse>;

function costOf({ price }: State, { commands }: Approvals): bigint {
  return price * BigInt(commands.length);
}

function simulate(state: State, sender: string, { inputs, commands }: Approvals): Simulation {
  const unknown = inputs
    .map((input) => input.Object?.SharedObject?.objectId)
    .find((id) => id != null && id !== VAULT && id !== CLOCK);
  if (unknown != null) return { outcome: "object_missing", objectId: unknown, message: "no such object" };
  if (commands.some((command) => command.MoveCall?.function !== "seal_approve"))
    return { outcome: "invalid", message: "no such function" };
  const values = inputs.flatMap((input) => (input.Pure == null ? [] : [Buffer.from(input.Pure.bytes, "base64")]));
  // What is shorter is a place in the list.
  const identities = values.filter(({ length }) => length > 8);
  if (identities.some((identity) => identity.readBigUInt64BE(33) > state.generation)) return abort(12n);
  return state.members.has(sender) ? { outcome: "succeeded" } : abort(13n);
}

function abort(code: bigint): Simulation {
  return { outcome: "aborted", code, module: "vault", function: "seal_approve", message: `abort ${code}` };
}

function clientOf(chain: Omit<AllowlistChain, "client">, objects: Map<string, ChainObject>): SuiGrpcClient {
  const reach = (): void => {
    chain.requests += 1;
    if (chain.nodeDown) throw new TypeError("fetch failed");
  };
  const core = {
    getObject: async ({ objectId }: { objectId: string }) => {
      reach();
      return { object: { version: "1", content: objects.get(objectId)?.contents ?? new Uint8Array() } };
    },
    getDynamicField: async ({ parentId, name }: { parentId: string; name: { bcs: Uint8Array } }) => {
      reach();
      const field = objects.get(deriveDynamicFieldID(parentId, "u64", name.bcs));
      if (field === undefined) throw new Error("no such dynamic field");
      return { dynamicField: { value: { bcs: field.contents.slice(40) } } };
    },
    simulateTransaction: async ({ transaction }: { transaction: Transaction }) => {
      reach();
      const bytes = await transaction.build({ onlyTransactionKind: true });
      const { sender, commands } = transaction.getData();
      const simulation = chain.access.simulateAs(sender ?? "", bytes.slice(1), MAX_GAS_BUDGET);
      return renderSimulation(simulation, chain.price * BigInt(commands.length));
    },
  };
  const ledgerService = {
    getServiceInfo: async () => {
      reach();
      const seconds = BigInt(Math.floor((chain.access.now() - chain.nodeLag) / 1000));
      return { response: { chainId: "made up", epoch: 0n, timestamp: { seconds, nanos: 0 } } };
    },
  };
  return { core, ledgerService } as unknown as SuiGrpcClient;
}

function renderSimulation(simulation: Simulation, cost: bigint): unknown {
  switch (simulation.outcome) {
    case "succeeded": {
      const effects = { gasUsed: { computationCost: String(cost) } };
      return { $kind: "Transaction", Transaction: { status: { success: true, error: null }, effects } };
    }
    case "object_missing":
      throw Object.assign(new Error(simulation.message), { code: "NOT_FOUND" });
    case "out_of_gas":
    case "aborted":
    case "invalid": {
      const abortCode = simulation.outcome === "aborted" ? { abortCode: String(simulation.code) } : undefined;
      const error = { message: simulation.message, MoveAbort: abortCode };
      return { $kind: "FailedTransaction", FailedTransaction: { status: { success: false, error } } };
    }
  }
}

import { AGENT_SCOPES, api, type Scope } from "@coffer/contract";
import { decisionFile, describeDecision, findVault, inviteFile, parseEnd, TaskFailure, untrusted } from "@coffer/tasks";
import type { Vault } from "@coffer/sdk";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Outcome } from "../result.ts";
import { TEXT, TEXTS } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { moment } from "../fact-values.ts";
import { vaultRef } from "./reference-input.ts";
import { LOOKS_FORWARD } from "./times.ts";

const amount = z.optional(z.int().check(z.gte(0)));

export const accessGrant = defineTool({
  name: "access_grant",
  profile: "owner",
  title: "Give access",
  description:
    "With chainAddress: makes the address a member of shared vaults. Else: makes a single-use invite for an agent, whose code goes into a file for the user, never into the answer. The user has to agree first. Access is per vault: to share one folder, move it into a vault of its own. A person needs an account and a chain address first.",
  endpoints: [api.invites.create, api.members.add],
  input: {
    name: z.string().check(z.minLength(1), z.maxLength(200)),
    vaultIds: z.array(vaultRef).check(z.minLength(1), z.maxLength(100)),
    scopes: z.optional(z.array(z.enum(AGENT_SCOPES))),
    until: z.optional(z.string().check(z.maxLength(64))),
    chainAddress: z.optional(z.string().check(z.regex(/^0x[0-9a-f]{64}$/, "must be 0x and 64 hex digits"))),
    storedBytes: amount,
    bytesPerDay: amount,
    filesPerDay: amount,
    requestsPerMinute: z.optional(z.int().check(z.gte(1))),
    confirm: z.optional(z.string().check(z.maxLength(200))),
  },
  describe: {
    name: "for whom",
    vaultIds: "ids or names",
    scopes: "default: all that agents may do",
    until: `${LOOKS_FORWARD}; default: as invited`,
    chainAddress: "of the agent, from its own words; default: an invite",
    storedBytes: "budget; default: none",
    bytesPerDay: "budget; default: none",
    filesPerDay: "budget; default: none",
    requestsPerMinute: "budget; default: none",
    confirm: "token the user agreed to; default: none",
  },
  output: { file: TEXT, inviteId: TEXT, expires: TEXT, ends: TEXT, members: TEXTS, nextStep: TEXT },
  run: async (args, call) => {
    const vaults = await Promise.all(args.vaultIds.map((each) => findVault(call, each)));
    if (args.chainAddress === undefined) call.requireHandOut();
    const until = await endOf(args, call);
    const who = args.chainAddress ?? "a single-use invite";
    const state = stateOf(vaults);
    await call.confirm({
      preview: `Access for ${who} to ${String(vaults.length)} vaults (${vaults.map(({ id }) => id.slice(0, 8)).join(", ")}), ${until === null ? "without an end" : `until ${moment(until)}`}, labelled ${JSON.stringify(untrusted(args.name).visible())}`,
      state,
      stateNow: async () => stateOf(await Promise.all(vaults.map(({ id }) => findVault(call, id)))),
      token: args.confirm,
      isFinal: true,
    });
    const vaultIds = vaults.map(({ id }) => id);
    if (args.chainAddress !== undefined) return await addMember(call, args.chainAddress, vaultIds, args.name, until);
    return await invite(call, { ...args, vaultIds }, until);
  },
});

/** As the arguments say; else when the invite ends that this machine made for the address. null: never. */
async function endOf(
  { chainAddress, until }: { readonly chainAddress?: string | undefined; readonly until?: string | undefined },
  call: Call,
): Promise<string | null> {
  if (until !== undefined) return parseEnd("until", until, "UTC");
  if (chainAddress === undefined) return null;
  return (await call.storedInvites()).get(chainAddress)?.accessUntil ?? null;
}

function stateOf(vaults: readonly Pick<Vault, "id" | "role" | "type">[]): string[] {
  return vaults.map(({ id, role, type }) => `${id} ${role} ${type}`).toSorted();
}

async function addMember(
  call: Call,
  chainAddress: string,
  vaultIds: readonly string[],
  label: string,
  until: string | null,
): Promise<Outcome> {
  const client = await call.client();
  for (const vaultId of vaultIds)
    await client.vaults.members.add(vaultId, chainAddress, {
      label,
      signal: call.signal,
      ...(until === null ? {} : { until }),
    });
  return {
    summary: "The address is a member, and opens all that was ever written there.",
    facts: { members: [...vaultIds], ends: until === null ? "never" : moment(until) },
  };
}

interface InviteArguments {
  readonly name: string;
  readonly vaultIds: string[];
  readonly scopes?: Scope[] | undefined;
  readonly storedBytes?: number | undefined;
  readonly bytesPerDay?: number | undefined;
  readonly filesPerDay?: number | undefined;
  readonly requestsPerMinute?: number | undefined;
}

async function invite(call: Call, args: InviteArguments, until: string | null): Promise<Outcome> {
  const { name, vaultIds, scopes, storedBytes, bytesPerDay, filesPerDay, requestsPerMinute } = args;
  const budgets = Object.fromEntries(
    Object.entries({ storedBytes, bytesPerDay, filesPerDay, requestsPerMinute }).filter(
      ([, each]) => each !== undefined,
    ),
  );
  const client = await call.client();
  const decision = await describeDecision(client, { name, scopes, vaultIds, budgets }, Date.now(), call.signal);
  const created = await client.invites.create(
    {
      name,
      vaultIds,
      ...(scopes === undefined ? {} : { scopes }),
      ...(until === null ? {} : { accessUntil: until }),
      ...(Object.keys(budgets).length === 0 ? {} : { budgets }),
    },
    { signal: call.signal },
  );
  const file = await call.handOut(inviteFile(created.id), created.text);
  if (file !== null) await call.handOut(decisionFile(created.id), decision);
  if (file === null) {
    await client.invites.revoke(created.id);
    throw new TaskFailure("local_io", { message: "The invite could not be written into a file, and was revoked" });
  }
  return {
    summary: "The invite is in a file that only this user reads.",
    facts: {
      inviteId: created.id,
      file: untrusted(file),
      expires: moment(created.expiresAt),
      ends: until === null ? "never" : moment(until),
      nextStep:
        "Tell the user to give the file's text to the agent over a private channel. It works once. The agent then prints the line that lets it in: coffer agents list --approve ADDRESS.",
    },
  };
}

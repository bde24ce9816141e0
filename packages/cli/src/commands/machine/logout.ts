import type { Client } from "@coffer/sdk";
import { saveProfile } from "@coffer/tasks";
import { command, toggle } from "../../declarations.ts";
import { CommandFailure } from "../../failure.ts";
import { done } from "../../result.ts";
import { selectedProfile, reachableProfile } from "../../profile-credentials.ts";

export default command({
  brief: "Forget the sign-in of the profile",
  description: "A session is ended at the service too. The chain key stays: back it up with coffer chain backup.",
  examples: [
    { line: "coffer logout", does: "removes key or session from this machine" },
    { line: "coffer logout --revoke", does: "and ends an API key at the service" },
  ],
  flags: { revoke: toggle("Revoke the API key at the service first") },
  run: async (context, { revoke }) => {
    const { signal } = context;
    const { stored, profile } = await selectedProfile(context);
    const hasKey = stored?.apiKey != null;
    if (!hasKey && stored?.session == null)
      throw new CommandFailure("signed_out", {
        message: `The profile ${profile} is not signed in`,
        nextStep: "coffer login",
      });
    const selected = await reachableProfile(context);
    // The profile's own credential is meant, whatever the environment holds.
    const { createClient } = await import("@coffer/sdk");
    const { savedSession } = await import("@coffer/sdk/node");
    const credentials =
      stored.apiKey === null ? await savedSession(profile, selected.configFile) : { apiKey: stored.apiKey };
    const client = createClient({ baseUrl: stored.baseUrl, ...(credentials === null ? {} : { credentials }) });
    const ended = hasKey ? revoke && (await revokeKey(client, signal)) : await endSession(client, signal);
    await saveProfile(selected, { apiKey: null, session: null });
    const what = hasKey ? "API key" : "session";
    return done({ profile, ended }, [
      `Signed out of profile ${profile}.`,
      ended ? `The ${what} has ended at the service.` : `The ${what} may still be good at the service.`,
    ]);
  },
});

async function revokeKey(client: Client, signal: AbortSignal): Promise<boolean> {
  const { credential } = await client.account.get({ signal });
  if (credential.id === null) return false;
  await client.apiKeys.revoke(credential.id, { signal });
  return true;
}

/** A service that does not answer keeps nobody signed in here. */
async function endSession(client: Client, signal: AbortSignal): Promise<boolean> {
  try {
    await client.auth.logout(undefined, { signal, totalMs: 10_000 });
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

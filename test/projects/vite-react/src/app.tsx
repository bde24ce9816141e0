import { useState, type SubmitEvent } from "react";
import { SdkError, type Client, type Vault } from "@coffer/sdk";
import { openClient } from "./client.ts";
import { Deliveries } from "./deliveries.tsx";
import { Files } from "./files.tsx";

export function App() {
  const [client, setClient] = useState<Client | null>(null);
  const [vaults, setVaults] = useState<readonly Vault[]>([]);
  const [vault, setVault] = useState<Vault | null>(null);
  const [failure, setFailure] = useState("");

  async function signIn(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    try {
      const opened = await openClient(String(fields.get("apiKey")), String(fields.get("chainKey")));
      setVaults((await opened.vaults.list()).items);
      setClient(opened);
    } catch (error) {
      setFailure(error instanceof SdkError ? `${error.code}: ${error.message}. ${error.nextStep}` : String(error));
    }
  }

  if (client === null)
    return (
      <form onSubmit={(event) => void signIn(event)}>
        <input name="apiKey" type="password" autoComplete="off" placeholder="API key" />
        <input name="chainKey" type="password" autoComplete="off" placeholder="chain key" />
        <button>sign in</button>
        <p role="alert">{failure}</p>
      </form>
    );
  return (
    <main>
      <nav>
        {vaults.map((each) => (
          <button key={each.id} onClick={() => setVault(each)}>
            {each.name}
          </button>
        ))}
      </nav>
      {vault !== null && <Files key={vault.id} client={client} vaultId={vault.id} />}
      <Deliveries />
    </main>
  );
}

import { useState, type SubmitEvent } from "react";
import { verifyWebhook, WebhookVerificationError } from "@coffer/sdk/webhooks";

/** Says of a delivery that somebody has pasted whether it is the service's. */
export function Deliveries() {
  const [verdict, setVerdict] = useState("");

  async function verify(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const { body = "", headers = "{}", secret = "" } = Object.fromEntries(new FormData(event.currentTarget));
    try {
      const { type } = await verifyWebhook({
        body: String(body),
        headers: JSON.parse(String(headers)),
        secrets: String(secret),
      });
      setVerdict(`verified: ${type}`);
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      setVerdict(`refused: ${error.reason}`);
    }
  }

  return (
    <form onSubmit={(event) => void verify(event)}>
      <textarea name="body" />
      <textarea name="headers" />
      <input name="secret" type="password" autoComplete="off" />
      <button>verify</button>
      <output>{verdict}</output>
    </form>
  );
}

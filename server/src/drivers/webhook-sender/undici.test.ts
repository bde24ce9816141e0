import { describeWebhookGuard } from "../../../../test/suites/webhook-guard.ts";
import { describeWebhookSender } from "../../../../test/suites/webhook-sender.ts";
import type { SenderSetup } from "../../../../test/suites/webhook-sending.ts";
import { openWebhookSender } from "./undici.ts";

const SETTINGS = { allowHttp: false, allowedNetworks: [], proxyUrl: null, timeout: 15_000, connectTimeout: 5_000 };

function open({ clock, resolve, trust, ...settings }: SenderSetup) {
  const options = { ...(clock && { clock }), ...(resolve && { resolve }), ...(trust !== undefined && { trust }) };
  return openWebhookSender({ ...SETTINGS, ...settings }, options);
}

describeWebhookSender("undici", open);
describeWebhookGuard("undici", open);

/** The rows of webhooks and their deliveries; tables.ts says how they are written. */

/** A webhook endpoint (specification §2.1). */
export interface WebhookRow {
  id: string;
  account_id: string;
  url: string;
  /** Event kinds, or `*`. */
  events_json: string;
  description: string;
  active: number;
  /** Signing secrets, encrypted at rest. The previous one signs too until its end. */
  secret: string;
  previous_secret: string | null;
  previous_secret_ends_at: number | null;
  last_delivery_status: string;
  last_delivery_at: number | null;
  /** Failed deliveries in a row. */
  failure_count: number;
  /** When the first of the failed attempts in a row was made; null after a success. */
  failing_since: number | null;
  created_at: number;
  updated_at: number;
}

/** How far an account's changes have become deliveries. Only accounts with endpoints have a row. */
export interface WebhookCursorRow {
  account_id: string;
  sequence: number;
  /** When its owner last got a mail about an endpoint that was turned off: at most once a day. */
  mailed_at: number | null;
}

/** One event on its way to one endpoint (specification §2.2). */
export interface WebhookDeliveryRow {
  id: string;
  webhook_id: string;
  /** `webhook-id`: the same for every endpoint, attempt and redelivery of the event. */
  message_id: string;
  event: string;
  sequence: number;
  /** The body of every attempt, as it is sent and signed. */
  payload: string;
  /** "scheduled", "manual" or "test". */
  trigger: string;
  /** "pending", "delivering", "success" or "failed". */
  status: string;
  /** Counted when an attempt is claimed, so that a crash cannot repeat one for ever. */
  attempts: number;
  max_attempts: number;
  http_status: number;
  last_error: string;
  next_attempt_at: number | null;
  /** While delivering: when somebody else may take it over. */
  lease_until: number | null;
  last_attempt_at: number | null;
  completed_at: number | null;
  created_at: number;
}

export interface WebhookAttemptRow {
  delivery_id: string;
  number: number;
  trigger: string;
  http_status: number;
  error: string;
  /** Milliseconds. */
  duration: number;
  response_body: string;
  at: number;
}

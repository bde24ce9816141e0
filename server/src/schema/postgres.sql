-- The schema of a new database of PostgreSQL; sqlite.sql is the same one for SQLite, and dialects.test.ts compares the two. What the
-- columns hold: ports/tables.ts, and why the indexes are as they are: sqlite.sql.
--
-- Text is ordered and cut by its bytes, as in SQLite, whatever the locale of the database. An index of another collation would also serve
-- no search for a prefix (postgresql.org/docs/current/indexes-opclass.html).

-- Accounts, their keys, and what is done with them.

create table accounts (
  id text collate "C" primary key,
  email text collate "C" not null unique,
  email_verified integer not null,
  name text collate "C",
  chain_address text collate "C",
  chain_address_source text collate "C",
  plan text collate "C" not null,
  default_vault_id text collate "C" not null,
  usage_bytes bigint not null check (usage_bytes >= 0),
  usage_files bigint not null check (usage_files >= 0),
  sequence bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  idp_id text collate "C",
  idp_issuer text collate "C",
  password_hash text collate "C",
  zklogin_salt text collate "C",
  changes_hash text collate "C" not null default '0000000000000000000000000000000000000000000000000000000000000000',
  chain_public_key text collate "C",
  usage_version_bytes bigint not null default 0
);
create unique index accounts_chain_address on accounts (chain_address) where chain_address is not null;
create unique index accounts_identity on accounts (idp_id, idp_issuer);

create table api_keys (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  name text collate "C" not null,
  hash text collate "C" not null unique,
  prefix text collate "C" not null,
  last4 text collate "C" not null,
  scopes_json text collate "C",
  vault_ids_json text collate "C",
  chain_address text collate "C",
  expires_at bigint,
  last_used_at bigint,
  revoked_at bigint,
  created_at bigint not null,
  chain_public_key text collate "C",
  budgets_json text collate "C"
);
create index api_keys_newest on api_keys (account_id, created_at desc, id desc);
create index api_keys_chain_address on api_keys (chain_address) where chain_address is not null;

create table changes (
  account_id text collate "C" not null references accounts (id),
  sequence bigint not null,
  id text collate "C" not null,
  action text collate "C" not null,
  actor_json text collate "C" not null,
  target_json text collate "C" not null,
  occurred_at bigint not null,
  context_json text collate "C" not null default '{}',
  previous_hash text collate "C" not null default '0000000000000000000000000000000000000000000000000000000000000000',
  hash text collate "C" not null default '0000000000000000000000000000000000000000000000000000000000000000',
  object_json text collate "C",
  actor_id text collate "C",
  actor_address text collate "C",
  vault_id text collate "C",
  folder_id text collate "C",
  primary key (account_id, sequence)
);
create index changes_occurred_at on changes (occurred_at);
create index changes_action on changes (account_id, action, sequence);
create index changes_actor_id on changes (account_id, actor_id, sequence) where actor_id is not null;
create index changes_actor_address on changes (account_id, actor_address, sequence) where actor_address is not null;
create index changes_vault_id on changes (account_id, vault_id, sequence) where vault_id is not null;
create index changes_folder_id on changes (account_id, folder_id, sequence) where folder_id is not null;

create table removed_changes (
  account_id text collate "C" primary key references accounts (id),
  sequence bigint not null,
  hash text collate "C" not null
);

create table idempotency (
  account_id text collate "C" not null,
  key text collate "C" not null,
  fingerprint text collate "C" not null,
  state text collate "C" not null,
  resource text collate "C",
  status integer,
  headers_json text collate "C",
  body text collate "C",
  owner text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null,
  primary key (account_id, key)
);
create index idempotency_expires_at on idempotency (expires_at);

-- Vaults with what lies in them, and what it was before (decisions 0050 and 0051).

create table vaults (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  name text collate "C" not null,
  type text collate "C" not null,
  chain_object_id text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  owner_address text collate "C",
  chain_generation bigint,
  plain_names integer,
  trashed_at bigint,
  keep_versions_days integer,
  purging_bytes bigint,
  pending_retention bigint
);
create index vaults_newest on vaults (account_id, created_at desc, id desc);
create unique index vaults_chain_object on vaults (chain_object_id) where chain_object_id is not null;
create unique index vaults_live_name on vaults (account_id, name) where trashed_at is null;
create index vaults_trashed on vaults (account_id, id) where trashed_at is not null;
create index vaults_trashed_at on vaults (trashed_at) where trashed_at is not null;
create index vaults_purging on vaults (account_id) where purging_bytes is not null;
create index vaults_pending_retention on vaults (id) where pending_retention is not null;

create table folders (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  vault_id text collate "C" not null references vaults (id),
  parent_id text collate "C" references folders (id),
  name text collate "C" not null,
  depth integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  trashed_at bigint,
  trashed_with text collate "C",
  shared_json text collate "C",
  revision bigint not null default 1,
  created_by text collate "C",
  updated_by text collate "C",
  entry_number bigint not null default 1,
  entry_at bigint,
  entry_how text collate "C",
  entry_author text collate "C"
);
create index folders_account_live on folders (account_id, created_at desc, id desc) where trashed_at is null;
create index folders_account_trashed on folders (account_id, created_at desc, id desc) where trashed_at is not null;
create index folders_vault_live on folders (account_id, vault_id, created_at desc, id desc) where trashed_at is null;
create index folders_vault_trashed on folders
  (account_id, vault_id, created_at desc, id desc) where trashed_at is not null;
create index folders_parent_live on folders
  (account_id, vault_id, (coalesce(parent_id, '')), created_at desc, id desc) where trashed_at is null;
create index folders_parent_trashed on folders
  (account_id, vault_id, (coalesce(parent_id, '')), created_at desc, id desc) where trashed_at is not null;
create unique index folders_live_name on folders (vault_id, (coalesce(parent_id, '')), name) where trashed_at is null;
create index folders_in_vault on folders (vault_id);
create index folders_in_parent on folders (parent_id) where parent_id is not null;
create index folders_trashed_with on folders (trashed_with) where trashed_with is not null;
create index folders_trashed_at on folders (trashed_at) where trashed_at is not null;
create index folders_name_live on folders
  (account_id, vault_id, name, created_at desc, id desc) where trashed_at is null;
create index folders_name_trashed on folders
  (account_id, vault_id, name, created_at desc, id desc) where trashed_at is not null;

create table files (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  vault_id text collate "C" not null references vaults (id),
  folder_id text collate "C" references folders (id),
  version_id text collate "C" not null,
  blob_key text collate "C" not null unique,
  name text collate "C" not null,
  size bigint not null,
  content_type text collate "C" not null,
  sha256 text collate "C" not null,
  encrypted integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  trashed_at bigint,
  trashed_with text collate "C",
  shared_json text collate "C",
  revision bigint not null default 1,
  version_number bigint not null default 1,
  version_at bigint not null default 0,
  version_how text collate "C" not null default 'upload',
  version_author text collate "C",
  created_by text collate "C",
  updated_by text collate "C",
  entry_number bigint not null default 1,
  entry_at bigint,
  entry_how text collate "C",
  entry_author text collate "C",
  search_id bigint,
  budget_id text collate "C",
  search_waits integer
);
create index files_account_live on files (account_id, created_at desc, id desc) where trashed_at is null;
create index files_account_trashed on files (account_id, created_at desc, id desc) where trashed_at is not null;
create index files_vault_live on files (account_id, vault_id, created_at desc, id desc) where trashed_at is null;
create index files_vault_trashed on files (account_id, vault_id, created_at desc, id desc) where trashed_at is not null;
create index files_folder_live on files
  (account_id, vault_id, (coalesce(folder_id, '')), created_at desc, id desc) where trashed_at is null;
create index files_folder_trashed on files
  (account_id, vault_id, (coalesce(folder_id, '')), created_at desc, id desc) where trashed_at is not null;
create unique index files_live_name on files (vault_id, (coalesce(folder_id, '')), name) where trashed_at is null;
create index files_in_folder on files (folder_id) where folder_id is not null;
create index files_trashed_with on files (trashed_with) where trashed_with is not null;
create index files_trashed_at on files (trashed_at) where trashed_at is not null;
create unique index files_search on files (search_id);
create index files_search_trashed on files (account_id, search_id) where trashed_at is not null;
create index files_search_waits on files (account_id) where search_waits is not null;
create index files_counted on files (vault_id, budget_id, trashed_at, size);
create index files_name_live on files (account_id, vault_id, name, created_at desc, id desc) where trashed_at is null;
create index files_name_trashed on files
  (account_id, vault_id, name, created_at desc, id desc) where trashed_at is not null;

create table file_versions (
  vault_id text collate "C" not null references vaults (id) on delete cascade,
  file_id text collate "C" not null,
  version_id text collate "C" not null,
  number bigint not null,
  blob_key text collate "C" not null,
  size bigint not null,
  charged bigint not null,
  sha256 text collate "C" not null,
  content_type text collate "C" not null,
  shared_json text collate "C",
  how text collate "C" not null,
  author text collate "C",
  author_key text collate "C" not null,
  created_at bigint not null,
  replaced_at bigint not null,
  expires_at bigint not null,
  budget_id text collate "C",
  primary key (file_id, version_id)
);
create index file_versions_expiry on file_versions (expires_at);
create index file_versions_blob on file_versions (blob_key);
create index file_versions_number on file_versions (file_id, number);
create index file_versions_author on file_versions (file_id, author_key, number);
create index file_versions_counted on file_versions (vault_id, budget_id, charged);
create index file_versions_retention on file_versions (vault_id, (expires_at - replaced_at));

create table item_entries (
  vault_id text collate "C" not null references vaults (id) on delete cascade,
  item_id text collate "C" not null,
  number bigint not null,
  name text collate "C" not null,
  folder_id text collate "C",
  shared_json text collate "C",
  how text collate "C" not null,
  author text collate "C",
  author_key text collate "C" not null,
  created_at bigint not null,
  replaced_at bigint not null,
  expires_at bigint not null,
  primary key (item_id, number)
);
create index item_entries_expiry on item_entries (expires_at);
create index item_entries_author on item_entries (item_id, author_key, number);
create index item_entries_retention on item_entries (vault_id, (expires_at - replaced_at));

-- Shared vaults: members, vault keys with the steps down from each (encryption design §9.1), and the keys of names.

create table vault_members (
  vault_id text collate "C" not null references vaults (id) on delete cascade,
  chain_address text collate "C" not null,
  label text collate "C" not null,
  added_at bigint not null,
  removed_at bigint,
  ends_at bigint,
  ended_at bigint,
  primary key (vault_id, chain_address)
);
create index vault_members_address on vault_members (chain_address, vault_id);
create index vault_members_end on vault_members (ended_at, ends_at);

create table vault_keys (
  vault_id text collate "C" not null references vaults (id) on delete cascade,
  key_id text collate "C" not null,
  generation bigint not null,
  record text collate "C" not null,
  creator text collate "C" not null,
  created_at bigint not null,
  replaced_at bigint,
  after bigint not null default 0,
  primary key (vault_id, key_id)
);
create index vault_keys_newest on vault_keys (vault_id, created_at, key_id);
create index vault_keys_of_generation on vault_keys (vault_id, generation, created_at, key_id);
create unique index vault_keys_current on vault_keys (vault_id, generation, after) where replaced_at is null;

create table ladder_steps (
  vault_id text collate "C" not null references vaults (id) on delete cascade,
  created_at bigint not null,
  id text collate "C" not null,
  step text collate "C" not null,
  primary key (vault_id, created_at, id)
);

create table folder_keys (
  vault_id text collate "C" not null references vaults (id) on delete cascade,
  folder_id text collate "C" not null,
  key_id text collate "C" not null,
  primary key (vault_id, folder_id)
);

create table staged_names (
  vault_id text collate "C" not null references vaults (id) on delete cascade,
  folder_id text collate "C" not null,
  key_id text collate "C" not null,
  kind text collate "C" not null,
  item_id text collate "C" not null,
  entry text collate "C" not null,
  metadata text collate "C" not null,
  name_index text collate "C" not null,
  primary key (vault_id, folder_id, key_id, item_id)
);

-- Uploads, and what they and keys may hold and have used (decisions 0027 and 0057).

create table uploads (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  key_id text collate "C",
  vault_id text collate "C" not null references vaults (id) on delete cascade,
  folder_id text collate "C" references folders (id) on delete cascade,
  file_id text collate "C",
  name text collate "C" not null,
  content_type text collate "C" not null,
  length bigint not null,
  blob_key text collate "C" not null unique,
  if_none_match integer not null,
  if_match text collate "C",
  created_at bigint not null,
  expires_at bigint not null,
  finished_file_id text collate "C",
  shared_json text collate "C",
  keep integer not null default 1,
  -- Its bytes wait for a commit of files. Their digest is here once they are all there.
  held integer not null default 0,
  held_sha256 text collate "C"
);
create index uploads_account on uploads (account_id, created_at desc, id desc);
create index uploads_held on uploads (account_id, expires_at) where finished_file_id is null;
create index uploads_in_vault on uploads (vault_id);
create index uploads_in_folder on uploads (folder_id) where folder_id is not null;
create index uploads_expires_at on uploads (expires_at);

create table upload_holds (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  bytes bigint not null,
  expires_at bigint not null
);
create index upload_holds_account on upload_holds (account_id, expires_at);
create index upload_holds_expires_at on upload_holds (expires_at);

create table budgets (
  id text collate "C" primary key,
  parent_id text collate "C",
  stored_bytes bigint not null
);

create table budget_slots (
  budget_id text collate "C" not null,
  slot bigint not null,
  bytes bigint not null,
  files bigint not null,
  primary key (budget_id, slot)
);

create table budget_holds (
  id text collate "C" primary key,
  budget_id text collate "C" not null,
  hold_id text collate "C" references upload_holds (id) on delete cascade,
  upload_id text collate "C" references uploads (id) on delete cascade,
  bytes bigint not null,
  expires_at bigint not null
);
create index budget_holds_budget on budget_holds (budget_id, expires_at);
create index budget_holds_hold on budget_holds (hold_id);
create index budget_holds_upload on budget_holds (upload_id);

-- Contents: on their way into a store, and on their way out of it (decision 0141).

create table blob_partials (
  blob_key text collate "C" primary key,
  writer integer not null,
  length bigint not null,
  part_bytes bigint not null,
  next_part integer not null,
  upload_id text collate "C",
  tail_bytes bigint not null,
  tail_number integer not null,
  created_at bigint not null,
  completed_at bigint,
  sha256 text collate "C"
);
create index blob_partials_completed on blob_partials (completed_at);

create table blob_parts (
  blob_key text collate "C" not null,
  number integer not null,
  size bigint not null,
  etag text collate "C" not null,
  sha256 text collate "C" not null,
  stray integer not null,
  primary key (blob_key, number)
);

create table blob_deletions (
  blob_key text collate "C" primary key,
  not_before bigint not null,
  account_id text collate "C",
  bytes bigint not null default 0,
  reason text collate "C" not null default 'deleted'
);
create index blob_deletions_not_before on blob_deletions (not_before);
create index blob_deletions_account on blob_deletions (account_id, bytes);

create table blob_quarantine (
  blob_key text collate "C" primary key,
  reason text collate "C" not null,
  account_id text collate "C",
  bytes bigint not null,
  since bigint not null,
  ends bigint,
  deleting integer not null
);
create index blob_quarantine_ends on blob_quarantine (ends);
create index blob_quarantine_account on blob_quarantine (account_id, bytes);
create index blob_quarantine_reason on blob_quarantine (reason, bytes);

create table sweeps (
  id text collate "C" primary key,
  at bigint not null,
  contents bigint not null,
  orphans bigint not null,
  stopped integer not null
);

-- Acts that begin with one row (decision 0142).

create table tree_acts (
  root_id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  vault_id text collate "C" not null references vaults (id) on delete cascade,
  kind text collate "C" not null,
  trashed_at bigint,
  trashed_with text collate "C",
  sequence bigint not null
);
create index tree_acts_account on tree_acts (account_id);
create index tree_acts_vault on tree_acts (vault_id);

create table ended_items (
  item_id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  vault_id text collate "C" not null references vaults (id) on delete cascade,
  reason text collate "C" not null,
  bytes bigint not null
);
create index ended_items_account on ended_items (account_id);
create index ended_items_vault on ended_items (vault_id);

-- Sign-in, sessions, codes, mails, invites, payment.

create table sessions (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  method text collate "C" not null,
  user_agent text collate "C",
  created_at bigint not null,
  last_used_at bigint not null,
  expires_at bigint not null,
  ends_at bigint not null,
  revoked_at bigint
);
create index sessions_newest on sessions (account_id, created_at desc, id desc);
create index sessions_expires_at on sessions (expires_at);

create table refresh_tokens (
  hash text collate "C" primary key,
  session_id text collate "C" not null references sessions (id) on delete cascade,
  created_at bigint not null,
  expires_at bigint not null,
  rotated_at bigint
);
create index refresh_tokens_session on refresh_tokens (session_id);
create index refresh_tokens_expires_at on refresh_tokens (expires_at);

create table sign_ins (
  state_hash text collate "C" primary key,
  flow text collate "C" not null,
  nonce text collate "C" not null,
  code_verifier text collate "C" not null,
  access_code_hash text collate "C",
  expires_at bigint not null
);
create index sign_ins_expires_at on sign_ins (expires_at);

create table sign_in_delays (
  key text collate "C" primary key,
  attempts integer not null,
  next_at bigint not null,
  expires_at bigint not null
);
create index sign_in_delays_expires_at on sign_in_delays (expires_at);

create table chain_challenges (
  nonce_hash text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  credential text collate "C" not null,
  expires_at bigint not null
);
create index chain_challenges_account on chain_challenges (account_id);
create index chain_challenges_expires_at on chain_challenges (expires_at);

create table subscriptions (
  account_id text collate "C" primary key references accounts (id),
  plan text collate "C" not null,
  status text collate "C" not null,
  reference text collate "C" not null,
  since bigint not null,
  event_at bigint not null
);

create table payment_events (
  id text collate "C" primary key,
  received_at bigint not null
);
create index payment_events_received_at on payment_events (received_at);

create table access_codes (
  id text collate "C" primary key,
  hash text collate "C" not null unique,
  note text collate "C",
  uses_left integer not null check (uses_left >= 0),
  expires_at bigint,
  revoked_at bigint,
  created_at bigint not null
);

create table mail_tokens (
  hash text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  purpose text collate "C" not null,
  email text collate "C" not null,
  expires_at bigint not null,
  used_at bigint
);
create index mail_tokens_account on mail_tokens (account_id, purpose);
create index mail_tokens_expires_at on mail_tokens (expires_at);

create table mail_requests (
  id text collate "C" primary key,
  purpose text collate "C" not null,
  email text collate "C" not null,
  attempts integer not null,
  not_before bigint not null,
  created_at bigint not null
);
create index mail_requests_not_before on mail_requests (not_before);

create table invites (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  name text collate "C" not null,
  hash text collate "C" not null unique,
  scopes_json text collate "C",
  vault_ids_json text collate "C",
  key_expires_at bigint,
  expires_at bigint not null,
  used_at bigint,
  revoked_at bigint,
  key_id text collate "C",
  chain_address text collate "C",
  address_proof text collate "C",
  created_at bigint not null,
  signing_key text collate "C",
  access_until bigint,
  budgets_json text collate "C"
);
create index invites_newest on invites (account_id, created_at desc, id desc);

-- Webhook endpoints, their deliveries and attempts, and how far each account's changes have been handed on.

create table webhooks (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  url text collate "C" not null,
  events_json text collate "C" not null,
  description text collate "C" not null,
  active integer not null,
  secret text collate "C" not null,
  previous_secret text collate "C",
  previous_secret_ends_at bigint,
  last_delivery_status text collate "C" not null,
  last_delivery_at bigint,
  failure_count integer not null,
  failing_since bigint,
  created_at bigint not null,
  updated_at bigint not null
);
create index webhooks_newest on webhooks (account_id, created_at desc, id desc);

create table webhook_cursors (
  account_id text collate "C" primary key references accounts (id),
  sequence bigint not null,
  mailed_at bigint
);

create table webhook_deliveries (
  id text collate "C" primary key,
  webhook_id text collate "C" not null references webhooks (id) on delete cascade,
  message_id text collate "C" not null,
  event text collate "C" not null,
  sequence bigint not null,
  payload text collate "C" not null,
  trigger text collate "C" not null,
  status text collate "C" not null,
  attempts integer not null,
  max_attempts integer not null check (attempts <= max_attempts),
  http_status integer not null,
  last_error text collate "C" not null,
  next_attempt_at bigint,
  lease_until bigint,
  last_attempt_at bigint,
  completed_at bigint,
  created_at bigint not null
);
create index webhook_deliveries_newest on webhook_deliveries (webhook_id, created_at desc, id desc);
create index webhook_deliveries_message on webhook_deliveries (webhook_id, message_id);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where status = 'pending';
create index webhook_deliveries_created_at on webhook_deliveries (created_at);
create index webhook_deliveries_by_status on webhook_deliveries
  (webhook_id, status, created_at desc, id desc) where status = 'pending' or status = 'success' or status = 'failed';
create index webhook_deliveries_leased on webhook_deliveries
  (webhook_id, created_at desc, id desc) where status = 'delivering';

create table webhook_attempts (
  delivery_id text collate "C" not null references webhook_deliveries (id) on delete cascade,
  number integer not null,
  trigger text collate "C" not null,
  http_status integer not null,
  error text collate "C" not null,
  duration integer not null,
  response_body text collate "C" not null,
  at bigint not null,
  primary key (delivery_id, number)
);

-- What processes tell each other, and what they know of the store and of time.

create table leases (
  name text collate "C" primary key,
  holder text collate "C",
  fence bigint not null,
  until bigint not null,
  taken_over integer not null
);
create index leases_until on leases (until);

-- Worth nothing after a crash, so not flushed.
create unlogged table rates (
  key text collate "C" primary key,
  full_at bigint not null
);
create index rates_full_at on rates (full_at);

create table moves (
  id text collate "C" primary key,
  state text collate "C" not null,
  other text collate "C" not null,
  at bigint not null
);

create table store_marks (
  id integer primary key,
  store_id text collate "C" not null,
  token text collate "C" not null,
  previous_token text collate "C",
  renewed_at bigint,
  stopped text collate "C"
);

create table running_marks (
  id integer primary key,
  total bigint not null,
  marked_at bigint not null,
  doubted_at bigint,
  doubt text collate "C"
);

create table database_origin (
  id integer primary key,
  mode text collate "C" not null
);

-- The index of names (decision 0053).

create table search_scopes (
  account_id text collate "C" primary key references accounts (id) on delete cascade,
  number bigint not null unique check (number < 4194304),
  next bigint not null check (next >= 0),
  waiting integer not null default 0
);

create table file_terms (
  search_id bigint primary key,
  terms tsvector not null
);
-- Entries that only wait for the index would be looked through by every search.
create index file_terms_terms on file_terms using gin (terms) with (fastupdate = off);
create function remove_file_terms() returns trigger language plpgsql as $$
  begin delete from file_terms where search_id = old.search_id; return null; end $$;
create trigger files_search_deleted after delete on files for each row when (old.search_id is not null)
  execute function remove_file_terms();

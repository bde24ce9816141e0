/** What no model may read or write even inside an allowed folder: credentials, keys, and this product's own settings. */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { spellingsOf } from "./spelling.ts";

export interface DenyList {
  /** Folders of this product's own configuration. */
  readonly folders: readonly string[];
  /** Files of this product's own configuration; what lies beside one under a name that starts alike is denied too. */
  readonly files: readonly string[];
  /** Whether the beginning of a file holds a secret. Default: whether it looks like a known key. */
  readonly holdsSecret?: (head: Buffer) => boolean;
  /** Downloads may make and replace files that programs and agents obey. Default: false. */
  readonly allowConfigFiles?: boolean;
  /** Any name is allowed, and a link that is named is followed: a person chose it, and no model. Default: false. */
  readonly isChosen?: boolean;
}

const DENIED_FOLDERS: ReadonlySet<string> = new Set([
  ...[".ssh", ".gnupg", ".aws", ".azure", ".gcloud", ".kube", ".minikube", ".docker", ".coffer", ".password-store"],
  // The local trash of syncs: what lies there was removed, and what is put there would be restored.
  ".coffer-trash",
  ...[".sui", ".solana", ".ethereum", ".bitcoin", ".electrum", ".terraform.d", ".mozilla", ".chef", "keychains"],
]);

/** Folders of settings that hold keys, by the name above. */
const DENIED_BELOW: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [".config", new Set(["gh", "gcloud", "op", "rclone", "hub", "doctl", "heroku"])],
]);

const DENIED_FILES: readonly RegExp[] = [
  /^\.env(\..+|rc)?$/,
  /^\.(netrc|npmrc|pypirc|pgpass|my\.cnf|git-credentials|htpasswd|vault-token|dockercfg|s3cfg|boto|terraformrc|secrets?|token)$/,
  /^\.(bash|zsh|sh|psql|mysql|sqlite|python|node_repl|irb|rediscli)_history$/,
  /^_netrc$/,
  // `npm start` keeps its keys so, and so do the command lines of several clouds.
  /^\.?credentials(-\d+)?\.(json|csv|xml|ya?ml|toml|ini|db)(\.enc)?$/,
  /^(application_default_credentials|client_secrets?[\w.-]*|service[-_]?account([-_][\w.-]*)?)\.json$/,
  /^secrets?\.(json|ya?ml|toml|ini|env|properties|xml)$/,
  /^(auth|tokens?|logins|sftp-config|key3|key4)\.(json|db)$/,
  /^(sitemanager|recentservers|filezilla)\.xml$/,
  /^(wallet\.dat|cookies\.sqlite|login data|rclone\.conf|wp-config\.php|database\.yml)$/,
  /^utc--\d{4}-/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?(\..+)?$/,
  /^ssh_host_.*_key$/,
  /\.(pem|key|p8|p12|pfx|pkcs12|jks|jceks|bks|keystore|keytab|keychain|keychain-db|kdb|kdbx|ppk|asc|gpg|age|agekey|ovpn)$/,
  /\.(tfstate|tfvars|secrets?|credentials|mobileprovision)(\.backup|\.json)?$/,
];

/** An example is written to be read. */
const EXAMPLE = /\.(example|sample|template|dist)$/;

/** Compares names in every spelling that some file system reads alike. */
export function isDenied(list: DenyList, path: string): boolean {
  const parts = path.split(sep).map(spellingsOf);
  const isSecret = parts.some((names, at) =>
    names.some((name) => isDeniedName(name) || (parts[at - 1] ?? []).some((folder) => isDeniedBelow(folder, name))),
  );
  if (list.isChosen !== true && isSecret) return true;
  return (
    list.folders.some((folder) => path === folder || path.startsWith(folder + sep)) ||
    list.files.some((file) => isBeside(file, path))
  );
}

function isDeniedBelow(folder: string, name: string): boolean {
  return DENIED_BELOW.get(folder)?.has(name) === true;
}

function isDeniedName(name: string): boolean {
  return DENIED_FOLDERS.has(name) || (!EXAMPLE.test(name) && DENIED_FILES.some((pattern) => pattern.test(name)));
}

/** The file itself, its lock, its temporary copies. */
function isBeside(file: string, path: string): boolean {
  return dirname(path) === dirname(file) && basename(path).includes(basename(file));
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where this product keeps its settings (decisions §0), as real paths where they exist. */
export function ownConfiguration(env: Environment, configFile: string | null): DenyList {
  // An empty variable counts as unset and a relative XDG path is ignored, as in the SDK. The usual place is denied
  // whatever the variables say.
  const homes = [homedir(), env["HOME"] ?? ""].filter((home) => home !== "").map((home) => join(home, ".config"));
  const xdg = env["XDG_CONFIG_HOME"] ?? "";
  const usual = [...homes, ...(isAbsolute(xdg) ? [xdg] : [])].map((parent) => join(parent, "coffer"));
  const configured = env["SERVICE_CONFIG_DIR"] ?? "";
  const folders = [...usual, ...(configured === "" ? [] : [configured])].map((folder) => resolve(folder));
  const files = configFile === null ? [] : [resolve(configFile)];
  return { folders: folders.flatMap(withReal), files: files.flatMap(withReal) };
}

function withReal(path: string): string[] {
  try {
    return [path, realpathSync(path)];
  } catch {
    return [path];
  }
}

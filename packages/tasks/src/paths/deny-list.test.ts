import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isDenied, ownConfiguration } from "./deny-list.ts";

describe("the product's own configuration", () => {
  it.each([
    ["the usual place", {}, join(homedir(), ".config", "coffer", "config.json")],
    ["with an empty XDG_CONFIG_HOME", { XDG_CONFIG_HOME: "" }, join(homedir(), ".config", "coffer", "config.json")],
    ["with a relative XDG_CONFIG_HOME", { XDG_CONFIG_HOME: "x" }, join(homedir(), ".config", "coffer", "config.json")],
    ["of another HOME", { HOME: "/home/other" }, "/home/other/.config/coffer/config.json"],
    ["in XDG_CONFIG_HOME", { XDG_CONFIG_HOME: "/xdg" }, "/xdg/coffer/config.json"],
    ["in SERVICE_CONFIG_DIR", { SERVICE_CONFIG_DIR: "/own" }, "/own/uploads/journal.json"],
  ])("is denied: %s", (_case, env, path) => {
    expect(isDenied(ownConfiguration(env, null), path)).toBe(true);
  });

  it.each(["credentials.json", "credentials-8788.json"])("is denied as a started stack writes it: %s", (name) => {
    expect(isDenied({ folders: [], files: [] }, `/project/data/${name}`)).toBe(true);
  });

  it("is denied where it was named, with its lock and its copies, and nothing else there", () => {
    const list = ownConfiguration({}, "/project/coffer.json");
    for (const name of ["coffer.json", "coffer.json.lock", ".coffer.json.tmp"])
      expect(isDenied(list, `/project/${name}`)).toBe(true);
    expect(isDenied(list, "/project/report.json")).toBe(false);
  });
});

describe("a name that is one of secrets", () => {
  const SECRET = [
    ...[".env", ".env.local", ".env.production", ".ENV", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass"],
    ...[".my.cnf", ".git-credentials", ".htpasswd", ".vault-token", ".dockercfg", ".s3cfg", ".boto", ".terraformrc"],
    ...[
      ".secrets",
      ".token",
      ".bash_history",
      ".zsh_history",
      ".psql_history",
      ".node_repl_history",
      "credentials.ini",
    ],
    ...["credentials.json", "credentials.csv", "credentials.xml", "credentials.yml", "credentials-8788.json"],
    ...["credentials.yml.enc", "credentials.db", "application_default_credentials.json", "client_secret.json"],
    ...["client_secret_12.apps.json", "service-account.json", "service_account_prod.json", "serviceAccount.json"],
    ...["secrets.json", "secrets.yaml", "secret.toml", "secrets.env", "auth.json", "token.json", "tokens.json"],
    ...["logins.json", "key4.db", "sftp-config.json", "sitemanager.xml", "recentservers.xml", "credentials.toml"],
    ...["wallet.dat", "cookies.sqlite", "Login Data", "rclone.conf", "wp-config.php", "database.yml"],
    ...["UTC--2026-01-01T00-00-00.0Z--ab12", "id_rsa", "id_ed25519", "id_ecdsa_sk", "id_rsa.bak", "ssh_host_rsa_key"],
    ...[
      "server.pem",
      "tls.key",
      "AuthKey_1.p8",
      "cert.p12",
      "cert.pfx",
      "store.jks",
      "release.keystore",
      "krb5.keytab",
    ],
    ...["login.keychain-db", "passwords.kdbx", "passwords.kdb", "putty.ppk", "secret.asc", "backup.gpg", "key.age"],
    ...["client.ovpn", "terraform.tfstate", "terraform.tfstate.backup", "prod.tfvars", "prod.auto.tfvars.json"],
    ...["app.secrets", "vendor.credentials", "master.key", "id_dsa", "id_ed25519_sk"],
  ];
  const FOLDERS = [
    ".ssh/config",
    ".aws/config",
    ".kube/config",
    ".gnupg/x",
    ".docker/config.json",
    ".config/gh/hosts.yml",
  ];

  it.each([...SECRET, ...FOLDERS])("is refused: %s", (name) => {
    expect(isDenied({ folders: [], files: [] }, `/home/me/work/${name}`)).toBe(true);
  });

  it.each([
    ...[
      "report.pdf",
      "monkey.txt",
      "keyboard.md",
      "keys.md",
      "credentials-guide.md",
      "secrets-of-cooking.md",
      "auth.ts",
    ],
    ...[
      "token-ring.txt",
      "id_card.png",
      "package.json",
      ".env.example",
      ".env.sample",
      "envoy.yaml",
      "environment.yml",
    ],
    ...["passwords.md", "shadows.svg", "wallet.md", "cookies.txt", "login.html", "secret-garden.epub", "history.txt"],
    ...[
      "config.json",
      "config/gh/readme.md",
      "shadow/light.css",
      "credentials/index.ts",
      "database.yml.example",
      "keynote.key.txt",
      "monkey",
      "authors.json",
    ],
    ...["service.json", "account.json", "README.md", ".gitignore", ".config/nvim/init.lua", "terraform.tf", "main.tf"],
  ])("is none: %s", (name) => {
    expect(isDenied({ folders: [], files: [] }, `/home/me/work/${name}`)).toBe(false);
  });
});

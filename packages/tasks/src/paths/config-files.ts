/**
 * Files that programs and agents obey. A model's download does not make or replace one: its text would be an order. No list of
 * names is whole. So it is only the second layer: downloads go below one folder, replace nothing unasked and make no repository.
 */
import { spellingsOf } from "./spelling.ts";

const FOLDERS: ReadonlySet<string> = new Set([
  ...[
    ".hg",
    ".jj",
    ".svn",
    ".bzr",
    ".github",
    ".gitlab",
    ".circleci",
    ".husky",
    ".vscode",
    ".idea",
    ".cursor",
    ".claude",
    ".codex",
    ".gemini",
  ],
  ...[".windsurf", ".continue", ".devcontainer", ".config", ".local", "launchagents", "autostart", "cron.d", ".roo"],
]);

const FILES: readonly RegExp[] = [
  /^(claude|claude\.local|agents|agents\.override|gemini|copilot-instructions|skill)\.md$/,
  /^\.?mcp\.json$/,
  /^\.(cursor|windsurf|cline|roo|goose)(rules|hints)$/,
  /^\.env(\..+)?$/,
  /^\.envrc$/,
  /^\.(bash|zsh|ksh|csh|tcsh)rc$/,
  /^\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|login|logout|zshenv|zprofile|zlogin|zlogout)$/,
  /^(config\.fish|microsoft\.powershell_profile\.ps1|profile\.ps1)$/,
  /^\.(gitconfig|gitmodules|gitattributes|gitlab-ci\.yml|npmrc|yarnrc|yarnrc\.yml|pnpmfile\.cjs|pypirc|condarc)$/,
  /^\.(vimrc|exrc|nvimrc|emacs|tmux\.conf|screenrc|inputrc|xinitrc|xprofile|pythonrc|irbrc|rprofile|gdbinit|lldbinit)$/,
  /^(sitecustomize|usercustomize)\.py$/,
  /^(crontab|authorized_keys|\.forward|\.rhosts)$/,
  /\.(desktop|plist|service)$/,
];

/** `path`: below an allowed folder. */
export function isConfigFile(path: string): boolean {
  const parts = path.split(/[/\\]/).filter((part) => part !== "");
  const isName = (name: string): boolean => FILES.some((form) => form.test(name));
  return (
    parts.some((part) => spellingsOf(part).some((each) => FOLDERS.has(each))) ||
    spellingsOf(parts.at(-1) ?? "").some(isName)
  );
}

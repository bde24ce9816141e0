import { chmodSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { ConfigError } from "../config.ts";
import { parseEnvFile, readEnvFile } from "./env-file.ts";

const problemsIn = (text: string): readonly string[] => {
  try {
    parseEnvFile(text, "server.env");
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

describe("a file of settings [issue 51]", () => {
  it("has names with values, comments and empty lines", () => {
    const text =
      "# keys\nSERVICE_JWT_KEYS=one:a+b/c==\n\nSERVICE_SMTP_URL=smtp://user:p%40ss@mail.example.com:587\nSERVICE_MAIL_FROM=\n";
    expect(parseEnvFile(text, "server.env")).toEqual({
      SERVICE_JWT_KEYS: "one:a+b/c==",
      SERVICE_SMTP_URL: "smtp://user:p%40ss@mail.example.com:587",
      SERVICE_MAIL_FROM: "",
    });
  });

  it.each([
    // systemd and Compose take quotes off, Docker does not.
    ['A="secret-value"', "quotes"],
    ["A='secret-value'", "quotes"],
    // systemd reads escapes and goes on in the next line, Docker does not.
    ["A=secret\\value", "a backslash"],
    ["A=secret-value\\\nB=1", "a backslash"],
    // Compose puts a variable in.
    ["A=secret$value", "a dollar sign"],
    // systemd drops it, Docker keeps it.
    ["A=secret-value ", "white space"],
    ["A= secret-value", "white space"],
    ["A=secret-value\r", "a control character"],
    // Compose drops it, systemd and Docker keep it.
    ["A=secret-value # why", "a comment behind the value"],
    // A shell exports it, Docker takes the word for a part of the name.
    ["export A=secret-value", "neither NAME=VALUE nor a comment"],
    // Docker takes the value of its own environment.
    ["A", "neither NAME=VALUE nor a comment"],
    // A comment for systemd alone.
    ["; A=secret-value", "neither NAME=VALUE nor a comment"],
    [" A=secret-value", "neither NAME=VALUE nor a comment"],
    ["A=secret-value\nA=other", "A is set before"],
  ])("refuses %j, which not all read alike, and shows no value", (text, problem) => {
    const [first = "", ...more] = problemsIn(`# first\n${text}`);
    expect(first).toContain(problem);
    expect(first).toMatch(/^server\.env, line [23]: /);
    expect(more).toEqual([]);
    expect(first).not.toContain("secret");
  });

  it("is a warning where others can read it, and an error where nobody can", () => {
    const file = path.join(makeDirectory(), "server.env");
    writeFileSync(file, "A=1\n");
    chmodSync(file, 0o644);
    expect(readEnvFile(file).warning).toBe(`${file} has secrets and others can read or change it: chmod 640 ${file}`);
    chmodSync(file, 0o600);
    expect(readEnvFile(file)).toEqual({ values: { A: "1" }, warning: null });
    expect(() => readEnvFile(`${file}.gone`)).toThrow(/cannot be read: ENOENT/);
  });
});

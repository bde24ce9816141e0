import { describe, expect, it } from "vitest";
import { readSmtpUrl } from "./smtp-url.ts";
import { problemsOf } from "./config.test-kit.ts";

const NO_TLS = { secure: false, requireTLS: false, ignoreTLS: true };
const STARTTLS = { secure: false, requireTLS: true, ignoreTLS: false };
const TLS = { secure: true, requireTLS: false, ignoreTLS: false };

describe("the address of the SMTP server", () => {
  it.each([
    ["smtp://127.0.0.1:2525", { host: "127.0.0.1", port: 2525, ...NO_TLS, auth: null }],
    ["smtp://localhost", { host: "localhost", port: 587, ...NO_TLS, auth: null }],
    ["smtp://[::1]:25/", { host: "::1", port: 25, ...NO_TLS, auth: null }],
    ["smtp://mail.example.com", { host: "mail.example.com", port: 587, ...STARTTLS, auth: null }],
    ["smtp://10.0.0.7:25", { host: "10.0.0.7", port: 25, ...STARTTLS, auth: null }],
    ["smtp://127.0.0.1.example.com", { host: "127.0.0.1.example.com", port: 587, ...STARTTLS, auth: null }],
    ["smtps://mail.example.com", { host: "mail.example.com", port: 465, ...TLS, auth: null }],
    ["smtps://localhost:2465", { host: "localhost", port: 2465, ...TLS, auth: null }],
    [
      "smtps://a%40b.test:p%3Aq%2F%25@mail.example.com",
      { host: "mail.example.com", port: 465, ...TLS, auth: { user: "a@b.test", pass: "p:q/%" } },
    ],
  ])("%s", (url, expected) => {
    expect(readSmtpUrl(url)).toEqual(expected);
  });

  it.each([
    "http://mail.example.com",
    "smtp://",
    "smtp://user@mail.example.com",
    "smtp://:hidden@mail.example.com",
    "smtp://u:hidden@mail.example.com?tls.rejectUnauthorized=false",
    "smtp://u:hidden@mail.example.com#part",
    "smtp://u:hidden@mail.example.com/path",
    "smtp://u:hid%den@mail.example.com",
    "smtp://u:hidden@mail.example.com:99999",
  ])("%s is refused at the start, without being repeated", (url) => {
    expect(readSmtpUrl(url)).toBeNull();
    const problems = problemsOf({ SERVICE_ENV: "development", SERVICE_SMTP_URL: url });
    expect(problems).toEqual([expect.stringMatching(/^SERVICE_SMTP_URL: expected/)]);
    expect(problems.join()).not.toMatch(/hid/);
  });
});

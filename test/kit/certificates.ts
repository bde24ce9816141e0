/** Certificates of servers on loopback, good ones and others. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface TestCertificates {
  readonly good: Certificate;
  readonly expired: Certificate;
  readonly otherName: Certificate;
  /** Good but for that nobody trusts it. */
  readonly untrusted: Certificate;
  /** Certificates to trust: all but the last. */
  readonly trust: string;
}

/** For `localhost`, 127.0.0.1 and 0.0.0.0, each signed by itself; null where openssl is missing. */
export function makeCertificates(): TestCertificates | null {
  const directory = mkdtempSync(join(tmpdir(), "coffer-certificates-"));
  try {
    writeFileSync(join(directory, "index.txt"), "");
    writeFileSync(join(directory, "ca.cnf"), AUTHORITY);
    const here = "DNS:localhost,IP:127.0.0.1,IP:0.0.0.0";
    const good = makeCertificate(directory, { names: here, from: "20200101", to: "20490101" });
    const expired = makeCertificate(directory, { names: here, from: "20200101", to: "20200201" });
    const otherName = makeCertificate(directory, { names: "DNS:other.example", from: "20200101", to: "20490101" });
    const untrusted = makeCertificate(directory, { names: here, from: "20200101", to: "20490101" });
    return { good, expired, otherName, untrusted, trust: good.cert + expired.cert + otherName.cert };
  } catch {
    return null;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** For `localhost`, signed by an authority of its own. */
export interface SignedCertificate extends Certificate {
  /** The authority's, to trust. */
  readonly authority: string;
}

/** null where openssl is missing. */
export function makeSignedCertificate(): SignedCertificate | null {
  const directory = mkdtempSync(join(tmpdir(), "coffer-authority-"));
  const run = (...words: string[]): void => {
    execFileSync("openssl", words, { cwd: directory, stdio: "ignore" });
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  try {
    writeFileSync(join(directory, "names.cnf"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
    run(
      "req",
      "-x509",
      ...key,
      "-keyout",
      "ca-key.pem",
      "-subj",
      `/CN=${randomUUID()}`,
      "-days",
      "9000",
      "-out",
      "ca.pem",
    );
    run("req", "-new", ...key, "-keyout", "key.pem", "-subj", "/CN=localhost", "-out", "request.pem");
    const signed = [
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca-key.pem",
      "-CAcreateserial",
      "-days",
      "9000",
      "-extfile",
      "names.cnf",
    ];
    run("x509", "-req", "-in", "request.pem", ...signed, "-out", "cert.pem");
    const read = (name: string): string => readFileSync(join(directory, name), "utf8");
    return { key: read("key.pem"), cert: read("cert.pem"), authority: read("ca.pem") };
  } catch {
    return null;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** `openssl req` takes no date of the past; `openssl ca` does. */
const AUTHORITY = [
  ...["[ca]", "default_ca=here", "[here]", "database=index.txt", "new_certs_dir=.", "rand_serial=yes"],
  ...["default_md=sha256", "policy=any", "unique_subject=no", "[any]", "commonName=supplied", ""],
].join("\n");

function makeCertificate(
  directory: string,
  { names, from, to }: { readonly names: string; readonly from: string; readonly to: string },
): Certificate {
  const run = (...words: string[]): void => {
    execFileSync("openssl", words, { cwd: directory, stdio: "ignore" });
  };
  writeFileSync(join(directory, "names.cnf"), `subjectAltName=${names}\n`);
  // One that vouches for itself is found by its subject.
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem"];
  run("req", "-new", ...key, "-subj", `/CN=${randomUUID()}`, "-out", "request.pem");
  const dates = ["-startdate", `${from}000000Z`, "-enddate", `${to}000000Z`];
  const files = ["-keyfile", "key.pem", "-in", "request.pem", "-out", "cert.pem", "-extfile", "names.cnf"];
  run("ca", "-batch", "-selfsign", "-notext", "-config", "ca.cnf", ...files, ...dates);
  const read = (name: string): string => readFileSync(join(directory, name), "utf8");
  return { key: read("key.pem"), cert: read("cert.pem") };
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { all, escapeXml, readXml, textOf } from "./xml.ts";

describe("the XML of answers", () => {
  it("is read with namespaces, entities and empty elements", () => {
    const page = readXml(`<?xml version="1.0" encoding="UTF-8"?>
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Prefix/><!-- none -->
      <Contents><Key>a&amp;b &#60;&#x3e;&quot;&apos;</Key><Size>7</Size></Contents>
      <Contents><Key>c</Key></Contents></ListBucketResult>`);
    expect(page.name).toBe("ListBucketResult");
    expect(all(page, "Contents").map((found) => [textOf(found, "Key"), textOf(found, "Size")])).toEqual([
      ["a&b <>\"'", "7"],
      ["c", ""],
    ]);
    expect(textOf(page, "Prefix")).toBe("");
  });

  it.each([
    ["nothing", ""],
    ["text alone", "hello"],
    ["an open element", "<a><b></b>"],
    ["a crossed one", "<a><b></a></b>"],
    ["two roots", "<a/><b/>"],
    ["a document type", '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'],
    ["what is cut off", "<ListBucketResult><Contents><Ke"],
    ["a page of a proxy", "<html><body><p>502</body></html>"],
    ["a deep tree", "<a>".repeat(40) + "</a>".repeat(40)],
  ])("is refused when it is %s", (_, text) => {
    expect(() => readXml(text)).toThrow(SyntaxError);
  });

  it("returns any text that was escaped, and ends on any input", () => {
    fc.assert(fc.property(fc.string(), (text) => textOf(readXml(`<a><b>${escapeXml(text)}</b></a>`), "b") === text));
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          readXml(`<a>${text}</a>`);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
    );
  });
});

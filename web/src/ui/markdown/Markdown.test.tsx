import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";

import { Markdown } from "./Markdown";

const html = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

it("renders what people write", () => {
  const page = html("# Title\n\nSome **bold** and `code`.\n\n1. one\n2. two\n\n| a | b |\n|---|--:|\n| 1 | 2 |");
  for (const part of ["<h3", "<strong>bold</strong>", "code</code>", "<ol", "<table>", 'class="align-right"']) {
    expect(page).toContain(part);
  }
});

it.each([
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "text <b onclick=alert(1)>bold</b>",
  "[click](javascript:alert(1))",
  "[click](data:text/html,<script>alert(1)</script>)",
  "![pixel](https://example.org/pixel.png)",
])("makes nothing harmful of %s", (text) => {
  const page = html(text);
  expect(page).not.toMatch(/<script|<img|<b |javascript:|href="data:/);
});

it("keeps links to the web, apart from this page", () => {
  expect(html("[here](https://example.org/a)")).toContain('href="https://example.org/a" target="_blank" rel="noopener noreferrer"');
});

it("shows the source of a formula until it is set, and leaves money alone", () => {
  expect(html("so $x^2$ is")).toContain("<code>x^2</code>");
  expect(html("$$\nx = 1\n$$")).toContain("math display");
  expect(html("\\[ y \\]")).toContain("math display");
  expect(html("from $5 to $10 a day")).not.toContain("math");
});

it("shows code that is not finished yet as code", () => {
  expect(html("```python\nprint(1)")).toContain("<figcaption><span>python</span>");
});

it("shows characters, not references to them", () => {
  expect(html("a &amp; b &lt; c")).toContain("a &amp; b &lt; c");
  expect(html("`a && b`")).toContain("a &amp;&amp; b");
});

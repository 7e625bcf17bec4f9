import { Marked, type Token, type TokenizerExtension, type TokensList } from "marked";

/** A formula: `display` ones stand on lines of their own. */
export interface MathToken {
  type: "math";
  raw: string;
  text: string;
  display: boolean;
}

const BLOCK = /^(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])(?:\n+|$)/;
// Money is not math: a dollar sign opens a formula only next to a character, and closes one only before a non-digit.
const INLINE = /^(?:\$\$([^$]+?)\$\$|\\\(([\s\S]+?)\\\)|\$(?!\s)((?:\\.|[^\\$\n])+?)(?<!\s)\$(?!\d))/;

const blockMath: TokenizerExtension = {
  name: "blockMath",
  level: "block",
  start: (source) => at(source, /\$\$|\\\[/),
  tokenizer: (source) => math(BLOCK.exec(source), true),
};

const inlineMath: TokenizerExtension = {
  name: "inlineMath",
  level: "inline",
  start: (source) => at(source, /\$|\\\(/),
  tokenizer: (source) => math(INLINE.exec(source), false),
};

const marked = new Marked({ gfm: true, breaks: true }, { extensions: [blockMath, inlineMath] });

/** What a Markdown text consists of. Nothing in it is trusted, and no HTML is ever made of it. */
export function lex(text: string): TokensList {
  return marked.lexer(text);
}

export function isMath(token: Token | MathToken): token is MathToken {
  return token.type === "math";
}

/** A link's address, if following it can do no harm. */
export function safeAddress(address: string): string | undefined {
  try {
    const { protocol, href } = new URL(address);
    return ["http:", "https:", "mailto:"].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Character references as the characters they mean; React escapes what needs it. */
export function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,5}));/gi, (whole, decimal, hex, name: string | undefined) => {
    if (name) return ENTITIES[name] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

function at(source: string, pattern: RegExp): number | undefined {
  const place = source.search(pattern);
  return place < 0 ? undefined : place;
}

function math(found: RegExpExecArray | null, display: boolean): MathToken | undefined {
  if (!found) return undefined;
  const [raw, double, bracketed, single] = found;
  const text = (double ?? bracketed ?? single ?? "").trim();
  return { type: "math", raw, text, display: display || double !== undefined };
}

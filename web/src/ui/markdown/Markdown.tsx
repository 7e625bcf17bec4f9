import type { Token, Tokens } from "marked";
import { Fragment, memo, type ReactNode, useMemo } from "react";

import { Code } from "./Code";
import { Formula } from "./Formula";
import { decode, isMath, lex, safeAddress } from "./lexer";

/** A text in Markdown, as elements. While it grows, only its last block is made anew. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => lex(text), [text]);
  return (
    <div className="prose">
      {blocks.map((token, place) => (
        <Block key={place} token={token} />
      ))}
    </div>
  );
});

const Block = memo(
  function Block({ token }: { token: Token }) {
    return block(token);
  },
  (before, after) => before.token.raw === after.token.raw && before.token.type === after.token.type,
);

function block(token: Token): ReactNode {
  if (isMath(token)) return <Formula source={token.text} display={token.display} />;
  switch (token.type) {
    case "heading": {
      // The page has its own first and second headings.
      const level = Math.min(token.depth + 2, 6);
      const Tag = `h${level}` as "h3" | "h4" | "h5" | "h6";
      return <Tag className={`h${token.depth}`}>{inline(token.tokens)}</Tag>;
    }
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "code":
      return <Code text={token.text} language={/^\S+/.exec(token.lang ?? "")?.[0]} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case "list":
      return list(token as Tokens.List);
    case "table":
      return table(token as Tokens.Table);
    case "hr":
      return <hr />;
    case "space":
    case "def":
      return null;
    case "text":
      return token.tokens ? inline(token.tokens) : decode(token.text);
    default:
      // HTML is shown, not obeyed.
      return <p>{token.raw}</p>;
  }
}

function blocks(tokens: Token[] | undefined): ReactNode {
  return tokens?.map((token, place) => <Fragment key={place}>{block(token)}</Fragment>);
}

function list({ ordered, start, items }: Tokens.List): ReactNode {
  const children = items.map((item, place) => (
    <li key={place} className={item.task ? "task" : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} readOnly disabled aria-label={item.checked ? "done" : "to do"} />}
      {blocks(item.tokens.filter((token) => token.type !== "checkbox"))}
    </li>
  ));
  return ordered ? <ol start={typeof start === "number" ? start : 1}>{children}</ol> : <ul>{children}</ul>;
}

function table({ header, rows, align }: Tokens.Table): ReactNode {
  const side = (place: number) => (align[place] ? `align-${align[place]}` : undefined);
  return (
    <div className="table" role="region" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map((cell, place) => (
              <th key={place} className={side(place)} scope="col">
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, place) => (
                <td key={place} className={side(place)}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: Token[] | undefined): ReactNode {
  return tokens?.map((token, place) => <Fragment key={place}>{span(token)}</Fragment>);
}

function span(token: Token): ReactNode {
  if (isMath(token)) return <Formula source={token.text} display={token.display} />;
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return <code className={token.text.length <= 24 ? "short" : undefined}>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return link(token.href, inline(token.tokens));
    case "image":
      // Loading a picture would tell its host who reads here: only its address is given.
      return link(token.href, token.text || token.href);
    case "escape":
      return token.text;
    case "text":
      return token.tokens ? inline(token.tokens) : decode(token.text);
    default:
      return token.raw;
  }
}

function link(address: string, children: ReactNode): ReactNode {
  const href = safeAddress(address);
  if (!href) return children;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

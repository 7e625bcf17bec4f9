import type { RootContent } from "hast";
import { common, createLowlight } from "lowlight";

const lowlight = createLowlight(common);

/** A piece of code with the kind of thing it is. */
export interface Piece {
  text: string;
  kind: string;
}

/** The code cut into coloured pieces; undefined for a language that is not known. */
export function highlight(text: string, language: string): Piece[] | undefined {
  if (!lowlight.registered(language)) return undefined;
  const pieces: Piece[] = [];
  const walk = (nodes: readonly RootContent[], kind: string) => {
    for (const node of nodes) {
      if (node.type === "text") pieces.push({ text: node.value, kind });
      else if (node.type === "element") walk(node.children, classes(node.properties["className"]) || kind);
    }
  };
  walk(lowlight.highlight(language, text).children, "");
  return pieces;
}

function classes(value: unknown): string {
  return Array.isArray(value) ? value.join(" ") : "";
}

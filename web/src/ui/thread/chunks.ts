import type { Shown } from "../../client/message";

const SIZE = 6;

export interface Chunk {
  key: string;
  items: readonly Shown[];
}

/**
 * Neighbouring messages in small groups, each of which is drawn or not.
 *
 * Groups are counted from the message `anchorId`, so that they stay the same whether messages are added before or after.
 */
export function chunked(shown: readonly Shown[], anchorId: string | undefined): Chunk[] {
  const anchor = Math.max(0, shown.findIndex(({ message }) => message.id === anchorId));
  const chunks: Chunk[] = [];
  let start = 0;
  let end = anchor % SIZE || SIZE;
  while (start < shown.length) {
    const items = shown.slice(start, end);
    // Before the anchor a group's end is what stays, after it its beginning.
    const lasting = end <= anchor ? items.at(-1) : items[0];
    chunks.push({ key: lasting?.message.id ?? "", items });
    start = end;
    end += SIZE;
  }
  return chunks;
}

/** How many of the last groups it takes to fill so many pixels. */
export function filling(chunks: readonly Chunk[], pixels: number): number {
  let count = 0;
  for (let height = 0; height < pixels && count < chunks.length; count += 1) height += guess(chunks.at(-1 - count)?.items ?? []);
  return count;
}

/** Roughly how high a message will be, in pixels, until it has been drawn once. */
export function guess(items: readonly Shown[]): number {
  let height = 0;
  for (const { message } of items) {
    const lines = message.text.length / 72 + (message.text.match(/\n/g)?.length ?? 0) * 0.6;
    height += 84 + Math.ceil(lines) * 26;
  }
  return height;
}

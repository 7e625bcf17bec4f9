/** A queue with one reader, who may be called by the clock. */
export class Inbox<T> {
  #items: T[] = [];
  #wake: (() => void) | undefined;

  put = (item: T): void => {
    this.#items.push(item);
    this.#wake?.();
  };

  /** The next item, or undefined when `until` (on `performance.now`'s clock) or the signal comes first. */
  async take(until: number | undefined, signal: AbortSignal): Promise<T | undefined> {
    if (!this.#items.length && !signal.aborted) await this.#pause(until, signal);
    return this.#items.shift();
  }

  #pause(until: number | undefined, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const over = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", over);
        this.#wake = undefined;
        resolve();
      };
      const timer = until === undefined ? undefined : setTimeout(over, Math.max(0, until - performance.now()));
      signal.addEventListener("abort", over);
      this.#wake = over;
    });
  }
}

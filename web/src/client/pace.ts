/** Counts attempts at one thing: pauses that double up to a limit, with some chance in them. All in milliseconds. */
export class Pace {
  /** The time of the next attempt, on the caller's clock. */
  at: number | undefined;
  #pause: number;

  constructor(
    private readonly first: number,
    private readonly longest: number,
  ) {
    this.#pause = first;
  }

  /** Try at once, and begin again with the shortest pause. */
  start(now: number): void {
    this.#pause = this.first;
    this.at = now;
  }

  /** Try after a pause, and after a longer one next time. */
  wait(now: number): void {
    // Many clients that lost the same server must not come back all at once.
    this.at = now + this.#pause * (0.8 + 0.4 * Math.random());
    this.#pause = Math.min(this.#pause * 2, this.longest);
  }

  /** It is done: no more attempts. */
  stop(): void {
    this.#pause = this.first;
    this.at = undefined;
  }

  due(now: number): boolean {
    return this.at !== undefined && now >= this.at;
  }
}

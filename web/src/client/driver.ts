import { encode } from "../protocol/envelope";
import type { Configuration } from "../protocol/messages";
import { type Access, Refused, Unavailable } from "./access";
import { Inbox } from "./inbox";
import type { Arrival, Join, Link } from "./link";
import { Pace } from "./pace";
import type { ClientSession } from "./session";

const AGENT_PATIENCE = 5_000;
/** Whoever is alone so often joins again: the agent may be in another room of this name, on another node of LiveKit's. */
const MISSES = 2;
const RECONNECT_PATIENCE = 15_000;
const STEADY = 10_000;

/** How a conversation is connected, and if it is not, what is missing. */
export type Connection =
  /** Nothing to be connected for yet: a new conversation without a word in it. */
  | { state: "idle" }
  | { state: "connecting" }
  | { state: "online" }
  | { state: "away"; missing: "server" | "link" | "agent" }
  | { state: "refused"; status: number; reason: string };

export interface Surroundings {
  session: ClientSession;
  settings: () => Configuration;
  knock: (signal: AbortSignal) => Promise<Access>;
  join: Join;
  /** A room was joined, or left again. */
  linked?: (link: Link | undefined) => void;
  /** A conversation is to be opened although nothing has been written: somebody wants to speak. */
  eager?: () => boolean;
  /** Take a packet of the agent's; true if the agent's Configuration was in it. */
  take: (packet: Uint8Array) => Promise<boolean>;
  changed: (connection: Connection) => void;
}

/** Keeps a conversation connected: joins, resumes, sends again, and joins again, until it is stopped. */
export class Driver {
  connection: Connection = { state: "idle" };
  #inbox = new Inbox<Arrival | { kind: "wake" }>();
  #retry = new Pace(250, 5_000);
  #configure = new Pace(250, 2_000);
  #resend = new Pace(2_000, 15_000);
  #agentWait = new Pace(AGENT_PATIENCE, 15_000);
  #misses = 0;
  #giveUpAt: number | undefined;

  constructor(private readonly around: Surroundings) {}

  /** Something was put into the outbox, or there is hope that the server is back. */
  wake(): void {
    this.#inbox.put({ kind: "wake" });
  }

  /** Until the signal comes, or the server refuses for good. */
  async run(signal: AbortSignal): Promise<void> {
    this.#change({ state: "connecting" });
    while (!signal.aborted) {
      const began = performance.now();
      try {
        await this.#stay(await this.around.knock(signal), signal);
        // A room that throws us out again and again must not be stormed.
        if (performance.now() - began > STEADY) this.#retry.stop();
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refused) {
          this.#change({ state: "refused", status: error.status, reason: error.message });
          return;
        }
        if (!(error instanceof Unavailable)) throw error;
        this.#change({ state: "away", missing: "server" });
      }
      this.#retry.wait(performance.now());
      await this.#inbox.take(this.#retry.at, signal);
    }
  }

  /** Be in the room until it is lost. */
  async #stay(access: Access, signal: AbortSignal): Promise<void> {
    this.#inbox = new Inbox();
    const link = await this.around.join(access, this.#inbox.put);
    try {
      this.#giveUpAt = undefined;
      this.#bePatient();
      this.around.session.wantsConfiguration = true;
      this.around.linked?.(link);
      while (!signal.aborted) {
        await this.#sendDue(link);
        // A conversation that no agent has opened would get another room.
        if (!link.agent && this.#misses >= MISSES && this.around.session.conversationId) return;
        const arrival = await this.#inbox.take(this.#nextMoment(link), signal);
        if (arrival?.kind === "lost" || this.#gaveUp()) {
          if (arrival?.kind === "lost" && arrival.duplicate) throw new Refused(409, "Opened again elsewhere.");
          this.#change({ state: "away", missing: "link" });
          return;
        }
        if (arrival) await this.#attend(arrival);
      }
    } finally {
      this.around.linked?.(undefined);
      await link.leave();
    }
  }

  async #sendDue(link: Link): Promise<void> {
    const { session, settings } = this.around;
    // A conversation is opened by its first word, not by a look at an empty page.
    if (!session.conversationId && !session.outbox.length && !this.around.eager?.()) {
      this.#change({ state: "idle" });
      return this.#bePatient();
    }
    if (this.connection.state === "idle") this.#change({ state: "connecting" });
    const now = performance.now();
    if (this.#agentWait.due(now)) this.#missAgent();
    if (!link.agent) {
      // Nobody would hear it; the agent's coming is an arrival.
      this.#configure.at = undefined;
      return;
    }
    if (session.wantsConfiguration && this.#configure.at === undefined) this.#greet();
    if (this.#configure.due(now)) {
      this.#configure.wait(now);
      await link.send(encode(session.configuration(settings())));
    }
    if (this.#configure.at !== undefined) return;
    if (this.#resend.due(now)) session.resend();
    const envelope = session.nextToSend();
    if (envelope) {
      this.#resend.wait(now);
      await link.send(encode(envelope));
    }
  }

  async #attend(arrival: Arrival | { kind: "wake" }): Promise<void> {
    switch (arrival.kind) {
      case "packet":
        return this.#take(await arrival.data);
      case "agentCame":
        return this.#greet();
      case "agentActive":
        // What was sent to it before this moment was lost.
        if (this.#configure.at !== undefined) this.#configure.start(performance.now());
        return;
      case "agentLeft":
        this.#change({ state: "connecting" });
        return this.#greet();
      case "reconnecting":
        this.#change({ state: "connecting" });
        this.#bePatient();
        this.#giveUpAt ??= performance.now() + RECONNECT_PATIENCE;
        return;
      case "reconnected":
        this.#giveUpAt = undefined;
        return this.#greet();
    }
  }

  async #take(packet: Uint8Array | undefined): Promise<void> {
    if (!packet) return;
    const [before] = this.around.session.outbox;
    if (await this.around.take(packet)) {
      this.#configure.stop();
      this.#agentWait.stop();
      this.#change({ state: "online" });
    }
    // The one in flight is settled; the next one has its own clock.
    if (this.around.session.outbox[0] !== before) this.#resend.stop();
  }

  #greet(): void {
    this.#configure.start(performance.now());
    this.#bePatient();
  }

  /** Give an agent a while to come and to answer. */
  #bePatient(): void {
    this.#misses = 0;
    this.#agentWait.start(performance.now());
    this.#agentWait.wait(performance.now());
  }

  #missAgent(): void {
    this.#misses += 1;
    this.#agentWait.wait(performance.now());
    this.#change({ state: "away", missing: this.#giveUpAt === undefined ? "agent" : "link" });
    // Asking for a token makes the server call an agent. A conversation that no agent has opened would get another room.
    if (this.around.session.conversationId) {
      this.around.knock(AbortSignal.timeout(AGENT_PATIENCE)).catch(() => undefined);
    }
  }

  #gaveUp(): boolean {
    return this.#giveUpAt !== undefined && performance.now() >= this.#giveUpAt;
  }

  #nextMoment(link: Link): number | undefined {
    // What is not sent before an agent has answered would be due all the time.
    const resend = link.agent && this.#configure.at === undefined ? this.#resend.at : undefined;
    const moments = [this.#configure.at, resend, this.#agentWait.at, this.#giveUpAt];
    const known = moments.filter((moment) => moment !== undefined);
    return known.length ? Math.min(...known) : undefined;
  }

  #change(next: Connection): void {
    // While it is away, every attempt to come back is one more "connecting" that nobody wants to hear of.
    if (this.connection.state === "away" && next.state === "connecting") return;
    if (JSON.stringify(next) === JSON.stringify(this.connection)) return;
    this.connection = next;
    this.around.changed(next);
  }
}

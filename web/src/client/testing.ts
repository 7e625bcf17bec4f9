import { vi } from "vitest";

import type { Bodies, ConversationId, Envelope, MessageId, SentenceId } from "../protocol/messages";
import { Type } from "../protocol/messages";
import type { Outgoing } from "./session";

/** What the tests of this folder say to each other. */
export const C: ConversationId = `ac_${"c".repeat(21)}`;

export const am = (name: string): MessageId => `am_${name.padEnd(21, "_")}`;

/** A transient envelope of the agent's. */
export function transient<T extends keyof Bodies>(type: T, body: Omit<Bodies[T], "conversationId">): Envelope {
  return { type, stanzaId: -900, conversationId: C, body: { conversationId: C, ...body } } as unknown as Envelope;
}

/** A durable stanza of the agent's. */
export function durable<T extends keyof Bodies>(
  stanzaId: number,
  previousStanzaId: number,
  type: T,
  body: Omit<Bodies[T], "conversationId">,
): Envelope {
  return { ...transient(type, body), stanzaId, previousStanzaId };
}

/** Numbers bodies as the agent would, one after the other. */
export class Agent {
  head = 0;

  says<T extends keyof Bodies>(type: T, body: Omit<Bodies[T], "conversationId">): Envelope {
    const previous = this.head;
    this.head = previous - 1;
    return durable(this.head, previous, type, body);
  }

  asks(id: string, content: string, rest: Partial<Bodies[2]> = {}): Envelope {
    return this.says(Type.UserMessage, { id: am(id), content, ...rest });
  }

  starts(id: string, question: string, supersedes?: string): Envelope {
    return this.says(Type.StartAnswer, { id: am(id), previousId: am(question), ...(supersedes && { supersedes: am(supersedes) }) });
  }

  sentence(answer: string, sequence: number, text: string, status?: "completed" | "stopped" | "failed"): Envelope {
    const id: SentenceId = `ams_${`${answer}${sequence}`.padEnd(21, "_")}`;
    const ending = { isFinal: status !== undefined, ...(status && { status }) };
    return this.says(Type.AssistantSentence, { id, previousId: am(answer), sequence, text, ...ending });
  }
}

/** Wait until this holds. A busy machine may take its time: only what never comes is missed. */
export function eventually(holds: () => void): Promise<void> {
  return vi.waitFor(holds, { timeout: 30_000, interval: 5 });
}

export function question(key: number, id: string, content = "hello"): Outgoing {
  return { key, type: Type.UserMessage, body: { conversationId: C, id: am(id), content } };
}

import { decodeMulti, encode as pack } from "@msgpack/msgpack";

import { decodePacket, ProtocolError } from "../protocol/envelope";
import type { Envelope } from "../protocol/messages";

/** A stanza that this client can't read, such as one of a type from the future. */
export interface Unreadable {
  unreadable: true;
  stanzaId: number | undefined;
  previousStanzaId: number | undefined;
}

/** The envelopes of a packet in order; what can't be read becomes `Unreadable`, so that it stops nothing after it. */
export function readPacket(packet: Uint8Array): (Envelope | Unreadable)[] {
  try {
    return [...decodePacket(packet)];
  } catch {
    return [...oneByOne(packet)];
  }
}

function* oneByOne(packet: Uint8Array): Generator<Envelope | Unreadable> {
  try {
    for (const item of decodeMulti(packet)) {
      try {
        yield* decodePacket(pack(item));
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        yield { unreadable: true, stanzaId: number(item, "stanzaId"), previousStanzaId: number(item, "previousStanzaId") };
      }
    }
  } catch {
    // The bytes themselves are broken: nothing after this place can be told apart, and a replay will bring it.
  }
}

function number(item: unknown, field: string): number | undefined {
  const value: unknown = typeof item === "object" && item !== null ? Reflect.get(item, field) : undefined;
  return typeof value === "number" ? value : undefined;
}

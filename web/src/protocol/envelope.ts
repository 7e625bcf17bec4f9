import { decodeMulti, encode as pack } from "@msgpack/msgpack";

import { ALIASES, type Envelope, ErrorCode, FIELDS, type TypeCode } from "./messages";

type Fields = { [name: string]: unknown };

/** The peer broke the protocol; `code` is that of the ErrorMessage that would answer it. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";

  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** The envelope's bytes; fields that are undefined are left out. */
export function encode(envelope: Envelope): Uint8Array {
  return pack(envelope, { ignoreUndefined: true });
}

/**
 * The envelopes of a data packet, in order.
 *
 * The agent checks every field of what it sends, so only the outline is checked here: numbers, types, and which
 * fields are there. Other spellings become the usual ones, and fields from the future are left out.
 */
export function* decodePacket(packet: Uint8Array): Generator<Envelope> {
  try {
    for (const item of decodeMulti(packet)) yield toEnvelope(item);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    throw new ProtocolError(ErrorCode.Malformed, `this is not an envelope: ${String(error)}`);
  }
}

/** Whether the agent stored this stanza and will replay it. */
export function isDurable(envelope: Envelope): envelope is Envelope & { previousStanzaId: number } {
  return envelope.previousStanzaId !== undefined;
}

/** Whether only a tombstone is left of this envelope's body. */
export function isErased(envelope: Envelope): envelope is Extract<Envelope, { body: { erased: true } }> {
  return "erased" in envelope.body;
}

function toEnvelope(item: unknown): Envelope {
  if (!isMap(item)) throw new ProtocolError(ErrorCode.Malformed, "an envelope must be a MessagePack map");
  const { type, stanzaId, previousStanzaId, conversationId, meta, body } = item;
  if (!isInteger(stanzaId) || stanzaId === 0 || stanzaId !== (stanzaId | 0)) {
    throw new ProtocolError(ErrorCode.Stanza, "`stanzaId` must be a 32-bit integer other than 0");
  }
  if (!isKnown(type)) throw new ProtocolError(ErrorCode.UnknownType, `there is no message type ${String(type)}`);
  if (!isMap(body)) throw new ProtocolError(ErrorCode.InvalidField, "`body` must be a map");
  const durable = isInteger(previousStanzaId);
  const envelope: Fields = {
    type,
    stanzaId,
    ...(durable && { previousStanzaId }),
    ...(conversationId ? { conversationId } : {}),
    ...(isMap(meta) && { meta }),
    body: durable && body["erased"] === true ? { id: body["id"], erased: true } : toBody(type, body),
  };
  return envelope as unknown as Envelope;
}

function toBody(type: TypeCode, sent: Fields): Fields {
  const known: Fields = {};
  for (const [name, required] of Object.entries(FIELDS[type])) {
    const value = sent[name] ?? sent[aliasOf(type, name) ?? name];
    if (value !== undefined && value !== null) known[name] = value;
    else if (required) throw new ProtocolError(ErrorCode.InvalidField, `\`${name}\` is missing`);
  }
  return known;
}

function aliasOf(type: TypeCode, name: string): string | undefined {
  return Object.entries(ALIASES[type] ?? {}).find(([, meant]) => meant === name)?.[0];
}

function isKnown(type: unknown): type is TypeCode {
  return isInteger(type) && Object.hasOwn(FIELDS, type);
}

function isInteger(value: unknown): value is number {
  return Number.isInteger(value);
}

function isMap(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

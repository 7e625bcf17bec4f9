import { decode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";

import entries from "../../../tests/vectors/envelopes.json";
import { decodePacket, encode, isDurable, isErased, ProtocolError } from "./envelope";
import { ALIASES, type Envelope, ErrorCode, FIELDS, TRANSIENT, Type } from "./messages";

type Good = { name: string; hex: string; meaning: unknown; spelled?: unknown };
type Bad = { name: string; hex: string; refusal: { code: number; stanzaId: number | null } };

const good = entries.filter((vector) => "meaning" in vector) as Good[];
const bad = entries.filter((vector) => "refusal" in vector) as Bad[];

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** JSON has no bytes: the vectors write them as a map with one key. */
function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== "object" || value === null) return value;
  if ("$hex" in value) return fromHex(value.$hex as string);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revive(item)]));
}

function read(hex: string): Envelope[] {
  return [...decodePacket(fromHex(hex))];
}

describe("the golden vectors", () => {
  it.each(good)("$name: the plain library reads the map that was sent", ({ hex, meaning, spelled }) => {
    expect(decode(fromHex(hex))).toEqual(revive(spelled ?? meaning));
  });

  it.each(good)("$name: means what Python says it means", ({ hex, meaning }) => {
    expect(read(hex)).toEqual([revive(meaning)]);
  });

  it.each(good)("$name: is written with the same bytes", ({ hex, spelled }) => {
    if (spelled === undefined) expect(encode(decode(fromHex(hex)) as Envelope)).toEqual(fromHex(hex));
  });

  // What a field holds is the agent's to check, and the library reads text that is not UTF-8 as best it can.
  const refused = bad.filter(
    ({ name, refusal }) => refusal.code < ErrorCode.InvalidField && name !== "text that is not UTF-8" && name !== "nothing",
  );

  it.each(refused)("$name: is refused", ({ hex, refusal }) => {
    expect(() => read(hex)).toThrow(expect.objectContaining({ name: "ProtocolError", code: refusal.code }));
  });
});

describe("a packet", () => {
  const hexes = good.map(({ hex }) => hex);

  it("holds envelopes back to back", () => {
    expect(read(hexes.join(""))).toEqual(good.map(({ meaning }) => revive(meaning)));
  });

  it("gives what came before the damage", () => {
    const seen: Envelope[] = [];
    expect(() => {
      for (const envelope of decodePacket(fromHex(`${hexes[0]}c1`))) seen.push(envelope);
    }).toThrow(ProtocolError);
    expect(seen).toHaveLength(1);
  });
});

describe("the generated tables", () => {
  it("name every type once", () => {
    expect(Object.keys(FIELDS)).toEqual(Object.values(Type).map(String));
    for (const [type, aliases] of Object.entries(ALIASES)) {
      for (const meant of Object.values(aliases)) {
        expect(FIELDS[Number(type) as keyof typeof FIELDS]).toHaveProperty(meant);
      }
    }
    expect(TRANSIENT).toContain(Type.Configuration);
  });

  it("leave out what is undefined", () => {
    const envelope: Envelope = { type: Type.Configuration, stanzaId: 1, body: {} };
    const unfinished = { ...envelope, meta: undefined } as unknown as Envelope;
    expect(encode(unfinished)).toEqual(encode(envelope));
  });

  it("tell durable and erased envelopes from the rest", () => {
    const all = good.flatMap(({ hex }) => read(hex));
    expect(all.filter(isErased).every(isDurable)).toBe(true);
    expect(all.some((envelope) => isDurable(envelope) && !isErased(envelope))).toBe(true);
  });
});

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const LENGTH = 21;

/** A fresh id: the prefix and 21 URL-safe characters, 126 bits of chance. */
export function newId<P extends string>(prefix: P): `${P}_${string}` {
  let text = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) text += ALPHABET[byte & 63];
  return `${prefix}_${text}`;
}

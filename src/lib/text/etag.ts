/** A strong entity tag over the bytes of a body. */
export const strongEtag = (text: string): string =>
  `"${Bun.hash.wyhash(text).toString(36)}${Bun.hash.crc32(text).toString(36)}"`

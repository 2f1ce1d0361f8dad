/** Where identity and chance come from. */
export interface Ids {
  /** Lower-case UUID. */
  uuid(): string
  /** 64 lower-case hexadecimal characters: a full API token. */
  token(): string
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export const randomIds = (): Ids => ({
  uuid: () => crypto.randomUUID(),
  token: () => hex(crypto.getRandomValues(new Uint8Array(32))),
})

/** The same ids in the same order for one seed: for tests and reproducible evaluation copies. */
export function seededIds(seed: number): Ids {
  let n = 0
  const next = (kind: string, length: number) => {
    n += 1
    return new Bun.CryptoHasher('sha512').update(`${seed}/${kind}/${n}`).digest('hex').slice(0, length)
  }
  return {
    uuid: () => {
      const h = next('uuid', 32)
      const variant = ((Number.parseInt(h[16]!, 16) & 3) | 8).toString(16)
      return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-${variant}${h.slice(17, 20)}-${h.slice(20, 32)}`
    },
    token: () => next('token', 64),
  }
}

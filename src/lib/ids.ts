/** The source of ids and random numbers. */
export type Ids = ReturnType<typeof createSeededIds>

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export const createRandomIds = (): Ids => ({
  uuid: () => crypto.randomUUID(),
  token: () => hex(crypto.getRandomValues(new Uint8Array(32))),
  uuidAt: at => Bun.randomUUIDv7('hex', at),
  event: at => eventId(at, crypto.getRandomValues(new Uint8Array(16))),
})

/** The same ids in the same order for one seed: for tests and reproducible demo instances. */
export function createSeededIds(seed: number) {
  let n = 0
  const next = (kind: string, length: number) => {
    n += 1
    return new Bun.CryptoHasher('sha512')
      .update(`${seed}/${kind}/${n}`)
      .digest('hex')
      .slice(0, length)
  }
  return {
    /** Lower-case UUID. */
    uuid: () => {
      const h = next('uuid', 32)
      return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-${variant(h[16]!)}${h.slice(17, 20)}-${h.slice(20, 32)}`
    },
    /** 64 lower-case hexadecimal characters: a full API token. */
    token: () => next('token', 64),
    /**
     * Lower-case UUID (version 7) that sorts by `at` (Unix ms): an index over many of them grows at
     * one end.
     */
    uuidAt: (at: number) => timeOrdered(at, next('uuidAt', 20)),
    /** `evt_` and 26 lower-case characters (a ULID) that sort by `at` (Unix ms). */
    event: (at: number) => eventId(at, Buffer.from(next('event', 32), 'hex')),
  }
}

const variant = (digit: string) => ((Number.parseInt(digit, 16) & 3) | 8).toString(16)

/** RFC 9562, version 7; `chance` is twenty hexadecimal characters. */
function timeOrdered(at: number, chance: string): string {
  const time = at.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${chance.slice(0, 3)}-${variant(chance[3]!)}${chance.slice(4, 7)}-${chance.slice(7, 19)}`
}

const base32 = '0123456789abcdefghjkmnpqrstvwxyz'

function eventId(at: number, chance: Uint8Array): string {
  let text = ''
  for (let rest = at, i = 0; i < 10; i += 1, rest = Math.floor(rest / 32))
    text = base32[rest % 32] + text
  for (let i = 0; i < 16; i += 1) text += base32[chance[i]! & 31]
  return `evt_${text}`
}

/** A number in [0, 1) made of the bits of a new id. */
export const chanceOf = (ids: Ids): number => Number.parseInt(ids.uuid().slice(0, 8), 16) / 2 ** 32

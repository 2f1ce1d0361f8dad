import { passwordForm } from '../../../plans/password.ts'

/**
 * Hashes passwords with argon2id, few at a time: each takes memory, and anonymous clients can cause
 * it.
 */
export type PasswordHashes = ReturnType<typeof createPasswordHashes>

/** More wait for their turn than is sensible. */
export class TooManyWaiting extends Error {}

/** The minimum that OWASP recommends: 19 MiB, two passes, one lane. */
const cost = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** A hash of the same cost to a password that no one has. */
const decoy =
  '$argon2id$v=19$m=19456,t=2,p=1$URpdbRWzGXIoQPDyVthMNEKmuwJ3Hs8LYZTRSmyTNa0$jXbzI4ywqaZv6mc43UoThxfR4qMVs7T4OCsn9tAcTjE'
const atOnceDefault = 2
const waitingDefault = 100

export function createPasswordHashes({ atOnce = atOnceDefault, waitingMax = waitingDefault } = {}) {
  const inTurn = turns(atOnce, waitingMax)
  return {
    hash: (password: string) => inTurn(() => Bun.password.hash(passwordForm(password), cost)),
    /** Whether a password is the one of a hash. Without a hash it takes as long and is false. */
    matches: (password: string, hash: string | undefined) =>
      inTurn(async () => {
        const same = await Bun.password.verify(passwordForm(password), hash ?? decoy)
        return same && hash !== undefined
      }),
  }
}

/** Runs at most `atOnce` tasks at the same time, in the order of the calls. */
function turns(atOnce: number, waitingLimit: number) {
  let running = 0
  const waiting: (() => void)[] = []
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < atOnce) running += 1
    else if (waiting.length >= waitingLimit)
      throw new TooManyWaiting('Too many passwords wait to be checked.')
    // Anyone who ends hands its place over, so that no one slips in between.
    else await new Promise<void>(go => waiting.push(go))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}

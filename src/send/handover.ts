import type { Outcome } from './attempt.ts'

/**
 * The cause of a failure other than the connection: the address is permanently invalid, its owner
 * refuses messages, this instance is not configured or is refused as such, or the provider says
 * that it takes no messages now.
 */
export type Fault = 'address' | 'refused' | 'setting' | 'provider'

/** The provider's response to a message that was handed to it. */
export type Handover =
  | { accepted: true; statusCode: number | null }
  | {
      accepted: false
      /** Whether the same attempt may go better later. */
      again: boolean
      statusCode: number | null
      reason: string
      fault?: Fault
      /** The time that the provider stated. */
      retryAfterMs?: number
    }

export const accepted = (statusCode: number | null): Handover => ({ accepted: true, statusCode })

const failed = (
  again: boolean,
  reason: string,
  statusCode: number | null,
  more: { fault?: Fault; retryAfterMs?: number },
): Handover => ({ accepted: false, again, statusCode, reason: oneSentence(reason), ...more })

/** To be tried again. */
export const putOff = (
  reason: string,
  statusCode: number | null = null,
  retryAfterMs?: number,
): Handover => failed(true, reason, statusCode, retryAfterMs === undefined ? {} : { retryAfterMs })

/** The message is to be tried again, as every other one: the provider takes none now. */
export const outOfService = (reason: string, statusCode: number | null): Handover =>
  failed(true, reason, statusCode, { fault: 'provider' })

/** A message that is retried, because the operator can correct what the provider refuses. */
export const toCorrect = (reason: string, statusCode: number | null): Handover =>
  failed(true, reason, statusCode, { fault: 'setting' })

/** Not to be tried again. */
export const givenUp = (
  reason: string,
  statusCode: number | null = null,
  fault?: Fault,
): Handover => failed(false, reason, statusCode, fault ? { fault } : {})

/**
 * The same with a reason that may be logged: providers repeat the address of the recipient, and logs
 * contain no addresses of people.
 */
export function withoutAddress(handed: Handover, to: string): Handover {
  if (handed.accepted || to === '') return handed
  const address = new RegExp(RegExp.escape(to), 'gi')
  return { ...handed, reason: handed.reason.replace(address, 'the recipient') }
}

/** As the outbox records it. */
export const outcomeOf = (handed: Handover, durationMs: number): Outcome => ({
  state: handed.accepted ? 'delivered' : handed.again ? 'retry' : 'failed',
  ...(handed.statusCode !== null && { statusCode: handed.statusCode }),
  ...(!handed.accepted && {
    error: handed.reason,
    ...(handed.retryAfterMs !== undefined && { retryAfterMs: handed.retryAfterMs }),
    ...(handed.fault === 'setting' && { blameless: true }),
  }),
  durationMs,
})

const reasonCharactersMax = 300

/** Providers' words are stored and shown: one line of them, of a length that fits. */
const oneSentence = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, reasonCharactersMax)
    .toWellFormed()

/**
 * Whether a response with this status is temporary: too many requests, a timeout, or a fault on the
 * other side.
 */
export const mayPass = (status: number): boolean =>
  status === 408 || status === 429 || status >= 500

/**
 * Why an answer was refused. Answers with `suspicious` codes could be read but are implausible, so
 * they are held for review; the others could not be read.
 */
export type FaultCode =
  | 'unauthorized'
  | 'http_status'
  | 'too_long'
  | 'unreadable'
  | 'foreign_address'
  | (typeof passing)[number]
  | SuspicionCode

/** The same request may succeed later. */
const passing = ['no_answer', 'unavailable', 'cut_short', 'changed_while_read'] as const

export const isPassingCode = (code: string): boolean => passing.some(one => one === code)

export type SuspicionCode =
  | 'unexpected_header'
  | 'unexpected_unit'
  | 'series_empty'
  | 'went_backwards'
  | 'all_zero'
  | 'rows_fell'
  | 'future_period'

const suspicions: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'unexpected_header',
  'unexpected_unit',
  'series_empty',
  'went_backwards',
  'all_zero',
  'rows_fell',
  'future_period',
])

/** A sentence for the operator; it never repeats a key, and of a body only short pieces. */
export class FeedFault extends Error {
  readonly code: FaultCode
  readonly suspicious: boolean
  /** The status of the answer, where there was one and it was the reason. */
  readonly status: number | undefined
  /** The earliest time for the next request, by the publisher, Unix ms. */
  readonly notBefore: number | undefined
  constructor(code: FaultCode, message: string, status?: number, notBefore?: number) {
    super(message)
    this.name = 'FeedFault'
    this.code = code
    this.status = status
    this.notBefore = notBefore
    this.suspicious = suspicions.has(code)
  }
}

export const headerFault = (what: string, wanted: string): FeedFault =>
  new FeedFault('unexpected_header', `${what} has no ${wanted}: its form has changed`)

export const unreadable = (what: string): FeedFault =>
  new FeedFault('unreadable', `${what} could not be read`)

import { megabyte } from '../../lib/files/free-space.ts'
import { redact } from '../../lib/log/log.ts'
import { certificateAdvice } from '../../lib/text/certificate-advice.ts'
import { errorMessage } from '../../lib/text/error-message.ts'

export type Verdict = 'ok' | 'warning' | 'error'

/** The result of a check. */
export interface Finding {
  check: string
  status: Verdict
  found: string
  /** The remedy; null where none is needed. */
  advice: string | null
}

export const fine = (check: string, sentence: string): Finding => ({
  check,
  status: 'ok',
  found: sentence,
  advice: null,
})
export const doubtful = (check: string, sentence: string, advice: string): Finding => ({
  check,
  status: 'warning',
  found: sentence,
  advice,
})
export const faulty = (check: string, sentence: string, advice: string): Finding => ({
  check,
  status: 'error',
  found: sentence,
  advice,
})

export const reasonOf = (error: unknown): string => redact(errorMessage(error))

/** A provider that is not reached, and what helps. */
export const unreached = (check: string, reason: string): Finding =>
  doubtful(
    check,
    reason,
    certificateAdvice(reason) ??
      'check the network and the status of the provider; skip this check with --offline',
  )

/** A check that breaks off is a fault itself, and the others continue. */
export function checked(
  check: string,
  work: () => Finding | readonly Finding[],
): readonly Finding[] {
  try {
    return [work()].flat()
  } catch (error) {
    return [faulty(check, `check failed: ${reasonOf(error)}`, 'fix the reported problem')]
  }
}

export const megabytes = (bytes: number): string => `${Math.ceil(bytes / megabyte)} MB`

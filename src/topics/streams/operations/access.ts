import { Problem, passing } from '../../../http/problem/problem.ts'
import type { Streams } from '../service/streams.ts'

/** The refusal of a stream for which there is no place. */
export const noPlace = (why: 'full' | 'stopped', { perKey }: Pick<Streams, 'perKey'>): Problem =>
  why === 'full'
    ? new Problem(
        'STREAM_LIMIT_REACHED',
        `This API key has ${perKey} open streams of this kind, the maximum. Close one first.`,
        {
          limit: perKey,
        },
      )
    : passing('OVERLOADED', 'The service is stopping; try again in a moment.', 5)

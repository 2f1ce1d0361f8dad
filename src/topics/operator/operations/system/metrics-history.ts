import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { parsed } from '../../../../http/input/typed.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'

const Sample = t.Object({
  at: t.instant('End of the minute or hour.', '2026-11-20T15:00:00Z'),
  requests: t.integer('Responses, of any status.', 412),
  server_errors: t.integer('Responses with a status of 500 or more.', 0),
  p95_seconds: t.orNull(
    t.number('Upper end of the latency bucket of the 95th percentile, seconds.', 0.005),
    'Null without requests.',
  ),
  memory_bytes: t.integer('Resident memory.', 183500800),
  loop_wait_ms: t.number('Longest event loop delay, ms.', 12.5),
  free_bytes: t.integerOrNull('Free disk space; null where it is unknown.'),
  outbox_pending: t.integer('Messages waiting to be sent.', 0),
})
export type Sample = (typeof Sample)['static']

const ranges = ['day', 'month'] as const

/** The health of the instance over a day or a month. */
export const metricsHistoryOperations = [
  operation('GET /admin/v1/metrics/history', {
    operationId: 'getMetricsHistory',
    summary: 'Get the history of the metrics',
    description:
      'Returns requests, server errors, the 95th percentile of response times, memory, event loop delay, free disk space and waiting messages, oldest first. `day` has a sample a minute since the start, at most 24 hours; `month` has one an hour, at most 30 days, which restarts keep. An hour counts its requests and has the worst of its minutes.',
    access: { operator: 'service' },
    query: {
      range: parsed.word(ranges, 'Minutes of a day (default: day), or hours of a month.', 'day'),
    },
    answers: envelope(
      t.Object({
        step_seconds: t.integer('60 for a day, 3600 for a month.', 60),
        samples: t.Array(Sample),
      }),
    ),
    handle: ({ at: { vitalsHistory }, query }) => {
      const isMonth = query.range === 'month'
      const samples = isMonth ? vitalsHistory.hours() : vitalsHistory.minutes()
      return success({
        step_seconds: isMonth ? 3600 : 60,
        samples: samples.map(sample =>
          answerRow(Sample, sample, { at: isoInstant(sample.at), p95_seconds: sample.p95 }),
        ),
      })
    },
  }),
]

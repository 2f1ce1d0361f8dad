import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { isoInstant, isoOrNull } from '../../../lib/time/instant.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { DataSource, SourceHealth, SourceRow, SourceSyncLog } from '../service/sources.ts'

const moment = t.String({ format: 'date-time' })
const textOrNull = (description: string) => t.orNull(t.String(), description)

type SourceStatus = DataSource['status']
const sourceStatuses: readonly SourceStatus[] = ['active', 'paused', 'error', 'pending', 'failed']
const statusText =
  '`pending`: not synced yet. `active`: working. `error`: the last sync failed and may be retried. `failed`: stopped after ten consecutive failures, until it is changed. `paused`: paused by its owner.'

const fields = {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000801'] }),
  name: t.String({ examples: ['Terminal feed'] }),
  source_type: t.String({ examples: ['api'] }),
  status: t.Unsafe<SourceStatus>(t.oneOf(sourceStatuses, statusText)),
  scraper_config: t.orNull(t.Object({}, { additionalProperties: true }), 'As it was sent.'),
  has_credentials: t.boolean('Credentials are never returned.'),
  last_sync_at: t.instantOrNull('When the last sync ended.'),
  next_sync_at: t.instantOrNull('Null if not scheduled.'),
  successful_syncs: t.integer(),
  failed_syncs: t.integer(),
  last_error: textOrNull('Why the last sync failed; null after a successful sync.'),
  ingest_url: t.Optional(t.string('For type `webhook`: URL to push rows to.')),
  created_at: moment,
  updated_at: moment,
}
export const SourceShape = t.object('DataSource', fields)
export type SourceShape = (typeof SourceShape)['static']
export const SourceAnswer = t.object('DataSourceAnswer', { ...fields, data_source: SourceShape })

/** `baseUrl` stands before the address that rows are pushed to. */
export const sourceRow = (source: DataSource, baseUrl: string) =>
  answerRow(SourceShape, source, {
    has_credentials: source.credentials !== null,
    ...(source.sourceType === 'webhook' && {
      ingest_url: `${baseUrl}/v1/data-sources/${source.id}/ingest`,
    }),
  })

/** The same twice: bare, and under `data_source`. */
export function sourceAnswer(source: DataSource, baseUrl: string) {
  const row = sourceRow(source, baseUrl)
  return { ...row, data_source: row }
}

export const RowShape = t.object('DataSourceRow', {
  timestamp: moment,
  fuel_type: t.String({ examples: ['VLSFO'] }),
  port: t.String({ examples: ['SINGAPORE'] }),
  region: t.orNull(t.String({ examples: ['APAC'] })),
  price: t.Number({ examples: [531.5] }),
  currency: t.String({ examples: ['USD'] }),
  unit: t.Literal('MT'),
})

export const rowRow = (row: SourceRow) =>
  answerRow(RowShape, row, { timestamp: isoInstant(row.observedAt), unit: 'MT' })

const rejections = t.Array(t.String({ examples: ['row 3: price n/a is not a plain number'] }), {
  description: 'The first twenty.',
})
const countFields = {
  received: t.integer(),
  inserted: t.integer(),
  revised: t.integer('Another price for a known time, fuel and port.'),
  unchanged: t.integer(),
  rejected: t.integer(),
  rejections,
}
export const PushedRows = t.object('PushedRows', countFields)

export const LogShape = t.object('DataSourceLog', {
  id: t.String(),
  data_source_id: t.String(),
  status: t.oneOf(['success', 'failed']),
  trigger: t.oneOf(['schedule', 'push', 'operator'], '`operator`: requested by the operator.'),
  records_synced: t.integerOrNull('Recorded rows, including unchanged ones; null after a failure.'),
  ...countFields,
  duration_ms: t.integerOrNull('Time from the request to the last row.'),
  error: textOrNull('Why it failed.'),
  started_at: moment,
  completed_at: t.instantOrNull('When it ended.'),
})
export type LogShape = (typeof LogShape)['static']

export const logRow = (source: DataSource, log: SourceSyncLog) =>
  answerRow(LogShape, log, {
    data_source_id: source.id,
    records_synced: log.status === 'success' ? log.inserted + log.revised + log.unchanged : null,
  })

export const HealthShape = t.object('DataSourceHealth', {
  id: t.String(),
  status: t.oneOf(
    ['healthy', 'degraded', 'down'],
    '`down`: the last three syncs, or all of them, failed. `degraded`: one of the last twenty failed.',
  ),
  success_rate: t.number('Percentage of the last twenty syncs; 100 before the first.', 95),
  avg_duration_ms: t.Number({ examples: [412] }),
  last_sync_status: textOrNull('`success` or `failed`; null before the first.'),
  last_sync_at: t.instantOrNull('When the last sync ended.'),
  recent_errors: t.Array(t.String(), { description: 'Newest first, each once.' }),
})

export const healthRow = (
  source: DataSource,
  { status, successRate, averageMs, last, recentErrors }: SourceHealth,
) => ({
  id: source.id,
  status,
  success_rate: roundTo(successRate, 1),
  avg_duration_ms: roundTo(averageMs, 1),
  last_sync_status: last?.status ?? null,
  last_sync_at: isoOrNull(last?.completedAt ?? null),
  recent_errors: recentErrors,
})

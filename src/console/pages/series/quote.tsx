import type { ComponentChildren } from 'preact'
import type { QualityReport } from '../../../topics/condition/operations/data-quality.ts'
import type { Metric } from '../../../topics/prices/operations/metrics.ts'
import { Tag } from '../../parts/bits.tsx'
import { RangeBar } from '../../parts/charts/range-bar.tsx'
import { has } from '../../parts/person/account.ts'
import { dataOf, useData, useLoaded } from '../../parts/requests/ask.ts'
import { boot } from '../../parts/requests/boot.ts'
import { ago, number, observed, publisherText, signed, words } from '../../parts/text/format.ts'
import { periodText } from '../../parts/text/writing.ts'
import type { ChartAnswer } from './answer.ts'

interface Latest {
  source: string
  change_24h: number | null
  change_24h_percent: number | null
}

interface Detail {
  source: string
  cadence: string
  description: string
  freshness: { data_status: 'current' | 'delayed' | 'stale' } | null
}

const moods = { current: 'good', delayed: 'warn', stale: 'bad' } as const

/** The newest value of a series with its place in the day and the year, its age and its source. */
export function Quote({ data }: { data: ChartAnswer }) {
  const { code, decimals } = data
  const answer = useLoaded(`quote ${code}`, signal =>
    Promise.all([
      dataOf<{ metrics: Metric[] }>(`/v1/prices/metrics?by_code=${code}`, { signal }),
      dataOf<Detail>(`/v1/commodities/${code}`, { signal }),
      // A price can be too old to be the current one.
      dataOf<Latest>(`/v1/prices/latest?by_code=${code}`, { signal }).catch(() => undefined),
    ]),
  )
  const path = has('calculated_metrics') ? `/v1/data-quality/reports/${code}` : undefined
  const report = useData<QualityReport>(path).data
  const facts = answer.data
  const metric = facts?.[0].metrics[0]
  if (!facts || !metric) return <div class="quote" />
  const [, detail, latest] = facts
  const place = { value: metric.current, decimals }
  const { change_24h: change = null, change_24h_percent: percent } = latest ?? {}
  return (
    <section class="quote" aria-label="Now">
      <div class="last">
        <b>{number(metric.current, decimals)}</b>
        {change !== null && (
          <span class={change >= 0 ? 'up' : 'down'}>
            {signed(change, decimals)}
            {percent != null && ` (${signed(percent, 2)}%)`}
            {periodText(detail.cadence)}
          </span>
        )}
      </div>
      {data.currency !== null && metric.max_24h > metric.min_24h && (
        <RangeBar label="Day" low={metric.min_24h} high={metric.max_24h} {...place} />
      )}
      <RangeBar label="52 weeks" low={metric.min_52w} high={metric.max_52w} {...place} />
      <dl>
        <Fact name="Observed">
          <time dateTime={metric.as_of} title={observed(metric.as_of)}>
            {ago(metric.as_of)}
          </time>{' '}
          {detail.freshness && (
            <Tag mood={moods[detail.freshness.data_status]}>{detail.freshness.data_status}</Tag>
          )}
        </Fact>
        <Fact name="Source">
          {publisherText(latest?.source ?? detail.source, boot.isEvaluation)},{' '}
          {words(detail.cadence).toLowerCase()}
        </Fact>
        {report?.next_release_at && <Fact name="Next release">{ago(report.next_release_at)}</Fact>}
        {report && <Fact name="Data quality">{number(report.quality_score, 0)} of 100</Fact>}
      </dl>
    </section>
  )
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

import { useSignal } from '@preact/signals'
import type { Sample } from '../../../topics/operator/operations/system/metrics-history.ts'
import { type Mood, Refused } from '../../parts/bits.tsx'
import { MiniLines } from '../../parts/charts/mini-lines.tsx'
import { Choice } from '../../parts/fields.tsx'
import { useOperator } from '../../parts/person/operator-token.tsx'
import { number } from '../../parts/text/format.ts'
import { megabytes } from './backups.tsx'

interface Measure {
  label: string
  pick: (sample: Sample) => number | null
  text: (value: number) => string
  /** Its lowest value is its worst. */
  isLow?: boolean
  /** The grade of a value against its thresholds. */
  mood: (value: number) => Mood
}

/** From `warn` on a value is worth a look, from `bad` on it is wrong. */
const above =
  (warn: number, bad: number) =>
  (value: number): Mood =>
    value >= bad ? 'bad' : value >= warn ? 'warn' : 'good'

const gigabyte = 1e9
const [memoryWarn, memoryBad] = [1.5 * gigabyte, 3 * gigabyte]
const [diskWarn, diskBad] = [5 * gigabyte, gigabyte]

const measures: readonly Measure[] = [
  {
    label: 'Requests',
    pick: row => row.requests,
    text: value => number(value),
    mood: () => 'good',
  },
  {
    label: 'Response time, p95',
    pick: row => row.p95_seconds && row.p95_seconds * 1000,
    text: value => `≤ ${number(value)} ms`,
    mood: above(250, 1000),
  },
  {
    label: 'Server errors',
    pick: row => row.server_errors,
    text: value => number(value),
    mood: above(1, 10),
  },
  {
    label: 'Memory',
    pick: row => row.memory_bytes,
    text: megabytes,
    mood: above(memoryWarn, memoryBad),
  },
  {
    label: 'Event loop delay',
    pick: row => row.loop_wait_ms,
    text: value => `${number(value, 0)} ms`,
    mood: above(200, 1000),
  },
  {
    label: 'Free disk space',
    pick: row => row.free_bytes,
    text: value => `${number(value / gigabyte, 1)} GB`,
    isLow: true,
    mood: value => (value < diskBad ? 'bad' : value < diskWarn ? 'warn' : 'good'),
  },
  {
    label: 'Outbox',
    pick: row => row.outbox_pending,
    text: value => number(value),
    mood: above(100, 1000),
  },
]

const ranges = [
  { value: 'day', text: '24 hours' },
  { value: 'month', text: '30 days' },
] as const

/** The health of the service over time: each figure with its history, coloured by its threshold. */
export function Course() {
  const range = useSignal<(typeof ranges)[number]['value']>('day')
  const path = `/admin/v1/metrics/history?range=${range.value}`
  const answer = useOperator<{ data: { samples: Sample[] } }>(path)
  const samples = answer.data?.data.samples ?? []
  return (
    <section class="card" aria-labelledby="course">
      <header>
        <h2 id="course">Over time</h2>
        <Choice label="Range" options={ranges} of={range} />
      </header>
      {answer.refusal && <Refused error={answer.refusal} />}
      {answer.data && samples.length === 0 && (
        <p class="quiet">
          {range.value === 'day'
            ? 'The first values appear after a minute.'
            : 'The first values appear after an hour.'}
        </p>
      )}
      {samples.length > 0 && (
        <div class="courses">
          {measures.map(measure => (
            <Tile key={measure.label} measure={measure} samples={samples} />
          ))}
        </div>
      )}
    </section>
  )
}

function Tile({ measure, samples }: { measure: Measure; samples: readonly Sample[] }) {
  const { label, pick, text, mood, isLow = false } = measure
  const values = samples.map(pick)
  const known = values.filter(value => value !== null)
  const last = known.at(-1)
  return (
    <div class={`tile ${last === undefined ? '' : mood(last)}`}>
      <span class="small quiet">{label}</span>
      <b>{last === undefined ? '–' : text(last)}</b>
      <MiniLines lines={[{ values, ink: '--ink-1', isStrong: true }]} />
      <span class="small quiet">
        {known.length > 0 &&
          (isLow ? `low ${text(Math.min(...known))}` : `high ${text(Math.max(...known))}`)}
      </span>
    </div>
  )
}

import { useSignal } from '@preact/signals'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import { Button } from '../bits.tsx'
import { now } from '../requests/boot.ts'

const knownDays = 365

/** Draws the past as it was known on a day. */
export function KnownOn({
  value,
  onChange,
  shown: chart,
}: {
  value: string
  onChange: (day: string) => void
  /** The shown data: as of a past moment, or current. */
  shown: { as_of: string | null; times: readonly number[] } | undefined
}) {
  const today = Math.floor(now() / dayMs)
  const chosen = value === '' ? today : Math.floor(Date.parse(value) / dayMs)
  const draft = useSignal<number | undefined>(undefined)
  const shown = draft.value ?? chosen
  const take = (at: number) => {
    draft.value = undefined
    onChange(at >= today ? '' : isoDay(at * dayMs))
  }
  return (
    <div class="known">
      <label for="known">
        As known on <strong>{shown >= today ? 'today' : isoDay(shown * dayMs)}</strong>
      </label>
      <input
        id="known"
        type="range"
        min={today - knownDays}
        max={today}
        value={shown}
        aria-valuetext={shown >= today ? 'today' : isoDay(shown * dayMs)}
        onInput={event => {
          draft.value = event.currentTarget.valueAsNumber
        }}
        onChange={event => take(event.currentTarget.valueAsNumber)}
      />
      <Button className="tight" label="Today" isOff={value === ''} onClick={() => take(today)} />
      {chart?.as_of && (
        <span class="small quiet" role="status">
          {chart.times.length} points, as known at the end of that day, without later corrections.
        </span>
      )}
    </div>
  )
}

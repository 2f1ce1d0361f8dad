import { Button } from '../buttons.tsx'
import { DaySlider } from './day-slider.tsx'

interface KnownOnProps {
  value: string
  onChange: (day: string) => void
  /** The shown data: as of a past moment, or current. */
  shown: { as_of: string | null; times: readonly number[] } | undefined
}

/** Draws the past as it was known on a day. */
export const KnownOn = ({ value, onChange, shown }: KnownOnProps) => (
  <DaySlider id="known" label="As known on" value={value} onChange={onChange}>
    <Button className="tight" label="Today" isOff={value === ''} onClick={() => onChange('')} />
    {shown?.as_of && (
      <span class="small quiet" role="status">
        {shown.times.length} points, as known at the end of that day, without later corrections.
      </span>
    )}
  </DaySlider>
)

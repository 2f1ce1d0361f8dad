import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import { now } from '../requests/boot.ts'

/** So many days back a slider leads. */
export const slideDays = 365

export const today = (): number => Math.floor(now() / dayMs)

interface DaySliderProps {
  id: string
  /** The words before the day. */
  label: string
  /** The chosen day; today where it is empty or not a day, as an address may have it. */
  value: string
  onChange: (day: string) => void
  children: ComponentChildren
}

/** Chooses a day of the past year; the new one is shown while the slider moves. */
export function DaySlider({ id, label, value, onChange, children }: DaySliderProps) {
  const draft = useSignal<number | undefined>(undefined)
  // A slider that is moved and brought back has no change to end its draft.
  useEffect(() => {
    draft.value = undefined
  }, [value])
  const last = today()
  const shown = draft.value ?? (Math.floor(Date.parse(value) / dayMs) || last)
  const text = shown >= last ? 'today' : isoDay(shown * dayMs)
  return (
    <div class="known">
      <label for={id}>
        {label} <strong>{text}</strong>
      </label>
      <input
        id={id}
        type="range"
        min={last - slideDays}
        max={last}
        value={shown}
        aria-valuetext={text}
        onInput={event => {
          draft.value = event.currentTarget.valueAsNumber
        }}
        onChange={event => {
          const day = event.currentTarget.valueAsNumber
          onChange(day >= last ? '' : isoDay(day * dayMs))
        }}
      />
      {children}
    </div>
  )
}

import { number } from '../text/format.ts'

interface RangeBarProps {
  /** The name of the range; without it, only the position is shown. */
  label?: string
  low: number
  high: number
  value: number
  decimals?: number | undefined
}

/** Where a value lies between a lowest and a highest one. */
export function RangeBar({ label, low, high, value, decimals }: RangeBarProps) {
  const share = high > low ? Math.min(1, Math.max(0, (value - low) / (high - low))) : 0.5
  const text = `${number(Math.round(100 * share))}% of ${number(low, decimals)} to ${number(high, decimals)}`
  return (
    <div class="range" role="img" aria-label={`${label ?? 'Range'}: ${text}`} title={text}>
      {label && <span class="quiet small">{label}</span>}
      <span class="track">
        <i style={{ left: `${100 * share}%` }} />
      </span>
      {label && (
        <span class="ends small">
          <span>{number(low, decimals)}</span>
          <span>{number(high, decimals)}</span>
        </span>
      )}
    </div>
  )
}

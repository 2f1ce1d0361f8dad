import { now } from '../../../parts/requests/boot.ts'
import { number } from '../../../parts/text/format.ts'
import type { Period } from './days.ts'

export const priceText = (price: number | null | undefined): string =>
  price === null || price === undefined ? '–' : number(price, 2)

export const timeIn = (iso: string, zone: string): string =>
  new Date(iso).toLocaleTimeString('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' })

const [width, height, inset] = [960, 220, 24]

/** Each price over its period, as steps, with a line at the present moment. */
export function Steps({
  periods,
  zone,
  decimals = 2,
}: {
  periods: readonly Period[]
  zone: string
  decimals?: number
}) {
  const known = periods.flatMap(({ price }) => price ?? [])
  const [first, last] = [periods[0], periods.at(-1)]
  if (!first || !last || known.length === 0) return null
  const [from, to] = [Date.parse(first.start), Date.parse(last.end)]
  const [low, high] = [Math.min(0, ...known), Math.max(0, ...known)]
  const x = (ms: number) => (((ms - from) / (to - from)) * width).toFixed(1)
  const y = (price: number) =>
    (inset + (1 - (price - low) / (high - low || 1)) * (height - 2 * inset)).toFixed(1)
  const path = periods
    .map(({ start, end, price }, i) =>
      price === null
        ? ''
        : `${i === 0 || periods[i - 1]!.price === null ? 'M' : 'L'}${x(Date.parse(start))} ${y(price)}H${x(Date.parse(end))}`,
    )
    .join('')
  const midnights = periods.filter(({ start }) => timeIn(start, zone) === '00:00')
  return (
    <figure class="steps-chart">
      <figcaption class="only-heard">
        {periods.length} periods, lowest {number(Math.min(...known), decimals)}, highest{' '}
        {number(Math.max(...known), decimals)}
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <line class="zero" x1="0" x2={width} y1={y(0)} y2={y(0)} />
        {midnights.map(({ start }) => (
          <line
            key={start}
            class="zero"
            x1={x(Date.parse(start))}
            x2={x(Date.parse(start))}
            y1="0"
            y2={height}
          />
        ))}
        <path d={path} vector-effect="non-scaling-stroke" />
        {now() >= from && now() < to && (
          <line class="now-line" x1={x(now())} x2={x(now())} y1="0" y2={height} />
        )}
      </svg>
      <div class="row spread small quiet">
        <span>
          {new Date(first.start).toLocaleDateString('sv-SE', { timeZone: zone })}{' '}
          {timeIn(first.start, zone)}
        </span>
        <span>
          {number(Math.min(...known), decimals)} to {number(Math.max(...known), decimals)}, {zone}
        </span>
        <span>{timeIn(last.end, zone)}</span>
      </div>
    </figure>
  )
}

import { number } from '../../../parts/text/format.ts'
import outlines from './states.json'

/** A place in degrees, with its label. */
export interface Place {
  id: string
  latitude: number
  longitude: number
  title: string
}

const radians = Math.PI / 180
const [first, second, midLatitude, midLongitude] = [29.5, 45.5, 38, -96].map(
  degrees => degrees * radians,
) as [number, number, number, number]
const n = (Math.sin(first) + Math.sin(second)) / 2
const c = Math.cos(first) ** 2 + 2 * n * Math.sin(first)
const rho0 = Math.sqrt(c - 2 * n * Math.sin(midLatitude)) / n

/** Albers' equal-area conic for the states between the oceans, in units of the picture. */
export function projected(longitude: number, latitude: number): [number, number] {
  const rho = Math.sqrt(c - 2 * n * Math.sin(latitude * radians)) / n
  const theta = n * (longitude * radians - midLongitude)
  return [480 + 1200 * rho * Math.sin(theta), 300 - 1200 * (rho0 - rho * Math.cos(theta))]
}

/** The outlines of a state as a path; its rings are lists of hundredths of a degree. */
const pathOf = (rings: readonly string[]): string =>
  rings
    .map(ring =>
      ring
        .split(',')
        .map((point, i) => {
          const [x = 0, y = 0] = point.split(' ').map(Number)
          const [left, top] = projected(x / 100, y / 100)
          return `${i === 0 ? 'M' : 'L'}${left.toFixed(1)} ${top.toFixed(1)}`
        })
        .join(''),
    )
    .join('')

const shapes = Object.entries(outlines).map(([code, rings]) => ({ code, path: pathOf(rings) }))

interface UsMapProps {
  title: string
  places: readonly Place[]
  /** How much each state has, to tint it. */
  counts: ReadonlyMap<string, number>
  chosen: string
  onState: (code: string) => void
}

/** The states between the oceans, from outlines in the binary. */
export function UsMap({ title, places, counts, chosen, onState }: UsMapProps) {
  const most = Math.max(1, ...counts.values())
  return (
    <svg class="map" viewBox="0 0 960 600" role="img" aria-label={title}>
      {shapes.map(({ code, path }) => {
        const count = counts.get(code) ?? 0
        const share = count === 0 ? 0 : 10 + Math.round(45 * Math.sqrt(count / most))
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the list next to it works by keyboard
          <path
            key={code}
            d={path}
            class={code === chosen ? 'chosen' : ''}
            style={{ fill: `color-mix(in srgb, var(--ink-1) ${share}%, var(--sunken))` }}
            onClick={() => onState(code === chosen ? '' : code)}
          >
            <title>{`${code}: ${number(count)}`}</title>
          </path>
        )
      })}
      {places.map(place => {
        const [x, y] = projected(place.longitude, place.latitude)
        return (
          <circle key={place.id} cx={x.toFixed(1)} cy={y.toFixed(1)} r="4">
            <title>{place.title}</title>
          </circle>
        )
      })}
    </svg>
  )
}

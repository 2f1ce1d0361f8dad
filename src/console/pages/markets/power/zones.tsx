import type { DeliveryDays } from '../../../../topics/delivery/operations/delivery.ts'
import { tint } from '../../../parts/charts/tint.ts'
import { useLoaded } from '../../../parts/requests/ask.ts'
import type { Code } from '../../../parts/requests/codes.ts'
import { numeric, seriesLink } from '../../../parts/tables/columns.tsx'
import { Table } from '../../../parts/tables/table.tsx'
import { number, signed, unitOf } from '../../../parts/text/format.ts'
import { type DayFigures, daysAround, type TwoDays } from './days.ts'
import { priceText } from './steps.tsx'
import { zoneOf } from './supply.tsx'

interface Zone extends TwoDays<DayFigures>, Pick<DeliveryDays, 'currency' | 'unit'> {
  code: Code
}

/** Compares the zones: the price of a day in each. */
export function Zones({
  codes: listed,
  chosen,
  onChoose,
}: {
  codes: readonly Code[]
  chosen: Code
  onChoose(code: string): void
}) {
  const answer = useLoaded(`zones ${listed.length}`, signal =>
    Promise.all(
      listed.map(
        async (code): Promise<Zone> => ({ code, ...(await daysAround(code.code, signal)) }),
      ),
    ),
  )
  const figure = (name: string, pick: (zone: Zone) => number | null | undefined) =>
    numeric(name, pick, { show: (zone: Zone) => priceText(pick(zone)) })
  return (
    <>
      <ZoneMap zones={answer.data ?? []} chosen={chosen} onChoose={onChoose} />
      <Table
        caption="Zones"
        of={answer}
        rows={answer.data?.filter(({ today, tomorrow }) => today || tomorrow)}
        empty="No series has prices for today or tomorrow."
        keyOf={({ code }) => code.code}
        columns={({ column }) => [
          column('Series', ({ code }) => code.name, {
            show: ({ code }) => seriesLink(code.code, code.name),
          }),
          figure('Base today', ({ today }) => today?.base),
          figure('Peak today', ({ today }) => today?.peak),
          { ...figure('Lowest', ({ today }) => today?.min), isWide: true },
          { ...figure('Highest', ({ today }) => today?.max), isWide: true },
          figure('Base tomorrow', ({ tomorrow }) => tomorrow?.base),
          column('Unit', ({ currency, unit }) => unitOf(currency, unit), {
            isWide: true,
            className: 'quiet',
          }),
        ]}
      />
    </>
  )
}

/** Where zones lie to each other. */
const map = `
  ·     ·  ·        NO4   SE1 FI  ·
  ·     ·  ·        NO3   SE2 ·   EE
  ·     ·  NO5      NO1   SE3 ·   LV
  ·     ·  NO2      DK1   DK2 SE4 LT
  HH_GB BE NL       DE_LU ·   PL  ·
  ·     FR CH       AT    CZ  SK  ·
  PT    ES IT_NORTH SI    HU  RO  ·
  ·     ·  ·        HR    ·   BG  GR
`

const places: ReadonlyMap<string, readonly [column: number, row: number]> = new Map(
  map
    .trim()
    .split('\n')
    .flatMap((line, row) =>
      line
        .trim()
        .split(/ +/)
        .map((name, column) => [name, [column + 1, row + 1]] as const),
    ),
)

interface Tile {
  zone: Zone
  name: string
  place: readonly [number, number]
  spread: number
}

/** What the base of a day is above or below that of the chosen zone, each zone in its place. */
function ZoneMap({
  zones,
  chosen,
  onChoose,
}: {
  zones: readonly Zone[]
  chosen: Code
  onChoose(code: string): void
}) {
  const own = zones.find(({ code }) => code.code === chosen.code)
  const isTomorrow = own?.tomorrow !== undefined
  const baseOf = ({ today, tomorrow }: Zone) => (isTomorrow ? tomorrow : today)?.base ?? null
  const base = own ? baseOf(own) : null
  if (!own || base === null) return null
  const tiles = zones.flatMap((zone): Tile[] => {
    const name = zoneOf(zone.code.code)
    const place = name === undefined ? undefined : places.get(name)
    const other = baseOf(zone)
    const isLike = zone.currency === own.currency && zone.unit === own.unit
    return name === undefined || !place || other === null || !isLike
      ? []
      : [{ zone, name, place, spread: other - base }]
  })
  if (tiles.length < 3 || !tiles.some(({ zone }) => zone === own)) return null
  const widest = Math.max(1, ...tiles.map(({ spread }) => Math.abs(spread)))
  const { date } = (isTomorrow ? own.tomorrow : own.today)!
  return (
    <section class="card" aria-labelledby="spreads">
      <h2 id="spreads">Spread to {zoneName(chosen)}</h2>
      <p class="quiet">
        Base price of {date} minus {number(base, 2)} {unitOf(own.currency, own.unit)}. Choose
        another zone to compare with it.
      </p>
      <ul class="zone-map">
        {tiles.map(({ zone, name, place: [column, row], spread }) => (
          <li key={name} style={{ gridColumn: column, gridRow: row }}>
            <button
              type="button"
              aria-pressed={zone === own}
              title={zoneName(zone.code)}
              style={tint(-spread / widest, 45)}
              onClick={() => onChoose(zone.code.code)}
            >
              <b>{name.replace('HH_', '').replace('_', ' ')}</b>
              <span>{zone === own ? number(base, 1) : signed(spread, 1)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

const zoneName = ({ name }: Code): string => name.replace(/^(Day-Ahead|Half-Hourly) Power /, '')

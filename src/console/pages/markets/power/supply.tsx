import { useLoaded } from '../../../parts/requests/ask.ts'
import { now } from '../../../parts/requests/boot.ts'
import { type Code, codes } from '../../../parts/requests/codes.ts'
import { number, words } from '../../../parts/text/format.ts'
import { type Period, twoDays } from './days.ts'
import { Steps } from './steps.tsx'

/** The zone in the name of a code of power prices: `DE_LU`. */
export const zoneOf = (code: string): string | undefined =>
  /^POWER_(?:DA_)?(\w+)_[A-Z]{3}$/.exec(code)?.[1]

/** The balancing areas of the load, by the market in the name of a hub. */
const areas: Readonly<Record<string, string>> = {
  CAISO: 'CISO',
  ERCOT: 'ERCO',
  ISONE: 'ISNE',
  MISO: 'MISO',
  NYISO: 'NYIS',
  PJM: 'PJM',
  SPP: 'SWPP',
}

/** The zone in the names of the codes of load, wind and solar that belong to a price. */
const supplyZoneOf = (code: string): string =>
  areas[/^POWER_([A-Z]+)_\w+_HUB_USD$/.exec(code)?.[1] ?? ''] ?? zoneOf(code) ?? ''

const kinds = ['LOAD', 'WIND', 'SOLAR'] as const

interface Series {
  kind: (typeof kinds)[number]
  zone: string
  periods: Period[]
}

/** Joins measured values and the forecast of periods without one. */
async function seriesOf(
  kind: (typeof kinds)[number],
  zone: string,
  signal: AbortSignal,
): Promise<Series[]> {
  const listed = [`${kind}_${zone}_MW`, `${kind}_${zone}_FORECAST_MW`].filter(code =>
    codes.value.some(each => each.code === code),
  )
  const both = await Promise.all(listed.map(code => twoDays(code, signal)))
  const known = both.flatMap(({ today, tomorrow }) => [today, tomorrow].flatMap(day => day ?? []))
  const periods = new Map<string, Period>()
  for (const { periods: own } of known)
    for (const period of own)
      if ((periods.get(period.start)?.price ?? null) === null) periods.set(period.start, period)
  const inOrder = [...periods.values()].sort((a, b) => (a.start < b.start ? -1 : 1))
  return inOrder.length === 0 ? [] : [{ kind, zone: known[0]!.zone, periods: inOrder }]
}

/** Load, wind and solar of the zone whose prices are shown, where they are recorded. */
export function Supply({ code }: { code: Code }) {
  const zone = supplyZoneOf(code.code)
  const answer = useLoaded(`supply ${code.code}`, async signal =>
    (await Promise.all(kinds.map(kind => seriesOf(kind, zone, signal)))).flat(),
  )
  if (!answer.data || answer.data.length === 0) return null
  return (
    <section class="card" aria-labelledby="supply">
      <h2 id="supply">Load, wind and solar, MW</h2>
      <p class="quiet">Measured values, and the forecast for later periods.</p>
      <div class="columns">
        {answer.data.map(({ kind, zone: clock, periods }) => (
          <div key={kind}>
            <h3>
              {words(kind.toLowerCase())} {number(presentOf(periods), 0)}
            </h3>
            <Steps
              title={words(kind.toLowerCase())}
              label="MW"
              periods={periods}
              zone={clock}
              height={180}
              decimals={0}
            />
          </div>
        ))}
      </div>
    </section>
  )
}

/** The value of the present period, or the last one before it. */
const presentOf = (periods: readonly Period[]): number =>
  periods.findLast(({ start, price }) => price !== null && Date.parse(start) <= now())?.price ??
  periods.find(({ price }) => price !== null)?.price ??
  0

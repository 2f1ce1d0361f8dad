import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import { dataOf, Refusal, useLoaded } from '../../parts/ask.ts'
import { Choice, Empty, Figure, Refused, Shown, Waiting, Wide } from '../../parts/bits.tsx'
import { now } from '../../parts/boot.ts'
import { areCodesHere, type Code, codes, wantCodes } from '../../parts/codes.ts'
import { boundChoice } from '../../parts/form.ts'
import { number, unitOf } from '../../parts/format.ts'
import { Table } from '../../parts/table.tsx'

interface Period {
  start: string
  end: string
  price: number | null
}

interface Day {
  code: string
  name: string
  currency: string | null
  unit: string
  date: string
  zone: string
  resolution: string
  complete: boolean
  base: number | null
  peak: number | null
  off_peak: number | null
  negative_periods: number
  min: Period | null
  max: Period | null
  periods: Period[]
}

const daysShown = 14
/** The largest of the coupled markets, where it is listed. */
const firstCode = 'POWER_DA_DE_LU_EUR'
const after = (date: string, days: number): string => isoDay(Date.parse(date) + days * dayMs)

/** A day of delivery; undefined where it has too few prices yet. */
const dayOf = (code: string, query: string, signal: AbortSignal): Promise<Day | undefined> =>
  dataOf<Day>(`/v1/delivery/${code}${query}`, { signal }).catch(error => {
    if (error instanceof Refusal && error.status === 404) return undefined
    throw error
  })

interface TwoDays<D> {
  today: D | undefined
  tomorrow: D | undefined
}

/** Figures of a day that has prices. */
interface DayFigures {
  date: string
  start: string
  end: string
  base: number | null
  peak: number | null
  min: number | null
  max: number | null
}

interface Days {
  currency: string | null
  unit: string
  days: DayFigures[]
}

/** The days of a range that have prices: others need no request. */
const daysOf = (code: string, start: string, end: string, signal: AbortSignal): Promise<Days> =>
  dataOf<Days>(`/v1/delivery/${code}/days?start=${start}&end=${end}`, { signal })

/** The days around now: a market may be a day ahead of UTC or behind it. */
async function daysAround(code: string, signal: AbortSignal) {
  const date = isoDay(now())
  const { days, currency, unit } = await daysOf(code, after(date, -1), after(date, 2), signal)
  const today = days.find(({ start, end }) => Date.parse(start) <= now() && now() < Date.parse(end))
  return { currency, unit, today, tomorrow: days.find(({ start }) => Date.parse(start) > now()) }
}

async function twoDays(code: string, signal: AbortSignal): Promise<TwoDays<Day>> {
  const { today, tomorrow } = await daysAround(code, signal)
  const whole = async (day: DayFigures | undefined) =>
    day && (await dayOf(code, `?date=${day.date}`, signal))
  return { today: await whole(today), tomorrow: await whole(tomorrow) }
}

/** Power and gas by delivery period: today and tomorrow, two weeks, zones and the cheapest hours. */
export function Power() {
  const chosen = useSignal('')
  useEffect(wantCodes, [])
  const listed = codes.value.filter(({ isDelivery }) => isDelivery)
  const code =
    listed.find(each => each.code === chosen.value) ??
    listed.find(each => each.code === firstCode) ??
    listed.find(each => each.category === 'power') ??
    listed[0]
  if (!areCodesHere.value) return <Waiting what="series" />
  if (!code)
    return (
      <section class="card">
        <Empty>
          <p>No series by delivery period yet.</p>
          <p>
            <a href="/docs/delivery-periods">Record day-ahead power or gas</a>
          </p>
        </Empty>
      </section>
    )
  return (
    <>
      <div class="row">
        <label>
          Series
          <select
            value={code.code}
            onChange={event => {
              chosen.value = event.currentTarget.value
            }}
          >
            {listed.map(each => (
              <option key={each.code} value={each.code}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Delivered key={code.code} code={code} />
      <Zones codes={listed} />
    </>
  )
}

function Delivered({ code }: { code: Code }) {
  const answer = useLoaded(`delivery ${code.code}`, signal => twoDays(code.code, signal))
  return (
    <Shown of={answer} what={code.name}>
      {({ today, tomorrow }) => {
        const last = tomorrow ?? today
        if (!last)
          return (
            <section class="card">
              <Empty>{code.name} has no prices of today or tomorrow.</Empty>
            </section>
          )
        const periods = [...(today?.periods ?? []), ...(tomorrow?.periods ?? [])]
        const price = periods.find(
          ({ start, end }) => Date.parse(start) <= now() && now() < Date.parse(end),
        )?.price
        return (
          <>
            <section class="card" aria-labelledby="steps">
              <h2 id="steps">
                {code.name}, {unitOf(last.currency, last.unit)}
              </h2>
              <div class="figures">
                <Figure label="Now">{priceText(price)}</Figure>
                {[today, tomorrow].map(
                  day =>
                    day && (
                      <Figure key={day.date} label={`Base, ${day.date}`}>
                        {priceText(day.base)}
                      </Figure>
                    ),
                )}
                <Figure label="Peak">{priceText(last.peak)}</Figure>
                <Figure label="Negative periods">{number(last.negative_periods)}</Figure>
              </div>
              <Steps periods={periods} zone={last.zone} />
              {!tomorrow && <p class="quiet">Tomorrow is not published yet.</p>}
            </section>
            {last.resolution !== 'P1D' && (
              <>
                <Cheapest key={last.date} day={last} />
                <Heat code={code.code} newest={last.date} />
              </>
            )}
          </>
        )
      }}
    </Shown>
  )
}

const priceText = (price: number | null | undefined): string =>
  price === null || price === undefined ? '–' : number(price, 2)

const timeIn = (iso: string, zone: string): string =>
  new Date(iso).toLocaleTimeString('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' })

const [width, height, inset] = [960, 220, 24]

/** Each price over its period, as steps, with a line at the present moment. */
function Steps({ periods, zone }: { periods: readonly Period[]; zone: string }) {
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
        {periods.length} periods, lowest {number(Math.min(...known), 2)}, highest{' '}
        {number(Math.max(...known), 2)}
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
          {number(Math.min(...known), 2)} to {number(Math.max(...known), 2)}, {zone}
        </span>
        <span>{timeIn(last.end, zone)}</span>
      </div>
    </figure>
  )
}

const lengths = ['1', '2', '3', '4', '6', '8'] as const

interface Window {
  start: string
  end: string
  average: number
}

/** When power is cheapest, for a device that runs so long. */
function Cheapest({ day }: { day: Day }) {
  const hours = useSignal<(typeof lengths)[number]>('3')
  const path = `/v1/delivery/${day.code}/cheapest?date=${day.date}&hours=${hours.value}`
  const answer = useLoaded(path, signal => dataOf<Window>(path, { signal }))
  return (
    <section class="card" aria-labelledby="cheapest">
      <header>
        <h2 id="cheapest">Cheapest hours of {day.date}</h2>
        <Choice
          label="Hours"
          options={lengths.map(value => ({ value, text: `${value} h` }))}
          {...boundChoice(hours)}
        />
      </header>
      {answer.refusal && <Refused error={answer.refusal} />}
      {answer.data && (
        <p>
          <b class="now">
            {timeIn(answer.data.start, day.zone)} to {timeIn(answer.data.end, day.zone)}
          </b>{' '}
          at {number(answer.data.average, 2)} {unitOf(day.currency, day.unit)} on average, against{' '}
          {priceText(day.base)} of the whole day.
        </p>
      )}
    </section>
  )
}

/** Two weeks, hour by hour: each price tinted by its place between the lowest and the highest. */
function Heat({ code, newest }: { code: string; newest: string }) {
  const answer = useLoaded(`heat ${code} ${newest}`, async signal => {
    const { days } = await daysOf(code, after(newest, 1 - daysShown), newest, signal)
    const hourly = await Promise.all(
      days.reverse().map(({ date }) => dayOf(code, `?date=${date}&resolution=PT1H`, signal)),
    )
    return hourly.filter(day => day !== undefined)
  })
  const days = answer.data ?? []
  const prices = days.flatMap(({ periods }) => periods.flatMap(({ price }) => price ?? []))
  if (answer.refusal) return <Refused error={answer.refusal} />
  if (prices.length === 0) return null
  const [low, high] = [Math.min(...prices), Math.max(...prices)]
  const hours = Math.max(...days.map(({ periods }) => periods.length))
  return (
    <section class="card" aria-labelledby="heat">
      <h2 id="heat">Hour by day</h2>
      <Wide label="Hour by day: rows">
        <table class="heat">
          <caption class="only-heard">Price of each hour of each day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {Array.from({ length: hours }, (_, hour) => (
                <th scope="col" class="number" key={String(hour)}>
                  {hour + 1}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map(({ date, periods }) => (
              <tr key={date}>
                <th scope="row">{date.slice(5)}</th>
                {periods.map(({ start, price }) => (
                  <td
                    key={start}
                    class="number"
                    style={
                      price === null
                        ? {}
                        : {
                            background: `color-mix(in srgb, var(--down) ${Math.round((40 * (price - low)) / (high - low || 1))}%, transparent)`,
                          }
                    }
                  >
                    {price === null ? '–' : number(price, 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  )
}

interface Zone extends TwoDays<DayFigures>, Pick<Days, 'currency' | 'unit'> {
  code: Code
}

/** Compares the zones: the price of a day in each. */
function Zones({ codes: listed }: { codes: readonly Code[] }) {
  const answer = useLoaded(`zones ${listed.length}`, signal =>
    Promise.all(
      listed.map(
        async (code): Promise<Zone> => ({ code, ...(await daysAround(code.code, signal)) }),
      ),
    ),
  )
  const figure = (name: string, pick: (zone: Zone) => number | null | undefined) => ({
    name,
    isNumber: true,
    value: pick,
    show: (zone: Zone) => priceText(pick(zone)),
  })
  return (
    <Table
      caption="Zones"
      file="zones"
      of={answer}
      rows={answer.data?.filter(({ today, tomorrow }) => today || tomorrow)}
      keyOf={({ code }) => code.code}
      empty="No series has prices of today or tomorrow."
      columns={[
        {
          name: 'Series',
          value: ({ code }) => code.name,
          show: ({ code }) => <a href={`/series/${code.code}`}>{code.name}</a>,
        },
        figure('Base today', ({ today }) => today?.base),
        figure('Peak today', ({ today }) => today?.peak),
        { ...figure('Lowest', ({ today }) => today?.min), isWide: true },
        { ...figure('Highest', ({ today }) => today?.max), isWide: true },
        figure('Base tomorrow', ({ tomorrow }) => tomorrow?.base),
        {
          name: 'Unit',
          isWide: true,
          className: 'quiet',
          value: ({ currency, unit }) => unitOf(currency, unit),
        },
      ]}
    />
  )
}

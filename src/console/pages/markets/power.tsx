import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { CheapestTime } from '../../../topics/delivery/operations/cheapest.ts'
import type { DeliveryDay } from '../../../topics/delivery/operations/delivery.ts'
import { Below, Empty, Figure, Refused, Shown, Waiting } from '../../parts/bits.tsx'
import { tint } from '../../parts/charts/tint.ts'
import { Choice, Select } from '../../parts/fields.tsx'
import { useData, useLoaded } from '../../parts/requests/ask.ts'
import { now } from '../../parts/requests/boot.ts'
import {
  areCodesHere,
  type Code,
  codes,
  codesRefusal,
  wantCodes,
} from '../../parts/requests/codes.ts'
import { Heat } from '../../parts/tables/heat.tsx'
import { bound, takes } from '../../parts/text/form.ts'
import { number, unitOf } from '../../parts/text/format.ts'
import { gasStocks, StocksNow } from '../market/stocks.tsx'
import { after, dayOf, daysOf, twoDays } from './power/days.ts'
import { priceText, Steps, timeIn } from './power/steps.tsx'
import { Supply } from './power/supply.tsx'
import { Zones } from './power/zones.tsx'

const daysShown = 14
/** The largest of the coupled markets, where it is listed. */
const firstCode = 'POWER_DA_DE_LU_EUR'
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
  if (codesRefusal.value) return <Refused error={codesRefusal.value} />
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
        <Select
          label="Series"
          of={listed.map(each => ({ value: each.code, text: each.name }))}
          {...bound(chosen)}
          value={code.code}
        />
      </div>
      <div class="delivered">
        <Delivered key={code.code} code={code} />
      </div>
      <Supply key={`supply ${code.code}`} code={code} />
      <Below>
        <Zones
          codes={listed.filter(({ category }) => category !== 'supply_demand')}
          chosen={code}
          onChoose={takes(chosen)}
        />
        <StocksNow caption="EU gas storage vs 5 years, %" file="gas-storage" stocks={gasStocks} />
      </Below>
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
              <Empty>{code.name} has no prices for today or tomorrow.</Empty>
            </section>
          )
        const unit = unitOf(last.currency, last.unit)
        const periods = [...(today?.periods ?? []), ...(tomorrow?.periods ?? [])]
        const price = periods.find(
          ({ start, end }) => Date.parse(start) <= now() && now() < Date.parse(end),
        )?.price
        return (
          <>
            <section class="card" aria-labelledby="steps">
              <h2 id="steps">
                {code.name}, {unit}
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
                <Figure label={`Peak, ${last.date}`}>
                  {last.peak === null ? (
                    <span class="small quiet" title="Weekends and holidays have no peak hours">
                      No peak hours
                    </span>
                  ) : (
                    priceText(last.peak)
                  )}
                </Figure>
                <Figure label="Negative periods">{number(last.negative_periods)}</Figure>
              </div>
              <Steps
                title={`${code.name}, ${last.zone} time`}
                label={unit}
                periods={periods}
                zone={last.zone}
                height={260}
                decimals={2}
              />
              {!tomorrow && <p class="quiet">Tomorrow is not published yet.</p>}
            </section>
            {last.resolution !== 'P1D' && (
              <>
                <Cheapest key={last.date} day={last} />
                <Fortnight code={code.code} newest={last.date} />
              </>
            )}
          </>
        )
      }}
    </Shown>
  )
}

const lengths = ['1', '2', '3', '4', '6', '8'].map(value => ({ value, text: `${value} h` }))

/** When power is cheapest, for a device that runs so long. */
function Cheapest({ day }: { day: DeliveryDay }) {
  const hours = useSignal('3')
  const path = `/v1/delivery/${day.code}/cheapest?date=${day.date}&hours=${hours.value}`
  const answer = useData<CheapestTime>(path)
  return (
    <section class="card" aria-labelledby="cheapest">
      <header>
        <h2 id="cheapest">Cheapest hours of {day.date}</h2>
        <Choice label="Hours" options={lengths} of={hours} />
      </header>
      {answer.refusal && <Refused error={answer.refusal} />}
      {answer.data && (
        <p>
          <b class="now">
            {timeIn(answer.data.start, day.zone)} to {timeIn(answer.data.end, day.zone)}
          </b>{' '}
          at {number(answer.data.average, 2)} {unitOf(day.currency, day.unit)} on average, compared
          with {priceText(day.base)} for the whole day.
        </p>
      )}
    </section>
  )
}

/** Two weeks, hour by hour: each price tinted by its place between the lowest and the highest. */
function Fortnight({ code, newest }: { code: string; newest: string }) {
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
      <Heat
        label="Price of each hour of each day"
        corner="Day"
        heads={Array.from({ length: hours }, (_, hour) => String(hour + 1))}
        rows={days.map(({ date, periods }) => ({
          name: date.slice(5),
          cells: periods.map(({ price }) =>
            price === null
              ? { text: '–' }
              : { text: number(price, 0), style: tint((low - price) / (high - low || 1), 40) },
          ),
        }))}
      />
    </section>
  )
}

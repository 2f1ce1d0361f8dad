import { Chart } from '../../../parts/charts/chart.tsx'
import { now } from '../../../parts/requests/boot.ts'
import { number } from '../../../parts/text/format.ts'
import type { Period } from './days.ts'

export const priceText = (price: number | null | undefined): string =>
  price === null || price === undefined ? '–' : number(price, 2)

export const timeIn = (iso: string, zone: string): string =>
  new Date(iso).toLocaleTimeString('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' })

interface StepsProps {
  title: string
  label: string
  periods: readonly Period[]
  zone: string
  decimals?: number
  height?: number
}

const secondsOf = (iso: string): number => Date.parse(iso) / 1000

/** Each price over its period, as steps, with a line at the present moment. */
export function Steps({ label, periods, ...chart }: StepsProps) {
  const last = periods.at(-1)
  const values = periods.map(({ price }) => price)
  if (!last || values.every(price => price === null)) return null
  return (
    <Chart
      {...chart}
      times={[...periods.map(({ start }) => secondsOf(start)), secondsOf(last.end)]}
      lines={[{ label, values: [...values, last.price], ink: '--ink-1', isSteps: true }]}
      levels={values.some(price => price !== null && price < 0) ? zero : none}
      now={now() / 1000}
    />
  )
}

const none = [] as const
/** Prices below zero are paid by the seller. */
const zero = [{ value: 0, label: '' }] as const

import { shortMonthNames } from '../../../lib/time/month-names.ts'
import { lastTradingDay, listedMonths, tradingDate } from '../../futures/math/contracts.ts'
import {
  contractCode,
  type Family,
  families,
  parseContractCode,
} from '../../futures/math/families.ts'
import type { NewContract } from '../store/series.ts'
import type { ContractCalendar } from './resolver.ts'

const familyCodes = new Map(families.map(family => [family.code as string, family]))

/** `Jan 2027` for `2027-01`. A formatter of the runtime takes ten milliseconds to make. */
export function shownMonth(month: string): string {
  const [year, number] = month.split('-')
  return `${shortMonthNames[Number(number) - 1]} ${year}`
}

/** The catalogue row of a contract. */
export const contractOf = (family: Family, month: string): NewContract => ({
  family: family.code,
  code: contractCode(family.code, month),
  name: `${family.name} ${shownMonth(month)}`,
  description: `Contract for ${shownMonth(month)}; trades until ${lastTradingDay(family.code, month)}`,
})

export const contractCalendar: ContractCalendar = {
  front(code, at) {
    const family = familyCodes.get(code)
    return (
      family && contractCode(family.code, listedMonths(family.code, tradingDate(family, at), 1)[0]!)
    )
  },
  listed(code, at) {
    const parsed = parseContractCode(code)
    const months = parsed ? listedMonths(parsed.family.code, tradingDate(parsed.family, at)) : []
    return parsed && months.includes(parsed.month)
      ? contractOf(parsed.family, parsed.month)
      : undefined
  },
}

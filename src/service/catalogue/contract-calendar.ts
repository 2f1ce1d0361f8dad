import { lastTradingDay, listedMonths, tradingDate } from '../../market/futures/contracts.ts'
import {
  contractCode,
  type Family,
  families,
  parseContractCode,
} from '../../market/futures/families.ts'
import type { NewContract } from '../../store/catalogue/series.ts'
import type { ContractCalendar } from './catalogue.ts'

const familyCodes = new Map(families.map(family => [family.code as string, family]))
/** Created at first use: it takes ten milliseconds, and most processes never need it. */
let monthName: Intl.DateTimeFormat | undefined

/** `Jan 2027` for `2027-01`. */
export function shownMonth(month: string): string {
  monthName ??= new Intl.DateTimeFormat('en', { month: 'short', year: 'numeric', timeZone: 'UTC' })
  return monthName.format(Date.parse(`${month}-01`))
}

/** The catalogue row of a contract. */
export const contractOf = (family: Family, month: string): NewContract => ({
  family: family.code,
  code: contractCode(family.code, month),
  name: `${family.name} ${shownMonth(month)}`,
  description: `Contract for ${shownMonth(month)}; trades until ${lastTradingDay(family.code, month)}`,
})

/** The contract calendars as the catalogue asks for them. */
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

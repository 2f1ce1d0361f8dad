import type { Config } from '../config/config.ts'
import { planRows } from '../topics/billing/operations/row.ts'
import { configuredLimits, configuredPlans } from '../topics/keys/service/configured-plans.ts'
import { tableLines } from './table.ts'

const countOf = (count: number | null) => (count === null ? 'unlimited' : String(count))

/** The plans that a server of this configuration offers. */
export function listPlans(config: Config, out: (line: string) => void, json = false): void {
  const rows = planRows(configuredPlans(config, configuredLimits(config)))
  if (json) {
    out(JSON.stringify(rows, null, 2))
    return
  }
  const cells = rows.map(row => [
    row.id,
    row.name,
    countOf(row.request_limit),
    row.request_period,
    row.custom_pricing ? 'by agreement' : (row.price_monthly / 100).toFixed(2),
    row.features.join(','),
  ])
  const headings = ['ID', 'NAME', 'REQUESTS', 'IN A', 'USD A MONTH', 'FEATURES']
  for (const line of tableLines(headings, cells)) out(line)
}

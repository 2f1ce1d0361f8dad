import type { QuarantineRow as Range } from '../../topics/operator/operations/data/quarantine.ts'
import type { Operator } from '../operator.ts'
import { tableLines } from '../table.ts'
import { dataOfAnswer } from './writer.ts'

const line = (range: Range) =>
  `${range.id}\t${range.code}\t${range.from}\t${range.to}\t${range.reason}`

export async function addQuarantine(
  operator: Operator,
  range: Pick<Range, 'code' | 'from' | 'reason'> & { to?: string },
  out: (line: string) => void,
  json = false,
): Promise<void> {
  const added = (await dataOfAnswer(operator, 'POST', '/admin/v1/quarantine', range)) as Range
  out(json ? JSON.stringify(added, null, 2) : line(added))
}

export async function listQuarantine(
  operator: Operator,
  out: (line: string) => void,
  json = false,
): Promise<void> {
  const ranges = (await dataOfAnswer(operator, 'GET', '/admin/v1/quarantine')) as Range[]
  if (json) {
    out(JSON.stringify(ranges, null, 2))
    return
  }
  if (ranges.length === 0) {
    out('No quarantined days.')
    return
  }
  const rows = ranges.map(({ id, code, from, to, reason }) => [String(id), code, from, to, reason])
  for (const each of tableLines(['ID', 'CODE', 'FROM', 'TO', 'REASON'], rows)) out(each)
}

export async function removeQuarantine(
  operator: Operator,
  id: string,
  out: (line: string) => void,
  json = false,
): Promise<void> {
  const path = `/admin/v1/quarantine/${encodeURIComponent(id)}`
  const lifted = (await dataOfAnswer(operator, 'DELETE', path)) as Range
  out(json ? JSON.stringify(lifted, null, 2) : `lifted: ${line(lifted)}`)
}
